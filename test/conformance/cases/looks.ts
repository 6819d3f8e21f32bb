import assert from 'node:assert/strict'
import { putHold } from '../../../src/store/holds/put-hold.ts'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { leasesOfWorkers, stopRequests } from '../../../src/store/reads/find-leases.ts'
import { workAhead } from '../../../src/store/reads/find-queue.ts'
import { overdueSchedules } from '../../../src/store/reads/find-schedule.ts'
import { listRuns } from '../../../src/store/reads/list-runs.ts'
import { listWorkers } from '../../../src/store/reads/list-workers.ts'
import { nextInstants } from '../../../src/store/reads/next-instants.ts'
import { cancelRun } from '../../../src/store/runs/cancel-run.ts'
import { deleteSchedule } from '../../../src/store/schedules/delete-schedule.ts'
import { pauseSchedule } from '../../../src/store/schedules/pause-schedule.ts'
import { registerWorker } from '../../../src/store/workers/register-worker.ts'
import { stop } from '../../holding.ts'
import { actor, type Case, noop } from '../place.ts'
import { put } from './schedules.ts'

const second = 1_000
const minute = 60_000
const hour = 60 * minute

/** What a worker looks at to know what to do next. */
export const looks: Case[] = [
  {
    name: 'a lease says when its queue is full: at the ceiling, with others’ leases counted, and not before',
    async run(stage) {
      const store = await stage.open()
      await stage.setPolicy(store, { maxConcurrent: 3 })
      await store.enqueue([noop(), noop(), noop(), noop()])
      const workerId = await store.do(registerWorker, {
        name: 'w',
        host: 'h',
        can: { kinds: ['handler'] },
        beatMs: minute,
      })
      const lease = (limit: number) => {
        return store.lease({ queue: 'default', workerId, claimId: stage.claimId(), can: { kinds: ['handler'] }, limit })
      }
      const [some, rest, none] = [await lease(2), await lease(2), await lease(2)]
      assert.deepEqual(
        [some, rest, none].map(({ leases, full }) => [leases.length, full]),
        [
          [2, false],
          [1, true],
          [0, true],
        ],
      )
      await store.settle(some.leases.map((one) => ({ ...one, outcome: { kind: 'success' } })))
      assert.equal((await lease(0)).full, false)
    },
  },
  {
    name: 'the next instants come with the store’s own now, and a stopped namespace sleeps towards nothing but leases',
    async run(stage) {
      const store = await stage.open()
      const { lease } = await stage.lessor(store)
      const now = stage.clock.now()
      await put(store, { name: 'hourly', timing: { everyMs: hour } })
      await store.enqueue([noop()])
      await lease(1, { leaseMs: minute })
      await store.enqueue([noop({ notBefore: now + second })])
      const instants = { now, scheduleAt: now + hour, leaseExpiresAt: now + minute, holdAt: null, holdsMark: '0/0' }
      assert.deepEqual(await store.look(nextInstants), instants)
      stage.clock.advance(1)
      await store.do(putHold, stop)
      const stopped = { now: now + 1, scheduleAt: null, leaseExpiresAt: now + minute, holdAt: null }
      const { holdsMark, ...found } = await store.look(nextInstants)
      assert.deepEqual(found, stopped)
      assert.match(holdsMark, /^1\//)
    },
  },
  {
    name: 'the queues with work are those with a run in line, or one whose waiting is over, that are not paused',
    async run(stage) {
      const store = await stage.open()
      const { lease } = await stage.lessor(store)
      const notBefore = stage.clock.now() + second
      await store.enqueue([
        noop({ queue: 'line' }),
        noop({ queue: 'waits', notBefore }),
        noop({ queue: 'paused' }),
        noop({ queue: 'leased' }),
      ])
      await store.do(setQueue, 'empty', { actor })
      await store.do(setQueue, 'paused', { paused: { reason: 'r' }, actor })
      await lease(1, { queue: 'leased' })
      assert.deepEqual(await store.look(workAhead), { now: notBefore - second, queues: ['line'], nextAt: notBefore })
      stage.clock.advance(second)
      assert.deepEqual(await store.look(workAhead), { now: notBefore, queues: ['line', 'waits'], nextAt: null })
      const [run] = (await store.look(listRuns, { limit: 1, queue: 'paused' })).runs
      assert.equal(run?.status, 'ready')
      await store.do(putHold, stop)
      assert.deepEqual(await store.look(workAhead), { now: notBefore, queues: [], nextAt: null })
    },
  },
  {
    name: 'a worker is told which of its runs are to be cancelled, and no other worker is',
    async run(stage) {
      const store = await stage.open()
      const [one, two] = [await stage.lessor(store), await stage.lessor(store)]
      await store.enqueue([noop(), noop(), noop()])
      const [mine, other] = [await one.lease(2), await two.lease(1)]
      const { runId, fence } = mine[1] as (typeof mine)[0]
      assert.deepEqual(await store.look(stopRequests, one.workerId), [])
      await store.do(cancelRun, runId, 'no')
      assert.deepEqual(await store.look(stopRequests, one.workerId), [{ runId, fence, stop: 'cancelled' }])
      assert.deepEqual(await store.look(stopRequests, two.workerId), [])
      const ends = [...mine, ...other].map((held) => ({ ...held, outcome: { kind: 'success' } as const }))
      await store.settle(ends)
      assert.deepEqual(await store.look(stopRequests, one.workerId), [])
    },
  },
  {
    name: 'what workers hold is listed with what proves whose it is, of those workers only and as many as asked for',
    async run(stage) {
      const store = await stage.open()
      const lessors = [await stage.lessor(store), await stage.lessor(store), await stage.lessor(store)] as const
      await store.enqueue(Array.from({ length: 4 }, () => noop()))
      const held = []
      for (const { lease, workerId } of [lessors[0], lessors[1], lessors[2], lessors[0]]) {
        for (const { runId, fence, claimId, leasedAt } of await lease(1)) {
          held.push({ runId, fence, workerId, claimId, leasedAt })
        }
      }
      const ids = [lessors[0].workerId, lessors[2].workerId]
      const theirs = held.filter(({ workerId }) => ids.includes(workerId))
      assert.equal(theirs.length, 3)
      assert.deepEqual(await store.look(leasesOfWorkers, ids, 10), theirs)
      assert.deepEqual(await store.look(leasesOfWorkers, ids, 2), theirs.slice(0, 2))
      assert.deepEqual(await store.look(leasesOfWorkers, [], 10), [])
    },
  },
  {
    name: 'schedules are overdue when nobody has looked at them in time: not the disabled, deleted or merely due',
    async run(stage) {
      const store = await stage.open()
      const at = stage.clock.now() + second
      for (const [index, name] of ['late', 'later', 'disabled', 'deleted', 'due'].entries()) {
        await put(store, { name, timing: { at: name === 'due' ? at + minute : at - index } })
      }
      await store.do(pauseSchedule, 'disabled', { reason: 'r' })
      await store.do(deleteSchedule, 'deleted')
      const overdue = async (lateMs: number, limit = 10) => {
        return (await store.look(overdueSchedules, { lateMs, limit })).map(({ spec }) => spec.name)
      }
      stage.clock.set(at + minute)
      assert.deepEqual(await overdue(minute), ['later', 'late'])
      assert.deepEqual(await overdue(minute, 1), ['later'])
      assert.deepEqual(await overdue(minute + 1), ['later'])
      assert.deepEqual(await overdue(0), ['later', 'late', 'due'])
      await store.do(putHold, stop)
      assert.deepEqual(await overdue(minute), [])
    },
  },
  {
    name: 'a beat says what a worker can do by now, and one that does not say leaves it',
    async run(stage) {
      const store = await stage.open()
      const { workerId } = await stage.lessor(store)
      const can = { kinds: ['http'], handlers: ['mail'] }
      assert.deepEqual(await store.beat([workerId], { can }), { unknown: [] })
      await store.beat([workerId])
      assert.deepEqual((await store.look(listWorkers))[0]?.can, can)
    },
  },
  {
    name: 'a thousand schedules due in one instant do not make the one that comes due a moment later wait behind them',
    async run(stage) {
      const store = await stage.open()
      const at = stage.clock.now() + minute
      for (let index = 0; index < 1_000; index++) await put(store, { name: `storm ${index}`, timing: { at } })
      await put(store, { name: 'after', timing: { at: at + 1 } })
      stage.clock.set(at + 1)
      const steps = [await store.fireDue({ limit: 200 }), await store.fireDue({ limit: 200 })]
      const fired = steps.flatMap(({ runs }) => runs.map(({ schedule }) => schedule))
      assert.ok(fired.includes('after'), 'it waits behind the storm')
      while ((await store.fireDue({ limit: 200 })).more);
      assert.equal((await store.look(overdueSchedules, { lateMs: 0, limit: 10 })).length, 0)
      assert.equal((await stage.sql('select count(*) as runs from belfry.run'))[0]?.runs, 1_001)
    },
  },
]
