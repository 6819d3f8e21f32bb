import assert from 'node:assert/strict'
import { liftHold, liftHolds } from '../../../src/store/holds/lift-hold.ts'
import { listHolds } from '../../../src/store/holds/list-holds.ts'
import { type NewHold, putHold } from '../../../src/store/holds/put-hold.ts'
import { turnHolds } from '../../../src/store/holds/turn-holds.ts'
import type { Store } from '../../../src/store/port.ts'
import { deleteQueue } from '../../../src/store/queues/delete-queue.ts'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { workAhead } from '../../../src/store/reads/find-queue.ts'
import { findRun } from '../../../src/store/reads/find-run.ts'
import { nextInstants } from '../../../src/store/reads/next-instants.ts'
import { deleteSchedule } from '../../../src/store/schedules/delete-schedule.ts'
import { pauseSchedule, resumeSchedule } from '../../../src/store/schedules/pause-schedule.ts'
import { repair } from '../../../src/store/schedules/repair.ts'
import { runNow } from '../../../src/store/schedules/run-now.ts'
import { holdOn, stop, stopped } from '../../holding.ts'
import { actor, type Case, cannotShare, noop, type Stage } from '../place.ts'
import { put } from './schedules.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** One hold of each scope, all of them on the run that `workUnder` makes. */
const holds: readonly [string, NewHold][] = [
  ['the namespace', holdOn('namespace', '')],
  ['its queue', holdOn('queue', 'mail')],
  ['its kind', holdOn('kind', 'handler')],
  ['its kind and name', holdOn('kind', 'handler/noop')],
  ['its schedule', holdOn('schedule', 'digest')],
  ['its key', holdOn('key', 'customer-7')],
]

/** A schedule whose runs every hold above is on; answers a way to make and to lease one. */
async function workUnder(stage: Stage, store: Store) {
  await put(store, { name: 'digest', timing: {}, queue: 'mail', concurrencyKey: 'customer-7', overlap: 'allow' })
  await stage.setPolicy(store, { maxConcurrent: 99 }, 'mail')
  const { lease } = await stage.lessor(store, { queue: 'mail' })
  const make = async () => {
    const made = await store.do(runNow, 'digest')
    return made.answer === 'created' ? made.id : assert.fail(made.answer)
  }
  const leased = async () => (await lease(9)).map(({ runId }) => runId)
  return { make, leased }
}

async function hold(store: Store, wanted: NewHold): Promise<string> {
  const answer = await store.do(putHold, wanted)
  return answer.answer === 'put' ? answer.hold.id : assert.fail(answer.answer)
}

/** What a worker does when a hold begins or ends. */
export async function turnAll(store: Store): Promise<void> {
  const { more } = await store.do(turnHolds, { limit: 10 })
  if (more) await turnAll(store)
}

