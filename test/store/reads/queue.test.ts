import { expect, test } from 'vitest'
import { workAhead } from '../../../src/store/reads/find-queue.ts'
import { onEachDatabase, startAt } from '../scene.ts'

onEachDatabase('look where there is work', (scene) => {
  const queuesFor = async (...only: Parameters<typeof workAhead> extends [unknown, ...infer Rest] ? Rest : never) =>
    (await scene().read((context) => workAhead(context, ...only))).queues

  test('a worker is sent only where something of its own is in line, whoever else has work there', async () => {
    const targets = {
      a: { handler: 'a' },
      b: { handler: 'b' },
      web: { http: { url: 'https://example.org' } },
      host: null,
    }
    for (const [queue, target] of Object.entries(targets)) await scene().enqueue({ queue, target })
    for (const target of Object.values(targets)) await scene().enqueue({ queue: 'mixed', target })
    await scene().setQueue('idle', {})
    await scene().enqueue({ queue: 'paused', target: targets.a })
    await scene().setQueue('paused', { paused: { reason: 'r' } })

    expect(await queuesFor()).toEqual(['a', 'b', 'host', 'mixed', 'web'])
    expect(await queuesFor({ kinds: [], handlers: ['a'] })).toEqual(['a', 'mixed'])
    expect(await queuesFor({ kinds: [], handlers: ['b', 'unknown'] })).toEqual(['b', 'mixed'])
    expect(await queuesFor({ kinds: ['handler'] })).toEqual(['a', 'b', 'mixed'])
    expect(await queuesFor({ kinds: ['http'], host: true })).toEqual(['host', 'mixed', 'web'])
    expect(await queuesFor({ kinds: ['command', 'none'], handlers: ['c', 'a\0'] })).toEqual([])
  })

  test('the last of many lanes of a line is found', async () => {
    for (let index = 0; index < 30; index++) await scene().enqueue({ queue: 'q', target: { handler: `h${index}` } })
    expect(await queuesFor({ kinds: [], handlers: ['h29'] })).toEqual(['q'])
    expect(await queuesFor({ kinds: [], handlers: ['h30'] })).toEqual([])
  })

  test('it is sent once to a queue where the waiting of some run is over, and then knows whose it is', async () => {
    const mine = { kinds: [], handlers: ['mine'] }
    await scene().enqueue({ queue: 'q', target: { handler: 'other' }, notBefore: startAt + 10 })
    const ahead = () => scene().read((context) => workAhead(context, mine))
    expect(await ahead()).toEqual({ now: startAt, queues: [], nextAt: startAt + 10 })
    scene().clock.now = startAt + 10
    expect(await ahead()).toEqual({ now: startAt + 10, queues: ['q'], nextAt: null })
    expect(await scene().lease({ queue: 'q', can: mine })).toEqual([])
    expect(await ahead()).toEqual({ now: startAt + 10, queues: [], nextAt: null })
  })

  test('of another namespace it hears nothing', async () => {
    await scene().enqueue({ queue: 'q', target: { handler: 'a' } })
    const elsewhere = { ...scene().context, ns: scene().context.ns + 1_000_000 }
    await scene().sql(
      'insert into belfry.namespace (id, name, created_at) values ($1, $2, 0)',
      elsewhere.ns,
      `n ${elsewhere.ns}`,
    )
    const can = { kinds: ['handler'] }
    expect(await scene().read(() => workAhead(elsewhere, can))).toEqual({ now: startAt, queues: [], nextAt: null })
  })
})
