import assert from 'node:assert/strict'
import { leasesOf } from '../../../src/store/leases/lease.ts'
import type { Lease, Store } from '../../../src/store/port.ts'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { findQueue } from '../../../src/store/reads/find-queue.ts'
import { findRun } from '../../../src/store/reads/find-run.ts'
import { findSchedule, listSchedules } from '../../../src/store/reads/find-schedule.ts'
import { listAttempts } from '../../../src/store/reads/list-attempts.ts'
import { listRuns } from '../../../src/store/reads/list-runs.ts'
import { listWorkers } from '../../../src/store/reads/list-workers.ts'
import { readOutput } from '../../../src/store/reads/read-output.ts'
import { cancelRun } from '../../../src/store/runs/cancel-run.ts'
import { resetRun } from '../../../src/store/runs/reset-run.ts'
import { retryRun } from '../../../src/store/runs/retry-run.ts'
import { deleteSchedule } from '../../../src/store/schedules/delete-schedule.ts'
import { putSchedule } from '../../../src/store/schedules/put-schedule.ts'
import { registerWorker } from '../../../src/store/workers/register-worker.ts'
import { listAudit } from '../../store/list-audit.ts'
import { actor, type Case, cannotShare, noop, type Stage } from '../place.ts'
import { snapshot, succeed } from '../record.ts'

const spec = { name: 's', timing: { everyMs: 3_600_000 }, target: { handler: 'noop' } } as const

