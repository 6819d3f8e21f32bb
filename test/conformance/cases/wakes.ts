import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { backfillSchedule } from '../../../src/parts/backfill/backfill-schedule.ts'
import type { Lease, Store, Wake } from '../../../src/store/port.ts'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { workAhead } from '../../../src/store/reads/find-queue.ts'
import { findRun } from '../../../src/store/reads/find-run.ts'
import { cancelRun } from '../../../src/store/runs/cancel-run.ts'
import { resetRun } from '../../../src/store/runs/reset-run.ts'
import { retryRun } from '../../../src/store/runs/retry-run.ts'
import { deleteSchedule } from '../../../src/store/schedules/delete-schedule.ts'
import { pauseSchedule, resumeSchedule } from '../../../src/store/schedules/pause-schedule.ts'
import { runNow } from '../../../src/store/schedules/run-now.ts'
import { clearHints, setHint } from '../../../src/store/schedules/set-hint.ts'
import { actor, type Case, cannotShare, noop, type Stage, type Subject } from '../place.ts'
import { put } from './schedules.ts'

const minute = 60_000
const hour = 60 * minute

export const wakes: Case[] = [
  {
    name: 'whatever may start sooner for a write is told to this process at once, and nothing else is',
    run: tellOwnWrites,
  },
  {
    name: 'a run whose key becomes free and a run whose predecessor ends are new work, whatever ended before them',
    async run(stage) {
      const store = await stage.open()
      await stage.setPolicy(store, { maxConcurrent: 10, maxConcurrentPerKey: 1 })
      const { lease } = await stage.lessor(store)
      const succeed = (held: readonly Lease[]) => {
        return store.settle(held.map((one) => ({ ...one, outcome: { kind: 'success' } })))
      }
      const ear = listenTo(store)
      await store.enqueue([noop(), noop({ concurrencyKey: 'k' }), noop({ concurrencyKey: 'k' })])
      const [plain, keyed] = (await lease(10)) as [Lease, Lease]
      ear.told()
      await succeed([plain])
      assert.deepEqual(ear.told(), [], 'a plain success woke somebody')
      await succeed([keyed])
      assert.deepEqual(ear.told(), ['work'], 'the next run of the key was not told')
      await succeed(await lease(10))

      await put(store, {
        name: 'tail',
        timing: { everyMs: hour },
        startNow: true,
        overlap: 'queue',
        maxLatenessMs: hour,
      })
      await store.fireDue({ limit: 1 })
      const first = await lease(10)
      assert.equal((await store.do(runNow, 'tail')).answer, 'created')
      ear.told()
      await succeed(first)
      assert.deepEqual(ear.told(), ['schedules', 'work'], 'neither the run behind nor the next instant was told')
      await succeed(await lease(10))

      stage.clock.advance(hour)
      await store.fireDue({ limit: 1 })
      ear.told()
      stage.clock.advance(2 * hour)
      assert.deepEqual(await lease(10), [], 'the run was not too late')
      assert.deepEqual(ear.told(), ['schedules'], 'a lease that ended a run was silent about its schedule')
    },
  },
  {
    name: 'a listener that throws fails no write, and the listeners after it hear all the same',
    async run(stage) {
      const store = await stage.open()
      const warned = new Promise((resolve) => process.once('warning', resolve))
      const stop = store.listen(() => {
        throw new Error('deaf')
      })
      const ear = listenTo(store)
      assert.equal((await store.enqueue([noop()]))[0]?.created, true)
      assert.deepEqual(ear.told(), ['work'])
      assert.match(String(await warned), /deaf/)
      stop()
    },
  },
  {
    name: 'who has stopped listening is not called any more, and others still are',
    async run(stage) {
      const store = await stage.open()
      const [gone, staying] = [listenTo(store), listenTo(store)]
      gone.stop()
      await store.enqueue([noop()])
      assert.deepEqual([gone.told(), staying.told()], [[], ['work']])
    },
  },
  {
    name: 'another store hears of new work, of a request to cancel, and of a schedule',
    skip: cannotShare,
    async run(stage) {
      const [mine, theirs] = [await stage.openWithOwnClock(), await stage.openWithOwnClock()]
      const ear = listenTo(theirs)
      await until(() => theirs.hears())
      const { lease } = await stage.lessor(mine)
      const heardAfter = async (write: () => Promise<unknown>) => {
        ear.told()
        await write()
        await ear.next(isForeign)
      }
      await heardAfter(() => mine.enqueue([noop()]))
      const [held] = await lease(1)
      await heardAfter(() => mine.do(cancelRun, held?.runId ?? '', 'no longer wanted'))
      await heardAfter(() => put(mine, { name: 'fresh', timing: { everyMs: hour } }))
      await heardAfter(() => mine.do(setQueue, 'default', { policy: { maxConcurrent: 50 }, actor }))
    },
  },
  {
    name: 'what a process did last before it ended is heard in another process',
    skip: cannotShare,
    async run(stage) {
      const store = await stage.openWithOwnClock()
      const ear = listenTo(store)
      await until(() => store.hears())
      const child = stage.startChild({ task: 'enqueue', runs: 1 })
      await child.ready
      await child.said
      ear.told()
      child.goOn()
      await ear.next(isForeign)
      await child.report
      assert.deepEqual((await store.look(workAhead)).queues, ['default'])
    },
  },
  {
    name: 'work in a caller’s own transaction is heard when the caller commits, by this process as well',
    skip: cannotShare,
    async run(stage) {
      const [mine, theirs] = [await stage.openWithOwnClock(), await stage.openWithOwnClock()]
      // The first enqueue makes the queue, which a caller's open transaction would keep to itself.
      await mine.enqueue([noop()])
      const ears = [listenTo(mine), listenTo(theirs)]
      await until(() => mine.hears() && theirs.hears())
      const own = await stage.begin()
      const [made] = await mine.enqueue([noop()], { transaction: own.handle })
      for (const ear of ears) ear.told()
      await own.commit()
      await Promise.all(ears.map((ear) => ear.next(isForeign)))
      assert.equal((await theirs.look(findRun, made?.id ?? ''))?.status, 'ready')
    },
  },
  {
    name: 'a process does not hear its own writes from elsewhere',
    skip: cannotShare,
    async run(stage) {
      const [mine, theirs] = [await stage.openWithOwnClock(), await stage.openWithOwnClock()]
      const [ownEar, otherEar] = [listenTo(mine), listenTo(theirs)]
      await until(() => mine.hears() && theirs.hears())
      ownEar.told()
      otherEar.told()
      await mine.enqueue([noop()])
      await otherEar.next(isForeign)
      await theirs.enqueue([noop()])
      await ownEar.next(isForeign)
      assert.equal(ownEar.heard.filter(isForeign).length, 1, 'it heard itself')
    },
  },
  {
    name: 'a thousand calls at once cost two notifications',
    skip: onlyNotified,
    async run(stage) {
      const [mine, theirs] = [await stage.openWithOwnClock(), await stage.openWithOwnClock()]
      const ear = listenTo(theirs)
      await until(() => theirs.hears())
      ear.told()
      for (let calls = 0; calls < 1_000; calls++) mine.wakeOthers()
      // What it had to tell has been sent when it is closed, and notifications come in the order of their commits.
      await mine.close()
      const last = await stage.openWithOwnClock()
      last.wakeOthers()
      await until(() => ear.heard.length >= 3)
      assert.equal(ear.heard.length, 3)
    },
  },
  {
    name: 'a listening connection that is cut is noticed and replaced, and whoever listens is told to look',
    skip: onlyNotified,
    async run(stage) {
      const [mine, theirs] = [await stage.openWithOwnClock(), await stage.openWithOwnClock()]
      assert.equal(mine.hears(), false, 'nobody has proven anything yet')
      const ear = listenTo(mine)
      await ear.next(isForeign)
      assert.equal(mine.hears(), true)
      ear.told()
      const states: boolean[] = []
      const stop = mine.listen(() => states.push(mine.hears()))
      assert.equal((await stage.sql(`select pg_terminate_backend(pid) from ${listening(stage)}`)).length, 1)
      await until(() => states.at(-1) === true)
      assert.deepEqual(states, [false, true], 'one call when hearing went, one when it came back')
      ear.told()
      await theirs.enqueue([noop()])
      await ear.next(isForeign)
      stop()
    },
  },
  {
    name: 'nobody listens any more once the last listener has stopped, and once the store is closed',
    skip: onlyNotified,
    async run(stage) {
      const store = await stage.openWithOwnClock()
      const listeners = async () => (await stage.sql(`select pid from ${listening(stage)}`)).length
      for (const end of [(ear: Ear) => ear.stop(), () => store.close()]) {
        const ear = listenTo(store)
        await until(() => store.hears())
        assert.equal(await listeners(), 1)
        await end(ear)
        while ((await listeners()) > 0) await pause(5)
        assert.equal(store.hears(), false)
      }
    },
  },
]

