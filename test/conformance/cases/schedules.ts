import assert from 'node:assert/strict'
import type { Outcome } from '../../../src/core/run/verdict.ts'
import type { ScheduleSpec } from '../../../src/core/schedule/schedule-spec.ts'
import { backfillSchedule } from '../../../src/parts/backfill/backfill-schedule.ts'
import type { Lease, Store } from '../../../src/store/port.ts'
import { findSchedule } from '../../../src/store/reads/find-schedule.ts'
import { listRuns } from '../../../src/store/reads/list-runs.ts'
import { cancelRun } from '../../../src/store/runs/cancel-run.ts'
import { resetRun } from '../../../src/store/runs/reset-run.ts'
import { deleteSchedule } from '../../../src/store/schedules/delete-schedule.ts'
import { pauseSchedule, resumeSchedule } from '../../../src/store/schedules/pause-schedule.ts'
import { putSchedule } from '../../../src/store/schedules/put-schedule.ts'
import { runNow } from '../../../src/store/schedules/run-now.ts'
import { setHint } from '../../../src/store/schedules/set-hint.ts'
import { clockNow } from '../../../src/store/statement.ts'
import { assertChainsWhole } from '../chains.ts'
import { actor, type Case, cannotShare, type Stage } from '../place.ts'
import { assertEachRunStandsOnce, count, statusOf } from '../record.ts'

const second = 1_000
const minute = 60_000
const hour = 60 * minute

