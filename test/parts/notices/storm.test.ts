import { expect, test, vi } from 'vitest'
import { openStore } from '../../../src/open-store.ts'
import type { Notice } from '../../../src/parts/notices/notice.ts'
import { listNotices } from '../../../src/parts/notices/read-notices.ts'
import { setNotify } from '../../../src/parts/notices/set-notify.ts'
import type { Lease, Store } from '../../../src/store/port.ts'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { putSchedule } from '../../../src/store/schedules/put-schedule.ts'
import { registerWorker } from '../../../src/store/workers/register-worker.ts'
import { lendSchema, returnSchema } from '../../lent-schema.ts'
import { postgresUrl } from '../../postgres.ts'
import { startAt } from '../../store/scene.ts'

const conflicts = vi.hoisted((): unknown[] => [])

/** Steps that meet are rolled back and done again, so that nobody would see a circle of waits but for the second it takes. */
vi.mock('../../../src/store/postgres/refusal.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../../src/store/postgres/refusal.ts')>()
  const isConflict = (error: unknown) => {
    if (original.codeOf(error) === '40P01') conflicts.push(error)
    return original.isConflict(error)
  }
  return { ...original, isConflict }
})

const actor = { name: 'tester', door: 'test' }
const http = { http: { url: 'https://example.org/' } }
const handlers = { kinds: ['handler'] }
const requests = { kinds: ['http'] }
const queues = ['a', 'b', 'c', 'd', 'e', 'f']
const rounds = 4
const runsPerRound = 24
const runsOfSchedule = 8
const catchUpMs = 40_000
/** Long enough that each of them is told of again. */
const pauseMs = runsOfSchedule * 60_000 - catchUpMs

async function leaseAll(store: Store, queue: string, can: { kinds: string[] }, limit: number): Promise<Lease[]> {
  const workerId = await store.do(registerWorker, { name: 'w', host: 'h', can, beatMs: 60_000 })
  return (await store.lease({ queue, workerId, claimId: `${workerId} ${queue}`, can, limit })).leases
}

/** Ends runs of all queues and schedules in one batch, in an order of its own. */
async function failInBatches(store: Store, batches: readonly (readonly Lease[])[], turn: number): Promise<void> {
  for (const batch of batches) {
    const leases = turn % 2 === 0 ? batch : batch.toReversed()
    await store.settle(
      leases.map(({ runId, fence, scheduleId }) => {
        return { runId, fence, scheduleId, outcome: { kind: 'failed', reason: 'broken', retryable: false } as const }
      }),
    )
  }
}

interface Delivered {
  readonly notices: number
  /** What they say was held back before them. */
  readonly suppressed: number
}

async function deliver(store: Store, isOver: () => boolean): Promise<Delivered> {
  let [notices, suppressed] = [0, 0]
  for (;;) {
    const wasOver = isOver()
    const leases = await leaseAll(store, 'notices', requests, 10)
    await store.settle(leases.map(({ runId, fence }) => ({ runId, fence, outcome: { kind: 'success' } as const })))
    notices += leases.length
    suppressed += leases.reduce((sum, { payload }) => sum + (payload as Notice).suppressed, 0)
    if (wasOver && leases.length === 0) return { notices, suppressed }
  }
}

/** Deals leases out, so that each batch has some of every queue and schedule. */
function dealt(leases: readonly Lease[], hands: number, size: number): Lease[][][] {
  const batches: Lease[][] = []
  for (let from = 0; from < leases.length; from += size) batches.push(leases.slice(from, from + size))
  return Array.from({ length: hands }, (_, hand) => batches.filter((_, index) => index % hands === hand))
}

/** Makes work in every queue and of every schedule, and leases it all, mixed so that every batch has some of each. */
async function workOf(store: Store, time: { now: number }): Promise<Lease[]> {
  const leases: Lease[] = []
  await store.fireDue({ limit: 100 })
  // By then what was missed has had its share of the catch-up.
  time.now += catchUpMs
  for (const queue of queues) {
    await store.enqueue(Array.from({ length: runsPerRound }, () => ({ queue, target: { handler: 'h' } })))
    leases.push(...(await leaseAll(store, queue, handlers, 1_000)))
  }
  const places = leases.map((lease, index) => ({ lease, place: (index * 37) % leases.length }))
  return places.sort((a, b) => a.place - b.place).map(({ lease }) => lease)
}

test('settles that all make notices, of subjects they share, never wait in a circle with those who lease notices', async () => {
  const schema = lendSchema()
  const time = { now: startAt }
  const clock = { now: () => time.now, monotonic: () => time.now }
  const open = () => openStore(postgresUrl(), { schema, clock, allowNonDurable: true, connectionsMax: 8 })
  const [first, second, third, fourth] = [await open(), await open(), await open(), await open()]
  await first.do(setNotify, { onFailure: http }, { actor })
  await first.do(setQueue, 'notices', { policy: { maxConcurrent: 100, rateLimit: null }, actor })
  for (const queue of queues) {
    await first.do(setQueue, queue, { policy: { maxConcurrent: 1_000, onExhausted: 'fail' }, actor })
    const timing = { cron: '* * * * *', zone: 'UTC' }
    const rules = { missed: 'all', overlap: 'allow' } as const
    const spec = { name: `of ${queue}`, timing, queue, ...rules, target: { handler: 'h' } }
    await first.do(putSchedule, spec, { mode: 'put', actor })
  }
  time.now += catchUpMs
  let failed = 0
  let isOver = false
  const delivering = Promise.all([deliver(third, () => isOver), deliver(fourth, () => isOver)])
  for (let round = 0; round < rounds; round++) {
    time.now += pauseMs
    const leases = await workOf(first, time)
    // Those who end runs of schedules wait for each other at the schedules, so the others are apart from them.
    const ofQueues = leases.filter(({ scheduleId }) => scheduleId === null)
    const ofSchedules = leases.filter(({ scheduleId }) => scheduleId !== null)
    const hands = [...dealt(ofQueues, 6, 12), ...dealt(ofSchedules, 2, 12)]
    await Promise.all(hands.map((batches, turn) => failInBatches(turn % 2 === 0 ? first : second, batches, turn)))
    failed += leases.length
  }
  isOver = true
  const [one, other] = await delivering
  const left = (await first.look(listNotices, { limit: 1_000 })).told.reduce(
    (sum, { suppressed }) => sum + suppressed,
    0,
  )
  await Promise.all([first, second, third, fourth].map((store) => store.close()))
  await returnSchema(schema)
  expect(conflicts).toEqual([])
  expect(failed).toBe(rounds * queues.length * (runsPerRound + runsOfSchedule))
  // In each round one is told of each queue and of each schedule, and all others are counted.
  expect(one.notices + other.notices).toBe(rounds * 2 * queues.length)
  expect(one.notices + other.notices + one.suppressed + other.suppressed + left).toBe(failed)
})