/** Each verb with what it tells; those that bring nobody anything sooner tell nothing. */
async function tellOwnWrites(stage: Stage): Promise<void> {
  const store = await stage.open()
  await stage.setPolicy(store, { maxConcurrent: 10, maxAttempts: 3 })
  const { lease, workerId } = await stage.lessor(store, { leaseMs: minute })
  const ear = listenTo(store)
  const tells = async (what: Wake['what'][], write: () => Promise<unknown>) => {
    await write()
    assert.deepEqual(ear.told(), what, String(write))
  }
  const now = () => stage.clock.now()
  await tells(['work'], () => store.enqueue([noop({ idempotencyKey: 'i' })]))
  await tells([], () => store.enqueue([noop({ idempotencyKey: 'i' })]))
  await tells(['work'], () => store.enqueue([noop({ notBefore: now() + hour })]))
  const [held] = (await lease(1)) as [Lease]
  assert.deepEqual(ear.told(), [], 'a lease woke somebody')
  await tells([], () => store.renew([held], minute))
  await tells([], () => store.appendOutput(held, 'text'))
  await tells([], () => store.beat([workerId]))
  await tells(['cancels'], () => store.do(cancelRun, held.runId, 'no'))
  await tells([], () => store.do(cancelRun, held.runId, 'again'))
  const [unwanted] = await store.enqueue([noop()])
  ear.told()
  await tells([], () => store.do(cancelRun, unwanted?.id ?? '', 'nobody has it'))
  await tells([], () => store.settle([{ ...held, outcome: { kind: 'success' }, result: { rows: 1 } }]))
  await tells(['work'], () => store.do(retryRun, held.runId))
  const leaseOne = async () => (await lease(1))[0] as Lease
  const failed = await leaseOne()
  await tells(['work'], () => store.settle([{ ...failed, outcome: { kind: 'failed', reason: 'broken' } }]))
  stage.clock.advance(minute)
  const parked = await leaseOne()
  assert.deepEqual(ear.told(), [], 'a lease of a run whose waiting was over woke somebody')
  const final = { kind: 'failed', reason: 'broken', retryable: false } as const
  await tells([], () => store.settle([{ ...parked, outcome: final }]))
  await tells(['work'], () => store.do(resetRun, parked.runId))
  // It is parked when its holder is gone: all that is new is the room it leaves.
  await store.enqueue([noop({ repeatable: false, priority: 1 })])
  await leaseOne()
  ear.told()
  stage.clock.advance(minute)
  await tells(['work'], () => store.reclaim({ limit: 10 }))
  await tells([], () => store.reclaim({ limit: 10 }))
  await tells(['work'], () => store.do(setQueue, 'default', { policy: { maxConcurrent: 20 }, actor }))
  await tells([], () => store.do(setQueue, 'default', { policy: { maxConcurrent: 20 }, actor }))
  await tellOfSchedules({ store, lease, tells, now })
  assert.deepEqual(ear.queues, Array(5).fill('default'), 'enqueue and setQueue name their queues')
}

