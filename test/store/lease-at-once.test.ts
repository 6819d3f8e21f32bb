import { expect, test } from 'vitest'
import { liftHolds } from '../../src/store/holds/lift-hold.ts'
import { putHold } from '../../src/store/holds/put-hold.ts'
import { setQueue } from '../../src/store/queues/set-queue.ts'
import { enqueue } from '../../src/store/runs/enqueue.ts'
import { stop, stopped } from '../holding.ts'
import { actor, onEachDatabase, startAt } from './scene.ts'

const can = { kinds: ['handler'] }

/** Whoever has leased from a queue before knows its policy, and others change it behind his back. */
onEachDatabase('a queue that was leased from before', (scene) => {
  const begin = async (maxConcurrent: number, runs: number) => {
    await scene().setQueue('default', { policy: { maxConcurrent } })
    const ids: string[] = []
    for (let run = 0; run < runs; run++) ids.push(await scene().enqueue({ target: { handler: 'a' } }))
    await scene().lease({ limit: 0, can })
    return ids
  }
  const leased = async (limit = 100) => (await scene().lease({ limit, can })).map(({ runId }) => runId)
  const changeElsewhere = (policy: { maxConcurrent: number }) =>
    scene().write((context) => setQueue({ ...context, policies: new Map() }, 'default', { policy, actor }))

  test('obeys a ceiling that somebody else has lowered meanwhile', async () => {
    const ids = await begin(5, 6)
    expect(await leased(2)).toEqual(ids.slice(0, 2))
    await changeElsewhere({ maxConcurrent: 3 })
    expect(await leased()).toEqual(ids.slice(2, 3))
    await changeElsewhere({ maxConcurrent: 1 })
    expect(await leased()).toEqual([])
  })

  test('gives nothing while it is paused, or while everything is stopped, and goes on afterwards', async () => {
    const ids = await begin(5, 2)
    await scene().setQueue('default', { paused: { reason: 'for a test' } })
    expect(await leased()).toEqual([])
    await scene().setQueue('default', { paused: false })
    await scene().write((context) => putHold(context, stop))
    expect(await leased()).toEqual([])
    await scene().write((context) => liftHolds(context, stopped, { actor: stop.actor }))
    expect(await leased()).toEqual(ids)
  })

  test('counts an expired lease until it is taken back', async () => {
    await begin(1, 2)
    expect(await leased()).toHaveLength(1)
    scene().clock.now += 3_600_000
    expect(await leased()).toEqual([])
  })

  test('ends what comes too late, in the middle of the line too', async () => {
    const [first] = await begin(9, 1)
    await scene().enqueue({ target: { handler: 'a' }, deadline: startAt + 1_000 })
    const last = await scene().enqueue({ target: { handler: 'a' } })
    scene().clock.now += 1_000
    expect(await leased()).toEqual([first, last])
  })

  test('counts the runs of a key that are under way, also for one that nobody has kept from the line', async () => {
    await begin(9, 0)
    const policy = { maxConcurrent: 9, maxConcurrentPerKey: 1 }
    await scene().setQueue('default', { policy })
    const keyed = { target: { handler: 'a' }, concurrencyKey: 'k' }
    const first = await scene().enqueue(keyed)
    expect(await leased()).toEqual([first])
    // In a caller's own transaction no gate is locked, so that it stands in line.
    await scene().write((context) => enqueue({ ...context, isLent: true }, [keyed]))
    expect(await leased()).toEqual([])
  })

  test('keeps the rate and the ceiling of keys that it was given later', async () => {
    await begin(9, 4)
    const policy = { maxConcurrent: 9, rateLimit: { startsMax: 1, perMs: 1_000 } }
    await scene().write((context) => setQueue({ ...context, policies: new Map() }, 'default', { policy, actor }))
    expect(await leased()).toHaveLength(1)
    expect(await leased()).toHaveLength(0)
  })
})
