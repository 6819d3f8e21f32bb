import { expect, it } from 'vitest'
import { planLeases } from '../../../src/core/queue/plan-leases.ts'
import { planInput } from '../../../src/store/reads/plan-input.ts'
import { atDesk, startAt, verbsAt } from '../../operations/desk.ts'

const desk = atDesk()
const { sched, runs, queues } = verbsAt(() => desk().context)

it('tells who would go, who would not and why, and when to ask again, and changes nothing', async () => {
  await queues.set('default', { maxConcurrent: 2, maxConcurrentPerKey: 1, maxAttempts: 5 })
  const [a, b, c, later, keyed] = (
    await runs.enqueueMany([
      { target: null },
      { target: null },
      { target: null },
      { target: null, notBefore: '2026-01-05T10:00Z' },
      { target: null, concurrencyKey: 'k', priority: 500 },
    ])
  ).map(({ id }) => id)
  const { leases } = await sched.lease('builder')
  const plan = await sched.plan()
  expect(plan).toMatchObject({ now: startAt, queue: 'default', maxConcurrent: 2, inFlight: 1, available: 1 })
  expect(plan.leases.map(({ runId }) => runId)).toEqual([b])
  expect(plan.skipped).toEqual([
    { runId: a, attempts: 0, reason: 'leased' },
    { runId: c, attempts: 0, reason: 'concurrency-ceiling' },
    { runId: later, attempts: 0, reason: 'not-before' },
    { runId: keyed, attempts: 0, reason: 'concurrency-ceiling' },
  ])
  expect(plan.skippedByReason).toEqual([
    { reason: 'leased', count: 1 },
    { reason: 'not-before', count: 1 },
    { reason: 'concurrency-ceiling', count: 2 },
  ])
  expect(plan).toMatchObject({ reclaimable: [], wakeAt: startAt + 300_000, isWhole: true })
  expect(await sched.plan()).toEqual(plan)
  const { leases: next } = await sched.lease('builder', { limit: 5 })
  expect(next.map(({ runId }) => runId)).toEqual([b])
  expect(leases[0]?.runId).toBe(a)
})

it('is the same for the same instant, whenever it is asked for', async () => {
  await runs.enqueueMany([{ target: null }, { target: null, notBefore: '2026-01-05T10:00Z' }])
  await sched.lease('builder')
  const at = { now: '2026-01-05T11:00Z' }
  const first = await sched.plan(at)
  expect(first.reclaimable).toEqual([{ runId: expect.any(String), expiredAt: startAt + 300_000 }])
  expect(first.leases).toHaveLength(1)
  desk().clock.advance(86_400_000)
  expect(await sched.plan(at)).toEqual(first)
})

it('is for a host that says what it can do, and the one that the leases follow', async () => {
  await runs.enqueueMany([
    { target: null },
    { target: { handler: 'report' } },
    { target: { http: { url: 'https://example.org' } } },
  ])
  const forHost = await sched.plan({ kinds: ['http'] })
  expect(forHost.leases).toHaveLength(2)
  expect(forHost.skipped.map(({ reason }) => reason)).toEqual(['no-worker'])
  expect((await sched.plan()).leases).toHaveLength(3)
  const { leases } = await sched.lease('builder', { kinds: ['http'], limit: 9 })
  expect(leases.map(({ runId }) => runId)).toEqual(forHost.leases.map(({ runId }) => runId))
})

it('shows the first hundred of those who would not go, and counts them all', async () => {
  await runs.enqueueMany(Array.from({ length: 300 }, () => ({ target: null })))
  await queues.pause('default')
  const plan = await sched.plan()
  expect(plan.skipped).toHaveLength(100)
  expect(plan.skippedByReason).toEqual([{ reason: 'held-by', count: 300 }])
  expect(plan.isWhole).toBe(true)
})

it('says so when the queue is longer than what was looked at', async () => {
  await runs.enqueueMany(Array.from({ length: 1_000 }, () => ({ target: null })))
  expect((await sched.plan()).isWhole).toBe(false)
})

it('agrees with the pure function over the whole queue', async () => {
  await queues.set('default', { maxConcurrent: 7 })
  await runs.enqueueMany(Array.from({ length: 50 }, (_, index) => ({ target: null, priority: (index * 37) % 11 })))
  const whole = await desk().store.look(planInput, 'default', 100_000)
  const { leases } = planLeases(whole)
  expect((await sched.plan()).leases.map(({ runId }) => runId)).toEqual(leases.map(({ id }) => id))
})

it('tells of each run how many attempts it has used, also of those that would not go', async () => {
  await queues.set('default', { backoffBase: '10m', backoffCap: '1h', maxAttempts: 5 })
  const [tried] = (await runs.enqueueMany([{ target: null }, { target: null }])).map(({ id }) => id)
  const { leases } = await sched.lease('builder')
  await sched.release({ lease: leases[0]?.lease ?? '', failed: true, reason: 'HTTP 503' })
  const before = await sched.plan()
  expect(before.skipped).toEqual([{ runId: tried, attempts: 1, reason: 'backoff' }])
  expect(before.leases).toMatchObject([{ attempts: 0 }])
  const after = await sched.plan({ now: '2026-01-05T11:00Z' })
  expect(after.leases.map(({ runId, attempts }) => [runId, attempts])).toContainEqual([tried, 1])
})