interface Telling {
  readonly store: Store
  readonly lease: (limit: number) => Promise<Lease[]>
  readonly tells: (what: Wake['what'][], write: () => Promise<unknown>) => Promise<void>
  readonly now: () => number
}

async function tellOfSchedules({ store, lease, tells, now }: Telling): Promise<void> {
  const spec = { name: 'report', timing: { everyMs: hour }, overlap: 'allow' } as const
  const hint = { kind: 'oneshot', at: now() + minute, expiresAt: now() + hour, reason: 'r', author: 'a' } as const
  await tells(['schedules'], () => put(store, spec))
  await tells([], () => put(store, spec))
  await tells([], () => put(store, { ...spec, description: 'the same instant' }))
  await tells(['schedules'], () => put(store, { ...spec, timing: { everyMs: minute } }))
  await tells([], () => put(store, spec))
  await tells(['schedules'], () => store.do(setHint, 'report', hint))
  await tells([], () => store.do(clearHints, 'report', ['oneshot']))
  await tells([], () => store.do(pauseSchedule, 'report', { reason: 'r' }))
  await tells(['schedules'], () => store.do(resumeSchedule, 'report'))
  await tells(['work'], () => store.do(runNow, 'report'))
  await tells([], () => store.fireDue({ limit: 10 }))
  await tells(['schedules'], () => put(store, { ...spec, name: 'other', startNow: true, priority: 1 }))
  await tells(['work'], () => store.fireDue({ limit: 10 }))
  await tells([], () => lease(1))
  await tells(['schedules'], () =>
    put(store, { name: 'calendar', timing: { cron: '0 * * * *', zone: 'UTC' }, priority: 200 }),
  )
  const day = { from: now() - 24 * hour, to: now() }
  await tells(['work'], () => store.do(backfillSchedule, 'calendar', day))
  await tells([], () => store.do(backfillSchedule, 'calendar', day))
  await tells([], () => store.do(deleteSchedule, 'calendar'))
  await tells([], () => store.do(deleteSchedule, 'report'))
  await tells(['cancels'], () => store.do(deleteSchedule, 'other', { cancelLeased: true }))
}