export const schedules: Case[] = [
  {
    name: 'law 1: four callers fire 500 due schedules at once: each occurrence becomes one run',
    run: raceFire,
  },
  {
    name: 'law 1: a backfill that four callers ask for at once makes each instant once, and moves nothing of the schedule',
    async run(stage) {
      const stores = await stage.openMany(4)
      const [store] = stores as [Store]
      await put(store, { name: 'hourly', timing: { cron: '0 * * * *', zone: 'UTC' }, overlap: 'queue' })
      const before = await store.look(findSchedule, 'hourly')
      const to = stage.clock.now()
      const answers = await Promise.all(
        stores.map((one) => one.do(backfillSchedule, 'hourly', { from: to - 48 * hour, to })),
      )
      const made = answers.flatMap((answer) => (answer.answer === 'made' ? answer.made.map(({ at }) => at) : []))
      assert.deepEqual([made.length, new Set(made).size], [48, 48], 'an instant was made twice, or not at all')
      assert.equal(await count(stage, 'belfry.run'), 48)
      assert.deepEqual(await store.look(findSchedule, 'hourly'), before, 'the schedule was moved')
      await assertChainsWhole(stage, store)
      await assertEachRunStandsOnce(stage)
    },
  },
  {
    name: 'law 2: a fixed delay waits for its run and is planned anew when that ends, however it ends',
    async run(stage) {
      const store = await stage.open()
      await stage.setPolicy(store, { maxAttempts: 1 })
      const { lease } = await stage.lessor(store, { leaseMs: second })
      const endBy = (outcome: Outcome) => async () => {
        await store.settle((await lease(1)).map((one) => ({ ...one, outcome })))
      }
      const comeTooLate = async () => {
        stage.clock.advance(2 * hour)
        assert.deepEqual(await lease(1), [])
      }
      const lose = async () => {
        assert.equal((await lease(1)).length, 1)
        stage.clock.advance(second)
        assert.equal((await store.reclaim({ limit: 10 })).length, 1)
      }
      const ways: [string, Partial<ScheduleSpec>, (id: string) => Promise<unknown>][] = [
        ['completed', {}, endBy({ kind: 'success' })],
        ['failed', {}, endBy({ kind: 'failed', reason: 'broken' })],
        ['parked', { onExhausted: 'park' }, endBy({ kind: 'failed', reason: 'broken' })],
        ['parked', { repeatable: false }, endBy({ kind: 'forced-stop' })],
        ['cancelled', {}, endBy({ kind: 'cancelled' })],
        ['cancelled', {}, (id) => store.do(cancelRun, id, 'no')],
        ['skipped', {}, endBy({ kind: 'skipped', reason: 'guard' })],
        ['skipped', { maxLatenessMs: hour }, comeTooLate],
        ['failed', {}, lose],
      ]
      for (const [index, [status, extra, end]] of ways.entries()) {
        const name = `way ${index}`
        await put(store, { name, timing: { everyMs: hour }, startNow: true, ...extra })
        const [fired, ...others] = (await store.fireDue({ limit: 10 })).runs
        assert.ok(fired !== undefined && others.length === 0, `${name} was not the only one to fire`)
        const waiting = await store.look(findSchedule, name)
        assert.deepEqual([waiting?.nextRunAt, waiting?.waitsFor, waiting?.wakeAt], [null, fired.id, null])
        await end(fired.id)
        assert.equal(await statusOf(store, fired.id), status)
        const after = await store.look(findSchedule, name)
        assert.equal(after?.waitsFor, null, `${name} still waits for a run that ended ${status}`)
        assert.ok((after?.nextRunAt ?? 0) >= stage.clock.now() + hour, `${name} has no next run after ${status}`)
        await store.do(deleteSchedule, name)
      }
      await assertChainsWhole(stage, store)
    },
  },
  {
    name: 'law 8: whatever moves a schedule earlier takes effect at once: an edit, a hint, a resumption, a shorter pause',
    async run(stage) {
      const store = await stage.open()
      const nextOf = async (name: string) => (await store.look(findSchedule, name))?.nextRunAt
      const now = stage.clock.now()
      await put(store, { name: 'edited', timing: { cron: '0 0 1 1 *', zone: 'UTC' } })
      await put(store, { name: 'edited', timing: { cron: '* * * * *', zone: 'UTC' } })
      assert.equal(await nextOf('edited'), now + minute)
      await put(store, { name: 'hinted', timing: { everyMs: 100 * hour } })
      await store.do(setHint, 'hinted', {
        kind: 'oneshot',
        at: now + second,
        expiresAt: now + hour,
        reason: 'r',
        author: 'a',
      })
      assert.equal(await nextOf('hinted'), now + second)

      await put(store, { name: 'waiting', timing: { everyMs: hour }, startNow: true, overlap: 'allow' })
      await store.fireDue({ limit: 10 })
      assert.equal(await nextOf('waiting'), null)
      await store.do(setHint, 'waiting', {
        kind: 'oneshot',
        at: now + second,
        expiresAt: now + hour,
        reason: 'r',
        author: 'a',
      })
      assert.equal(await nextOf('waiting'), now + second, 'a hint waited for the run of a fixed delay')

      await put(store, { name: 'paused', timing: { cron: '* * * * *', zone: 'UTC' } })
      await store.do(pauseSchedule, 'paused', { reason: 'for good' })
      assert.equal(await nextOf('paused'), null)
      await store.do(resumeSchedule, 'paused')
      assert.equal(await nextOf('paused'), now + minute)
      await store.do(pauseSchedule, 'paused', { until: now + hour, reason: 'long' })
      await store.do(pauseSchedule, 'paused', { until: now + 90 * second, reason: 'short' })
      stage.clock.advance(2 * minute)
      const fired = (await store.fireDue({ limit: 10 })).runs.filter(({ schedule }) => schedule === 'paused')
      assert.deepEqual(
        fired.map(({ occurrenceAt }) => occurrenceAt),
        [now + 2 * minute],
      )
      await assertChainsWhole(stage, store)
    },
  },
  {
    name: 'law 11: after a delete nothing of the schedule starts or starts again, and what its leased runs do moves nothing',
    async run(stage) {
      const store = await stage.open()
      const { lease } = await stage.lessor(store)
      const spec = { name: 's', timing: { everyMs: hour }, startNow: true, overlap: 'allow' } as const
      await put(store, spec)
      for (const outcome of [
        { kind: 'failed', reason: 'once' },
        { kind: 'released' },
        { kind: 'forced-stop' },
        { kind: 'success' },
      ] as const) {
        await store.fireDue({ limit: 10 })
        const held = await lease(10)
        assert.equal(held.length, 1)
        const before = (await store.look(findSchedule, 's')) ?? assert.fail('the schedule is gone')
        await store.do(runNow, 's')
        assert.equal(await store.do(deleteSchedule, 's'), 'deleted')
        assert.equal(await store.look(findSchedule, 's'), null)
        const deleted = await store.look(findSchedule, before.id)
        await store.settle(held.map((one) => ({ ...one, outcome })))
        stage.clock.advance(minute)
        assert.deepEqual(await lease(10), [], `a run of a deleted schedule was started again after ${outcome.kind}`)
        assert.deepEqual(
          await store.look(findSchedule, before.id),
          deleted,
          'the end of a run moved a deleted schedule',
        )
        await assertChainsWhole(stage, store)
        await put(store, spec)
      }
      await bringBack(stage, store, lease)
    },
  },
  {
    name: 'laws 2 and 14: processes that are killed between fire and settle, at any statement, leave every chain whole',
    skip: cannotShare,
    run: killFirers,
  },
]

export async function put(store: Store, spec: Partial<ScheduleSpec> & Pick<ScheduleSpec, 'name' | 'timing'>) {
  return store.do(putSchedule, { target: { handler: 'noop' }, ...spec }, { mode: 'put', actor })
}

