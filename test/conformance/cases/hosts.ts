import assert from 'node:assert/strict'
import { drainQueue, type HostLeased, leaseToHost } from '../../../src/parts/hosts/lease-to-host.ts'
import type { Store } from '../../../src/store/port.ts'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { findRun } from '../../../src/store/reads/find-run.ts'
import { findSchedule } from '../../../src/store/reads/find-schedule.ts'
import { heldRuns } from '../../../src/store/reads/held-runs.ts'
import { listWorkers } from '../../../src/store/reads/list-workers.ts'
import { queueStats } from '../../../src/store/reads/queue-stats.ts'
import { cancelRun } from '../../../src/store/runs/cancel-run.ts'
import { reprioritiseRun } from '../../../src/store/runs/reprioritise-run.ts'
import { resetRun } from '../../../src/store/runs/reset-run.ts'
import { putSchedule } from '../../../src/store/schedules/put-schedule.ts'
import { actor, type Case, enqueueMany, noop } from '../place.ts'

const can = { kinds: ['handler'], host: true }
let claims = 0

function asked(host: string, limit: number, more: { readonly key?: string } = {}) {
  return { host, queue: 'default', limit, can, claimId: `host claim ${++claims}`, ...more }
}

async function granted(store: Store, host: string, limit: number, more: { readonly key?: string } = {}) {
  const answer = await store.do(leaseToHost, asked(host, limit, more))
  assert.equal(answer.answer, 'leased')
  return answer as HostLeased & { answer: 'leased' }
}

