import { expect, it } from 'vitest'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { actor, hour, minute, second, startAt } from '../../store/schedule-stage.ts'
import { onEachTold } from '../explain/stage.ts'

onEachTold('what would get a run on', (told) => {
  const explain = (id: string) => told().verbs.runs.explain(id)

  it('that needs a handler is a program that registers it, and `belfry up` only for what that can execute', async () => {
    const quoted = await explain(await told().enqueue({ target: { handler: `it's \\` } }))
    expect(quoted.unblock[0]?.what).toContain(String.raw`belfry.handle('it\'s \\', …)`)
    const command = await explain(await told().enqueue({ target: { command: ['true'] } }))
    expect(command.unblock).toEqual([{ what: 'Start a worker.', command: 'belfry up', at: null }])
  })

  it('without a target is a target, whether anybody is alive or not', async () => {
    const id = await told().enqueue({ target: null })
    await told().worker()
    const answer = {
      sentence: 'It has no target: outside hosts lease it through a door.',
      unblock: [{ what: expect.stringContaining('Give it a target'), command: null }],
      waiting: { takers: { needs: 'a host for work without a target' } },
    }
    expect(await explain(id)).toMatchObject(answer)
    told().stage.pass(2 * minute + 1)
    expect(await explain(id)).toMatchObject(answer)
  })

  it('whose workers are busy is another of the same kind', async () => {
    const can = { kinds: ['handler', 'command'] }
    const workerId = await told().worker(can, 1)
    await told().enqueue()
    const [handler, command] = [await told().enqueue(), await told().enqueue({ target: { command: ['true'] } })]
    await told().stage.store.lease({ queue: 'default', workerId, claimId: 'c', can, limit: 1 })
    expect((await explain(handler)).unblock[1]).toEqual({
      what: 'Or start another worker that has the handler "report".',
      command: null,
      at: null,
    })
    expect((await explain(command)).unblock[1]?.command).toBe('belfry up')
  })

  it('that is too late says what would let it end where no live worker can execute it', async () => {
    const { stage } = told()
    const [over, bare] = [
      await told().enqueue({ target: { handler: 'rare' }, deadline: startAt + second }),
      await told().enqueue({ target: null, deadline: startAt + second }),
    ]
    stage.pass(second)
    await told().worker({ kinds: ['http'] })
    expect(await explain(over)).toMatchObject({
      code: 'deadline',
      sentence:
        'Its deadline is over, so it does not start; a worker that has the handler "rare" would end it as skipped, and none is alive.',
      unblock: [
        { what: expect.stringContaining(`belfry.handle('rare', …)`) },
        { command: `belfry run cancel ${over}` },
      ],
      next: { what: expect.stringContaining('belfry.handle') },
    })
    expect((await explain(bare)).unblock.map(({ command }) => command)).toEqual([null, `belfry run cancel ${bare}`])
    await told().worker({ kinds: ['handler'] })
    expect((await explain(over)).sentence).toMatch(/; a worker ends it as skipped\.$/)
    await stage.store.do(setQueue, 'default', { paused: { reason: 'a bad deploy.' }, actor })
    expect(await explain(over)).toMatchObject({
      sentence: expect.stringMatching(/; once the hold ends, a worker ends it as skipped\.$/),
      unblock: [{ command: 'belfry queue resume default' }, { command: `belfry run cancel ${over}` }],
    })
    const waits = await told().enqueue()
    expect((await explain(waits)).sentence).toBe('Its queue default is paused: a bad deploy.')
  })

  it('that is too late for its schedule says so before anybody has looked', async () => {
    await told().stage.put({ maxLatenessMs: minute })
    const { runs } = await told().stage.fireAt(startAt + hour)
    told().stage.pass(minute + 1)
    await told().worker()
    const { code, sentence } = await explain(runs[0]?.id ?? '')
    expect([code, sentence]).toEqual([
      'deadline',
      'It is later than its schedule allows, so it does not start; a worker ends it as skipped.',
    ])
  })
})