export const namespaces: Case[] = [
  {
    name: 'names and keys of one namespace are free in another, and what is there is not seen from here',
    skip: cannotShare,
    async run(stage) {
      const { ours, theirs } = await two(stage)
      const run = noop({ idempotencyKey: 'i', dedupeKey: 'd', concurrencyKey: 'k' })
      const [mine] = await ours.enqueue([run])
      const [other] = await theirs.enqueue([{ ...run, payload: 'another' }])
      assert.deepEqual([mine?.created, other?.created], [true, true])
      await ours.do(setQueue, 'default', { policy: { maxConcurrent: 77 }, paused: { reason: 'ours' }, actor })
      await ours.do(putSchedule, spec, { mode: 'create', actor })
      assert.equal(await theirs.look(findSchedule, 's'), null)
      assert.equal((await theirs.do(putSchedule, { ...spec, payload: 1 }, { mode: 'create', actor })).answer, 'created')
      assert.equal(await theirs.do(deleteSchedule, 's'), 'deleted')
      assert.equal((await ours.look(findSchedule, 's'))?.deletedAt, null)

      const queue = await theirs.look(findQueue, 'default')
      assert.deepEqual([queue?.policy?.maxConcurrent, queue?.paused], [5, null])
      assert.equal(await theirs.look(findRun, mine?.id as string), null)
      assert.deepEqual(
        (await theirs.look(listRuns, { limit: 10 })).runs.map(({ id }) => id),
        [other?.id],
      )
      assert.deepEqual(await theirs.look(listSchedules), [])
      await ours.do(registerWorker, { name: 'w', host: 'h', can: { kinds: [] }, beatMs: 1_000 })
      assert.deepEqual(await theirs.look(listWorkers), [])
      assert.deepEqual(await theirs.look(listAudit, 'schedule s').then((rows) => rows.length), 1)
    },
  },
  {
    name: 'nothing that is named by its id is touched from another namespace: runs, leases, outputs, claims, workers',
    skip: cannotShare,
    async run(stage) {
      const { ours, theirs } = await two(stage)
      const { lease, workerId } = await stage.lessor(ours)
      await ours.enqueue([noop(), noop(), noop()])
      const [held, ended] = (await lease(2)) as [Lease, Lease]
      await succeed(ours, [ended])
      const waiting = (await ours.look(listRuns, { limit: 1, status: 'ready' })).runs[0]?.id as string
      await ours.appendOutput(held, 'ours')
      const before = await snapshot(stage)

      for (const id of [held.runId, waiting, ended.runId]) {
        assert.equal(await theirs.do(cancelRun, id, 'not yours'), 'not-found')
        assert.equal(await theirs.do(resetRun, id), 'not-found')
        assert.deepEqual(await theirs.do(retryRun, id), { answer: 'not-found' })
        assert.deepEqual(await theirs.look(listAttempts, id), [])
      }
      assert.equal((await theirs.renew([held], 1_000))[0]?.renewed, false)
      assert.equal((await theirs.settle([{ ...held, outcome: { kind: 'success' } }]))[0]?.answer, 'gone')
      assert.equal(await theirs.appendOutput(held, 'not yours'), 'lease-lost')
      assert.equal(await theirs.look(readOutput, held.runId), null)
      assert.deepEqual(await theirs.look(leasesOf, held.claimId), [])
      assert.deepEqual(await theirs.beat([workerId]), { unknown: [workerId] })
      assert.deepEqual(await snapshot(stage), before)
    },
  },
  {
    name: 'schemas whose long names differ in their last letter only do not meet',
    skip: ({ dialect }) => (dialect === 'postgres' ? undefined : 'it has no schemas'),
    async run(stage) {
      const schemas = ['a', 'b'].map((last) => `${stage.place.options.schema}_`.padEnd(62, 'x') + last)
      const stores = await Promise.all(schemas.map((schema) => stage.open({ schema })))
      for (const store of stores) {
        await store.enqueue([noop({ dedupeKey: 'd' })])
        const { lease } = await stage.lessor(store)
        await succeed(store, await lease(10))
        assert.equal((await store.look(listRuns, { limit: 10, status: 'completed' })).runs.length, 1)
      }
      for (const schema of schemas) await stage.sql(`drop schema "${schema}" cascade`)
    },
  },
  {
    name: 'a reclaim that names runs takes those alone, once they have expired, and none of another namespace',
    skip: cannotShare,
    async run(stage) {
      const { ours, theirs } = await two(stage)
      const held = async (store: Store) => {
        await stage.setPolicy(store, { maxConcurrent: 9 })
        await store.enqueue([noop(), noop()])
        return (await stage.lessor(store, { leaseMs: 1_000 })).lease(2)
      }
      const [first, second] = (await held(theirs)) as [Lease, Lease]
      const [named, other] = (await held(ours)) as [Lease, Lease]
      const expired = [named.runId, first.runId, second.runId]
      assert.deepEqual(await ours.reclaim({ expired, limit: 9 }), [], 'nothing has expired yet')
      stage.clock.advance(1_000)
      const taken = await ours.reclaim({ expired, limit: 9 })
      assert.deepEqual(
        taken.map(({ runId }) => runId),
        [named.runId],
      )
      assert.equal((await ours.look(findRun, other.runId))?.status, 'leased')
      assert.equal((await theirs.look(findRun, first.runId))?.status, 'leased')
    },
  },
  {
    name: 'a lease hands out runs of its own namespace only, under the ceilings of its own queue',
    skip: cannotShare,
    async run(stage) {
      const { ours, theirs } = await two(stage)
      for (const store of [ours, theirs]) await stage.setPolicy(store, { maxConcurrent: 2, maxConcurrentPerKey: 1 })
      const runs = [noop({ concurrencyKey: 'k' }), noop({ concurrencyKey: 'k' }), noop(), noop()]
      const mine = await ours.enqueue(runs)
      const other = await theirs.enqueue(runs)
      for (const [store, made] of [
        [ours, mine],
        [theirs, other],
      ] as const) {
        const { lease } = await stage.lessor(store)
        assert.deepEqual(
          (await lease(9)).map(({ runId }) => runId),
          [made[0]?.id, made[2]?.id],
        )
      }
    },
  },
]

async function two(stage: Stage): Promise<{ ours: Store; theirs: Store }> {
  return { ours: await stage.open(), theirs: await stage.open({ namespace: 'theirs' }) }
}