export const hosts: Case[] = [
  {
    name: 'a host is one worker by its name, however often it asks, and takes work without a target too',
    async run(stage) {
      const store = await stage.open()
      await stage.setPolicy(store, { maxConcurrent: 10 })
      await store.enqueue([{ payload: 1 }, noop()])
      const first = await granted(store, 'builder', 1)
      const second = await granted(store, 'builder', 1)
      assert.equal(first.leases[0]?.payload, 1)
      assert.equal(second.leases.length, 1)
      const known = (await store.look(listWorkers)).filter(({ name }) => name === 'builder')
      assert.equal(known.length, 1)
      const held = await store.look(
        heldRuns,
        [...first.leases, ...second.leases].map(({ runId }) => runId),
      )
      assert.deepEqual([...new Set(held.map(({ workerId }) => workerId))], [known[0]?.id])
      assert.equal(held[0]?.leaseTtlMs, 300_000)
    },
  },
  {
    name: 'a request with a key is granted once: whoever repeats it is told the same, also when both come at once',
    async run(stage) {
      const store = await stage.open()
      const other = await stage.open()
      await stage.setPolicy(store, { maxConcurrent: 10 })
      await enqueueMany(store, 8, () => noop())
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, index) =>
          granted(index % 2 === 0 ? store : other, 'builder', 2, { key: 'once' }),
        ),
      )
      const names = answers.map(({ leases }) => leases.map(({ runId, claimId }) => `${runId} ${claimId}`).sort())
      for (const each of names) assert.deepEqual(each, names[0])
      assert.equal(names[0]?.length, 2)
      assert.equal(answers.filter(({ repeated }) => repeated === undefined).length, 1)
      const [row] = await stage.sql('select count(*) as leases from belfry.lease')
      assert.equal(Number(row?.leases), 2)
      assert.deepEqual(await store.do(leaseToHost, asked('builder', 3, { key: 'once' })), { answer: 'other-request' })
      assert.deepEqual(await store.do(leaseToHost, asked('digger', 2, { key: 'once' })), { answer: 'other-request' })
    },
  },
  {
    name: 'a repeated request tells what it was granted also when that has ended, and one that got nothing may ask again',
    async run(stage) {
      const store = await stage.open()
      assert.deepEqual((await granted(store, 'builder', 1, { key: 'k' })).leases, [])
      await enqueueMany(store, 2, () => noop())
      const { leases } = await granted(store, 'builder', 1, { key: 'k' })
      const [lease] = leases
      assert.ok(lease !== undefined, 'a key that was granted nothing is used up')
      await store.settle([{ ...lease, outcome: { kind: 'success' } }])
      const again = await granted(store, 'builder', 1, { key: 'k' })
      assert.deepEqual(again.leases, [])
      assert.deepEqual(again.repeated, [{ runId: lease.runId, fence: lease.fence }])
    },
  },
  {
    name: 'law 3: hosts on separate connections never pass the ceiling, and each run goes to one of them',
    async run(stage) {
      const stores = await Promise.all([stage.open(), stage.open(), stage.open()])
      const [store] = stores
      await stage.setPolicy(store, { maxConcurrent: 3 })
      await enqueueMany(store, 12, () => noop())
      const seen: string[] = []
      for (let round = 0; round < 4; round++) {
        const answers = await Promise.all(stores.map((each, index) => granted(each, `host ${index}`, 3)))
        const leases = answers.flatMap((answer) => answer.leases)
        assert.equal(leases.length, 3)
        seen.push(...leases.map(({ runId }) => runId))
        await store.settle(leases.map((lease) => ({ ...lease, outcome: { kind: 'success' } })))
      }
      assert.equal(new Set(seen).size, 12)
    },
  },
  {
    name: 'a drain hands out the next runs as completed, never past the ceiling and never one in backoff',
    async run(stage) {
      const store = await stage.open()
      await stage.setPolicy(store, { maxConcurrent: 3, backoffBaseMs: 60_000 })
      const ids = await enqueueMany(store, 6, () => noop())
      const [failing, held] = (await granted(store, 'builder', 2)).leases
      assert.ok(failing !== undefined && held !== undefined)
      await store.settle([{ ...failing, outcome: { kind: 'failed', reason: 'once' } }])
      const { leases } = await store.do(drainQueue, asked('script', 5))
      assert.deepEqual(
        leases.map(({ runId }) => runId),
        ids.slice(2, 4),
        'two slots are free, and the one in backoff waits',
      )
      for (const { runId } of leases) assert.equal((await store.look(findRun, runId))?.status, 'completed')
      const [row] = await stage.sql('select count(*) as leases from belfry.lease')
      assert.equal(Number(row?.leases), 1)
      assert.equal((await store.do(drainQueue, asked('script', 5))).leases.length, 2)
    },
  },
  {
    name: 'a drained occurrence ends as any other: its schedule goes on',
    async run(stage) {
      const store = await stage.open()
      const spec = { name: 'often', timing: { everyMs: 60_000 }, target: null }
      await store.do(putSchedule, spec, { mode: 'put', actor })
      stage.clock.advance(60_000)
      await store.fireDue({ limit: 10 })
      const { leases } = await store.do(drainQueue, asked('script', 5))
      assert.equal(leases.length, 1)
      const view = await store.look(findSchedule, 'often')
      assert.equal(view?.nextRunAt, stage.clock.now() + 60_000)
    },
  },
  {
    name: 'a run gets another place wherever it waits, and keeps it when it comes back; one at work or ended keeps its own',
    async run(stage) {
      const store = await stage.open()
      await stage.setPolicy(store, { maxConcurrent: 1, maxConcurrentPerKey: 1, maxAttempts: 9, backoffBaseMs: 1_000 })
      const runs = [noop(), noop({ notBefore: stage.clock.now() + 5_000 }), noop({ concurrencyKey: 'k' })]
      const [plain, later, keyed] = (await store.enqueue(runs)).map(({ id }) => id) as [string, string, string]
      const [other] = (await store.enqueue([noop({ concurrencyKey: 'k' })])).map(({ id }) => id) as [string]
      const options = { actor }
      assert.deepEqual(await store.do(reprioritiseRun, later, 1, options), { answer: 'moved', before: 100 })
      assert.deepEqual(await store.do(reprioritiseRun, other, 2, options), { answer: 'moved', before: 100 })
      assert.deepEqual(await store.do(reprioritiseRun, other, 2, options), { answer: 'unchanged', before: 2 })
      stage.clock.advance(5_000)
      const order: string[] = []
      for (let turn = 0; turn < 4; turn++) {
        const [lease] = (await granted(store, 'builder', 1)).leases
        assert.ok(lease !== undefined)
        order.push(lease.runId)
        assert.deepEqual(await store.do(reprioritiseRun, lease.runId, 3, options), {
          answer: 'not-waiting',
          status: 'leased',
        })
        await store.settle([{ ...lease, outcome: { kind: 'success' } }])
      }
      assert.deepEqual(order, [later, other, plain, keyed])
      assert.deepEqual(await store.do(reprioritiseRun, plain, 3, options), {
        answer: 'not-waiting',
        status: 'completed',
      })
      assert.deepEqual(await store.do(reprioritiseRun, 'r-3zzz', 3, options), { answer: 'not-found' })
    },
  },
  {
    name: 'a parked run that got another place has it after its reset',
    async run(stage) {
      const store = await stage.open()
      await stage.setPolicy(store, { maxConcurrent: 1 })
      const [first, second] = await enqueueMany(store, 2, () => noop())
      const [lease] = (await granted(store, 'builder', 1)).leases
      assert.ok(lease !== undefined)
      const [ended] = await store.settle([{ ...lease, outcome: { kind: 'parked', reason: 'asks for a person' } }])
      assert.equal(ended?.answer === 'written' && ended.status, 'parked')
      assert.deepEqual((await store.look(findRun, first as string))?.parked?.reason, 'asks for a person')
      await store.do(reprioritiseRun, first as string, 500, { actor })
      await store.do(resetRun, first as string)
      const [next] = (await granted(store, 'builder', 1)).leases
      assert.equal(next?.runId, second)
      assert.equal(await store.do(cancelRun, first as string, 'enough'), 'cancelled')
    },
  },
  {
    name: 'expired leases of one queue are taken back without those of others',
    async run(stage) {
      const store = await stage.open()
      for (const queue of ['default', 'mail']) await store.do(setQueue, queue, { policy: { leaseTtlMs: 1_000 }, actor })
      await store.enqueue([noop(), noop({ queue: 'mail' })])
      await granted(store, 'builder', 1)
      await store.do(leaseToHost, { ...asked('builder', 1), queue: 'mail' })
      stage.clock.advance(1_000)
      const [back, ...others] = await store.reclaim({ queue: 'mail', limit: 10 })
      assert.equal(back?.because, 'expired')
      assert.deepEqual(others, [])
      assert.deepEqual(await store.reclaim({ queue: 'nowhere', limit: 10 }), [])
      assert.equal((await store.reclaim({ queue: 'default', limit: 10 })).length, 1)
    },
  },
  {
    name: 'the figures of a queue count what lies in it, by why it does, and what has ended lately',
    async run(stage) {
      const store = await stage.open()
      const policy = { maxConcurrent: 2, maxConcurrentPerKey: 1, backoffBaseMs: 60_000, maxAttempts: 2 }
      await stage.setPolicy(store, policy)
      assert.equal(await store.look(queueStats, 'nowhere'), null)
      const madeAt = stage.clock.now()
      await store.enqueue([noop({ priority: 1 }), noop({ priority: 2 }), noop({ notBefore: madeAt + 1_000 })])
      await store.enqueue([noop({ concurrencyKey: 'k' }), noop({ concurrencyKey: 'k' })])
      const [first, second] = (await granted(store, 'builder', 2)).leases
      assert.ok(first !== undefined && second !== undefined)
      await store.settle([
        { ...first, outcome: { kind: 'success' } },
        { ...second, outcome: { kind: 'failed', reason: 'no use', retryable: false } },
      ])
      stage.clock.advance(10)
      await store.enqueue([noop({ priority: 500 })])
      const stats = await store.look(queueStats, 'default')
      const counted = (count: number) => ({ count, countIsAtLeast: false })
      assert.deepEqual(stats, {
        now: madeAt + 10,
        inFlight: 0,
        inLine: counted(2),
        waiting: counted(1),
        behindKey: counted(1),
        behindRun: counted(0),
        held: counted(0),
        parked: counted(1),
        oldestInLineAt: madeAt,
        oldestInLineIsAtLeast: false,
        ended: { completed: counted(1), failed: counted(0), cancelled: counted(0), skipped: counted(0) },
        parkedByReason: [{ reason: 'no use (not retryable)', count: 1 }],
      })
    },
  },
]