/** What a person brings back after the delete is work of its own again, with a whole budget. */
async function bringBack(stage: Stage, store: Store, lease: (limit: number) => Promise<Lease[]>): Promise<void> {
  await store.do(runNow, 's')
  const fail = async (retryable: boolean) => {
    const outcome = { kind: 'failed', reason: 'x', retryable } as const
    await store.settle((await lease(1)).map((one) => ({ ...one, outcome })))
  }
  await stage.setPolicy(store, { onExhausted: 'park' })
  await fail(false)
  await store.do(deleteSchedule, 's')
  const [parked] = (await store.look(listRuns, { limit: 1, status: 'parked' })).runs
  assert.equal(await store.do(resetRun, parked?.id ?? ''), 'ready')
  await fail(true)
  assert.equal(await statusOf(store, parked?.id ?? ''), 'ready')
}

const schedulesMax = 500

async function raceFire(stage: Stage): Promise<void> {
  const stores = await stage.openMany(4)
  const [store] = stores as [Store]
  await put(store, { name: 's', timing: { cron: '* * * * *', zone: 'UTC' }, overlap: 'allow', missed: 'all' })
  await copySchedule(stage, schedulesMax - 1)
  const startedAt = stage.clock.now()
  stage.clock.advance(2 * minute)
  const fired: { schedule: string; occurrenceAt: number }[] = []
  const caller = async (own: Store) => {
    for (let seen = 1; seen > 0; ) {
      const answer = await own.fireDue({ limit: 20 })
      seen = answer.schedules
      fired.push(...answer.runs)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  await Promise.all(stores.map(caller))
  // Whoever found nothing may have found it locked by another; now nobody is left who could hold it.
  fired.push(...(await store.fireDue({ limit: schedulesMax })).runs)

  const told = fired.map(({ schedule, occurrenceAt }) => `${schedule} ${occurrenceAt}`)
  assert.equal(told.length, 2 * schedulesMax)
  assert.equal(new Set(told).size, told.length, 'an occurrence was fired twice')
  for (const table of ['run', 'ledger']) assert.equal(await count(stage, `belfry.${table}`), told.length)
  // Of each schedule the first of the two was missed, and many of these wait for their share of the catch-up.
  assert.equal((await count(stage, 'belfry.ready')) + (await count(stage, 'belfry.aside')), told.length)
  const next = await stage.sql('select distinct next_run_at, runs_count from belfry.schedule')
  assert.deepEqual(next, [{ next_run_at: startedAt + 3 * minute, runs_count: 2 }])
}

/** Hundreds of schedules like the one there is, which would take seconds to put one by one. */
async function copySchedule(stage: Stage, copies: number): Promise<void> {
  await stage.sql(`insert into belfry.schedule (id, ns, name, spec, version, queue_id, hints, anchor_at, grid_anchor_at,
      next_run_at, next_due_at, next_decision, wake_at, timed_at, created_at, updated_at)
    with recursive n (i) as (select 1 union all select i + 1 from n where i < ${copies})
    select s.id * 100000 + i, s.ns, s.name || i, s.spec, s.version, s.queue_id, s.hints, s.anchor_at, s.grid_anchor_at,
      s.next_run_at, s.next_due_at, s.next_decision, s.wake_at, s.timed_at, s.created_at, s.updated_at
    from belfry.schedule s cross join n`)
}

/**
 * Turns of a process that opens, fires and leases: after its runs were written, listed, put in line, and entered in the
 * ledger, before the commit of all that, and in the middle of the lease.
 */
const deaths = [83, 90, 100, 111, 118, 150]

async function killFirers(stage: Stage): Promise<void> {
  const own = await stage.openWithOwnClock()
  await stage.setPolicy(own, { maxConcurrent: 100, maxAttempts: 50 })
  const names = Array.from({ length: 6 }, (_, index) => `s${index}`)
  for (const name of names) await put(own, { name, timing: { everyMs: hour }, startNow: true })
  // One after the other, or they would be in each other's way and come to other turns.
  for (const dieAt of deaths) {
    const child = stage.startChild({ task: 'lease-and-hold', limit: 3, leaseMs: minute, fires: true, dieAt })
    assert.equal(await Promise.race([child.gone, child.said]), null, `turn ${dieAt} was never reached`)
  }
  const holding = stage.startChild({ task: 'lease-and-hold', limit: 100, leaseMs: minute, fires: true })
  await holding.said
  await holding.kill()

  stage.clock.set((await own.look(clockNow)) + 2 * minute)
  const store = await stage.open()
  await store.fireDue({ limit: 100 })
  await assertChainsWhole(stage, store)
  await assertEachRunStandsOnce(stage)
  assert.equal(await count(stage, 'belfry.run'), names.length, 'each schedule was due once')
  await store.reclaim({ limit: 100 })
  stage.clock.advance(2 * minute)
  const { lease } = await stage.lessor(store)
  const held = await lease(100)
  assert.equal(held.length, names.length, 'a killed process took work along')
  await store.settle(held.map((one: Lease) => ({ ...one, outcome: { kind: 'success' } })))
  for (const name of names) {
    assert.equal((await store.look(findSchedule, name))?.nextRunAt, stage.clock.now() + hour)
  }
}