export const holdCases: Case[] = [
  {
    name: 'a hold keeps runs from being leased, those made before it and under it, until it is lifted',
    async run(stage) {
      const store = await stage.open()
      const { make, leased } = await workUnder(stage, store)
      for (const [on, wanted] of holds) {
        const before = await make()
        const id = await hold(store, wanted)
        assert.deepEqual(await leased(), [], `at once, on ${on}`)
        await turnAll(store)
        const under = await make()
        assert.deepEqual(await leased(), [], `later, on ${on}`)
        assert.deepEqual(await store.do(repair, { limit: 10 }), [], on)
        assert.equal((await store.do(liftHold, id, { actor }))?.id, id)
        await turnAll(store)
        assert.deepEqual(await leased(), [before, under], `once it was lifted, on ${on}`)
        assert.equal(await store.do(liftHold, id, { actor }), null)
        assert.deepEqual(await store.look(listHolds), [])
      }
    },
  },
  {
    name: 'a hold begins and ends at its instants, whether or not a worker has looked',
    async run(stage) {
      const store = await stage.open()
      const { make, leased } = await workUnder(stage, store)
      for (const [on, wanted] of holds) {
        const from = stage.clock.now() + minute
        const until = from + minute
        await hold(store, { ...wanted, from, until })
        assert.equal((await store.look(nextInstants)).holdAt, from, on)
        stage.clock.set(from - 1)
        const early = await make()
        assert.deepEqual(await leased(), [early], `before it begins, on ${on}`)
        const first = await make()
        stage.clock.set(from)
        assert.deepEqual(await leased(), [], `from its first instant on, on ${on}`)
        const second = await make()
        assert.deepEqual(await leased(), [], `what is made then, on ${on}`)
        await turnAll(store)
        assert.equal((await store.look(nextInstants)).holdAt, until, on)
        stage.clock.set(until - 1)
        assert.deepEqual(await leased(), [], `until its last instant, on ${on}`)
        stage.clock.set(until)
        await turnAll(store)
        assert.deepEqual(await leased(), [first, second], `at its last instant, on ${on}`)
        assert.equal((await store.look(nextInstants)).holdAt, null, on)
        assert.equal((await store.look(workAhead)).holdEndsAt, undefined)
      }
    },
  },
  {
    name: 'a hold that began before the clock was set back lets its runs go when it is lifted',
    async run(stage) {
      const store = await stage.open()
      const { make, leased } = await workUnder(stage, store)
      for (const [on, wanted] of holds) {
        const run = await make()
        const id = await hold(store, wanted)
        await turnAll(store)
        stage.clock.set(stage.clock.now() - minute)
        assert.equal((await store.do(liftHold, id, { actor }))?.id, id)
        assert.deepEqual(await store.do(repair, { limit: 10 }), [], on)
        await turnAll(store)
        assert.deepEqual(await leased(), [run], on)
        assert.equal((await store.look(nextInstants)).holdAt, null, on)
      }
    },
  },
  {
    name: 'of two holds on the same work the last one lets it go, whichever ends first',
    async run(stage) {
      const store = await stage.open()
      const { make, leased } = await workUnder(stage, store)
      for (const [on, wanted] of holds) {
        const run = await make()
        const until = stage.clock.now() + minute
        await hold(store, { ...wanted, until })
        const other = await hold(store, wanted)
        await turnAll(store)
        stage.clock.set(until)
        await turnAll(store)
        assert.deepEqual(await leased(), [], `the second still holds, on ${on}`)
        await hold(store, { ...wanted, until: until + minute })
        await store.do(liftHold, other, { actor })
        await turnAll(store)
        assert.deepEqual(await leased(), [], `and a third, on ${on}`)
        stage.clock.set(until + minute)
        await turnAll(store)
        assert.deepEqual(await leased(), [run], on)
      }
    },
  },
  {
    name: 'a hold on something else keeps nothing',
    async run(stage) {
      const store = await stage.open()
      const { make, leased } = await workUnder(stage, store)
      await store.do(setQueue, 'other', { actor })
      await put(store, { name: 'other', timing: {} })
      for (const wanted of [
        holdOn('queue', 'other'),
        holdOn('schedule', 'other'),
        holdOn('kind', 'http'),
        holdOn('kind', 'handler/noo'),
        holdOn('kind', 'handler/noop/x'),
        holdOn('key', 'customer-70'),
      ]) {
        await hold(store, wanted)
      }
      await turnAll(store)
      const run = await make()
      assert.deepEqual(await leased(), [run])
      assert.deepEqual(await store.do(putHold, holdOn('queue', 'nowhere')), { answer: 'not-found' })
      assert.deepEqual(await store.do(putHold, holdOn('schedule', 'nowhere')), { answer: 'not-found' })
    },
  },
  {
    name: 'under a stop nothing fires and the missed rules decide afterwards; under any other hold runs are made, and wait',
    async run(stage) {
      const store = await stage.open()
      const { lease } = await stage.lessor(store)
      await put(store, { name: 's', timing: { cron: '0 * * * *', zone: 'UTC' }, missed: 'all', overlap: 'allow' })
      const at = Math.floor(stage.clock.now() / hour) * hour
      await store.do(putHold, stop)
      stage.clock.set(at + 3 * hour + minute)
      assert.deepEqual((await store.fireDue({ limit: 10 })).runs, [])
      assert.equal((await store.look(nextInstants)).scheduleAt, null)
      await store.do(liftHolds, stopped, { actor })
      assert.equal((await store.fireDue({ limit: 10 })).runs.length, 3)
      await lease(9)
      for (const [on, wanted] of [
        ['the namespace', holdOn('namespace', '')],
        ['the queue', holdOn('queue', 'default')],
        ['the kind', holdOn('kind', 'handler')],
        ['the schedule', holdOn('schedule', 's')],
      ] as const) {
        const id = await hold(store, wanted)
        await turnAll(store)
        stage.clock.advance(hour)
        assert.equal((await store.fireDue({ limit: 10 })).runs.length, 1, on)
        assert.deepEqual(await lease(9), [], on)
        await store.do(liftHold, id, { actor })
        await turnAll(store)
      }
    },
  },
  {
    name: 'a schedule that is paused and held lets its runs go when it is neither, whichever ends first',
    async run(stage) {
      const store = await stage.open()
      const { make, leased } = await workUnder(stage, store)
      const run = await make()
      const status = async () => (await store.look(findRun, run))?.status
      await store.do(pauseSchedule, 'digest', { reason: 'r' })
      const id = await hold(store, holdOn('schedule', 'digest'))
      await turnAll(store)
      await store.do(resumeSchedule, 'digest')
      assert.equal(await status(), 'held')
      assert.deepEqual(await leased(), [])
      await store.do(pauseSchedule, 'digest', { reason: 'r' })
      await store.do(liftHold, id, { actor })
      await turnAll(store)
      assert.equal(await status(), 'held')
      assert.deepEqual(await leased(), [])
      await store.do(resumeSchedule, 'digest')
      assert.deepEqual(await leased(), [run])
    },
  },
  {
    name: 'a retry under a hold on its schedule or key waits aside, and what is at work when the hold comes finishes',
    async run(stage) {
      const store = await stage.open()
      const { make, leased } = await workUnder(stage, store)
      for (const [on, wanted] of holds) {
        const run = await make()
        assert.deepEqual(await leased(), [run], on)
        const id = await hold(store, wanted)
        await turnAll(store)
        const view = await store.look(findRun, run)
        const [settled] = await store.settle([
          { runId: run, fence: view?.fence ?? 0, scheduleId: view?.scheduleId ?? null, outcome: { kind: 'released' } },
        ])
        assert.equal(settled?.answer, 'written', on)
        assert.deepEqual(await leased(), [], on)
        await store.do(liftHold, id, { actor })
        await turnAll(store)
        assert.deepEqual(await leased(), [run], on)
      }
    },
  },
  {
    name: 'law 3: a key that was held has no more runs at work afterwards than its ceiling',
    async run(stage) {
      const store = await stage.open()
      await stage.setPolicy(store, { maxConcurrent: 50, maxConcurrentPerKey: 2 })
      const { lease } = await stage.lessor(store)
      await store.enqueue(Array.from({ length: 5 }, () => noop({ concurrencyKey: 'k' })))
      await store.enqueue(Array.from({ length: 3 }, () => noop({ concurrencyKey: 'other' })))
      const id = await hold(store, holdOn('key', 'k'))
      assert.equal((await lease(50)).length, 2, 'those of the other key')
      await store.enqueue(Array.from({ length: 5 }, () => noop({ concurrencyKey: 'k' })))
      assert.deepEqual(await lease(50), [])
      await turnAll(store)
      assert.deepEqual(await store.do(repair, { limit: 10 }), [])
      await store.do(liftHold, id, { actor })
      await turnAll(store)
      assert.equal((await lease(50)).length, 2)
      assert.deepEqual(await lease(50), [])
      assert.deepEqual(await store.do(repair, { limit: 10 }), [])
    },
  },
  {
    name: 'more runs of a key than one step moves are set aside and let go, a bounded step at a time',
    async run(stage) {
      const store = await stage.open()
      await stage.setPolicy(store, { maxConcurrent: 5_000 })
      const { lease } = await stage.lessor(store)
      await store.enqueue(Array.from({ length: 1_200 }, () => noop({ concurrencyKey: 'k' })))
      const id = await hold(store, holdOn('key', 'k'))
      assert.equal((await store.do(turnHolds, { limit: 10 })).more, true)
      const [last] = (await store.enqueue([noop({ priority: 900 })])).map((made) => made.id)
      assert.deepEqual(
        (await lease(5_000)).map(({ runId }) => runId),
        [last],
        'a run behind those that are held',
      )
      await turnAll(store)
      const inLine = async () => Number((await stage.sql('select count(*) as runs from belfry.ready'))[0]?.runs)
      assert.equal(await inLine(), 0)
      await store.do(liftHold, id, { actor })
      await turnAll(store)
      assert.equal(await inLine(), 1_200)
    },
  },
  {
    name: 'a hold goes with the queue or schedule that it is on: another of that name is not held',
    async run(stage) {
      const store = await stage.open()
      const { lease } = await stage.lessor(store)
      await put(store, { name: 's', timing: {} })
      await store.do(setQueue, 'q', { paused: { reason: 'r' }, actor })
      await hold(store, holdOn('schedule', 's'))
      await hold(store, holdOn('queue', 'q'))
      await turnAll(store)
      await store.do(deleteSchedule, 's')
      assert.deepEqual(await store.do(deleteQueue, 'q', { actor }), { answer: 'deleted' })
      assert.deepEqual(await store.look(listHolds), [])
      await put(store, { name: 's', timing: {}, queue: 'q' })
      await store.do(runNow, 's')
      assert.equal((await lease(1, { queue: 'q' })).length, 1)
    },
  },
  {
    name: 'a run of a held key that came in a transaction of its caller is leased after the hold, and not before',
    skip: cannotShare,
    async run(stage) {
      const store = await stage.open()
      await stage.setPolicy(store, { maxConcurrent: 9 })
      const { lease } = await stage.lessor(store)
      const id = await hold(store, holdOn('key', 'k'))
      await turnAll(store)
      assert.deepEqual(await lease(9), [])
      const own = await stage.begin()
      const [lent] = await store.enqueue([noop({ concurrencyKey: 'k' })], { transaction: own.handle })
      await own.commit()
      assert.deepEqual(await lease(9), [])
      await store.do(liftHold, id, { actor })
      await turnAll(store)
      assert.deepEqual(
        (await lease(9)).map(({ runId }) => runId),
        [lent?.id],
      )
    },
  },
]
