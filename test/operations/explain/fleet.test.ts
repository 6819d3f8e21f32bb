import { expect, it } from 'vitest'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { onEachTold } from './stage.ts'

onEachTold('workers that work for some queues only', (told) => {
  const explain = (id: string) => told().verbs.runs.explain(id)
  const kinds = ['handler', 'command']

  it('are no takers for a run of another queue, however idle they are', async () => {
    await told().worker({ kinds, queues: ['a', 'c'] })
    const [mine, other] = [await told().enqueue({ queue: 'a' }), await told().enqueue({ queue: 'b' })]
    expect(await explain(mine)).toMatchObject({
      code: 'in-line',
      waiting: { takers: { able: 1, sentence: '1 of 1 live worker has the handler "report" for queue a.' } },
    })
    expect(await explain(other)).toMatchObject({
      code: 'no-worker',
      sentence:
        '1 worker is alive, but none has the handler "report" for queue b: the live worker that has it works only for queues a, c.',
      unblock: [
        {
          what: 'Let the program that has it work for queue b too: call start() without queues.',
          command: null,
        },
      ],
      waiting: { takers: { live: 1, able: 0 } },
    })
    const command = await told().enqueue({ queue: 'b', target: { command: ['true'] } })
    expect((await explain(command)).unblock).toEqual([
      {
        what: 'Start a worker for queue b: one without a list of queues.',
        command: 'belfry up',
        at: null,
      },
    ])
    await told().worker({ kinds: ['handler'] })
    expect((await explain(other)).code).toBe('in-line')
    expect((await explain(command)).code).toBe('no-worker')
  })

  it('that have not what it needs anyway are told by what they have', async () => {
    await told().worker({ kinds: ['http'], queues: ['a'] })
    expect((await explain(await told().enqueue({ queue: 'b' }))).sentence).toBe(
      '1 worker is alive, but none has the handler "report": they have the target kind http.',
    )
  })

  it('do not help when all that work for the queue of a run are busy', async () => {
    const { store } = told().stage
    await told().worker({ kinds, queues: ['a'] })
    const workerId = await told().worker({ kinds }, 1)
    await store.do(setQueue, 'b', { policy: { maxConcurrent: 2 }, actor: { name: 'tester', door: 'test' } })
    await told().enqueue({ queue: 'b' })
    const waits = await told().enqueue({ queue: 'b' })
    await store.lease({ queue: 'b', workerId, claimId: 'c', can: { kinds }, limit: 1 })
    expect(await explain(waits)).toMatchObject({
      code: 'workers-busy',
      sentence:
        'Its queue has a free slot, but the only live worker that has the handler "report" for queue b has all its slots taken.',
    })
  })

  it('are no takers for the schedules of another queue', async () => {
    await told().stage.put({ queue: 'b' })
    await told().worker({ kinds, queues: ['default'] })
    expect(await told().verbs.schedules.explain('report')).toMatchObject({
      workers: { live: 1, able: 0 },
      notes: [expect.stringContaining('works only for queue default. Its runs would wait.')],
    })
    await told().stage.put({ name: 'other' })
    expect((await told().verbs.schedules.explain('other')).workers.able).toBe(1)
  })
})