interface Ear {
  /** All that was heard since it was last asked what was told. */
  readonly heard: Wake[]
  /** The queues that wake-ups named, over all the time. */
  readonly queues: string[]
  /** What was told since it was last asked, in the order of the alphabet. */
  told(): Wake['what'][]
  /** The first that is wanted of those heard and those to come. */
  next(isWanted: (wake: Wake) => boolean): Promise<void>
  stop(): void
}

function listenTo(store: Store): Ear {
  const heard: Wake[] = []
  const queues: string[] = []
  const stop = store.listen((wake) => {
    heard.push(wake)
    queues.push(...(wake.queues ?? []))
  })
  return {
    heard,
    queues,
    told: () => [...new Set(heard.splice(0).map(({ what }) => what))].sort(),
    next: (isWanted) => until(() => heard.some(isWanted)),
    stop,
  }
}

function isForeign({ from }: Wake): boolean {
  return from === 'elsewhere'
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await pause(1)
}

function onlyNotified({ dialect }: Subject): string | undefined {
  return dialect === 'postgres' ? undefined : 'it is told of changes by the file, or has nobody to tell it'
}

/** The connections that listen to the stage's schema. */
function listening({ place }: Stage): string {
  return `pg_stat_activity where application_name = 'belfry listen' and query like '%"belfry ${place.options.schema}"%'`
}
