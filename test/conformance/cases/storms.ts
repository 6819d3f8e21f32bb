import assert from 'node:assert/strict'
import type { Outcome } from '../../../src/core/run/verdict.ts'
import type { ScheduleSpec } from '../../../src/core/schedule/schedule-spec.ts'
import type { Lease, Store } from '../../../src/store/port.ts'
import { listRuns } from '../../../src/store/reads/list-runs.ts'
import { cancelRun } from '../../../src/store/runs/cancel-run.ts'
import { deleteSchedule } from '../../../src/store/schedules/delete-schedule.ts'
import { pauseSchedule, resumeSchedule } from '../../../src/store/schedules/pause-schedule.ts'
import { runNow } from '../../../src/store/schedules/run-now.ts'
import { assertChainsWhole, assertNoMinuteMissing } from '../chains.ts'
import { type Case, type Stage, seeded } from '../place.ts'
import { assertEachRunStandsOnce, count } from '../record.ts'
import { put } from './schedules.ts'

const second = 1_000
const minute = 60_000
const hour = 60 * minute

type Random = (below: number) => number

export const storms: Case[] = [
  {
    name: 'laws 1, 2 and 11: fire, edit, pause, resume, delete, run-now, cancel and settle raced: every chain stays whole',
    run: storm,
  },
  {
    name: 'a pause raced with leases: once it has answered nothing of the schedule starts until it is resumed',
    run: racePause,
  },
]

const cron = { cron: '* * * * *', zone: 'UTC' } as const

/** Those named `steady` keep their timing for as long as they live, so that each of their minutes can be counted. */
const specs: readonly (Pick<ScheduleSpec, 'name' | 'timing'> & Partial<ScheduleSpec>)[] = [
  { name: 'steady skip', timing: cron },
  { name: 'steady queue', timing: cron, overlap: 'queue', queueMax: 2 },
  { name: 'steady allow', timing: cron, overlap: 'allow', concurrencyKey: 'shared' },
  { name: 'steady cancel', timing: cron, overlap: 'cancel', onExhausted: 'park' },
  { name: 'steady all', timing: cron, missed: 'all' },
  { name: 'delay', timing: { everyMs: minute } },
  { name: 'delay keyed', timing: { everyMs: 30 * second }, concurrencyKey: 'shared' },
  { name: 'grid', timing: { everyMs: minute, from: 'start' }, overlap: 'allow' },
]

interface Storm {
  readonly stage: Stage
  readonly store: Store
  readonly random: Random
}

type Actor = (storm: Storm) => Promise<() => Promise<unknown>>

async function storm(stage: Stage): Promise<void> {
  const actors: Actor[] = [firer, firer, worker, worker, editor, pauser, deleter, meddler]
  const stores = await stage.openMany(actors.length)
  const [first] = stores as [Store]
  await stage.setPolicy(first, { maxConcurrent: 8, maxConcurrentPerKey: 1, maxAttempts: 2 })
  for (const spec of specs) await put(first, spec)
  const turnsMax = 40
  await Promise.all(
    actors.map(async (actor, index) => {
      const act = await actor({ stage, store: stores[index] as Store, random: seeded(900 + index) })
      for (let turn = 0; turn < turnsMax; turn++) {
        await act()
        await new Promise((resolve) => setImmediate(resolve))
      }
    }),
  )
  await assertChainsWhole(stage, first)
  await assertEachRunStandsOnce(stage)
  assert.ok((await count(stage, 'belfry.run')) > 20, 'hardly anything was fired')

  // Time goes on, and what was left waiting ends: the chains must hold through that as well.
  for (const { name } of specs) await first.do(resumeSchedule, name)
  stage.clock.advance(2 * hour)
  await first.fireDue({ limit: 100 })
  await first.reclaim({ limit: 1_000 })
  await assertChainsWhole(stage, first)
  await assertNoMinuteMissing(stage, 'steady%')
}

const firer: Actor = async ({ stage, store, random }) => {
  return async () => {
    stage.clock.advance(random(25) * second)
    await store.fireDue({ limit: 1 + random(5) })
  }
}

const outcomes: readonly Outcome[] = [
  { kind: 'success' },
  { kind: 'success' },
  { kind: 'failed', reason: 'broken' },
  { kind: 'failed', reason: 'broken', retryable: false },
  { kind: 'released' },
  { kind: 'cancelled' },
  { kind: 'skipped', reason: 'guard' },
]

const worker: Actor = async ({ stage, store, random }) => {
  const { lease } = await stage.lessor(store, { leaseMs: 40 * second })
  const held: Lease[] = []
  return async () => {
    held.push(...(await lease(3)))
    const ending = held.splice(0, random(4))
    // A holder may forget which schedule its lease is of, or forget the lease.
    const told = ending.filter(() => random(6) > 0)
    await store.settle(
      told.map(({ runId, fence, scheduleId }) => ({
        runId,
        fence,
        ...(random(3) > 0 && { scheduleId }),
        outcome: outcomes[random(outcomes.length)] as Outcome,
      })),
    )
    if (random(4) === 0) await store.reclaim({ limit: 5 })
  }
}

const editor: Actor = async ({ store, random }) => {
  return async () => {
    const spec = anyOf(specs, random)
    const edited = { ...spec, payload: random(1_000) }
    if (spec.timing.everyMs === undefined) return put(store, edited)
    return put(store, { ...edited, timing: { ...spec.timing, everyMs: (1 + random(3)) * 20 * second } })
  }
}

const pauser: Actor = async ({ stage, store, random }) => {
  return async () => {
    const { name } = anyOf(specs, random)
    const until = stage.clock.now() + random(3) * minute + 5 * minute
    switch (random(3)) {
      case 0:
        return store.do(pauseSchedule, name, { reason: 'for good' })
      case 1:
        return store.do(pauseSchedule, name, { reason: 'for a while', until }).catch((error) => {
          // Whoever waits for its turn while the firers move time on is refused, rightly.
          if (stage.clock.now() < until) throw error
        })
      default:
        return store.do(resumeSchedule, name)
    }
  }
}

const deleter: Actor = async ({ store, random }) => {
  return async () => {
    const spec = anyOf(specs, random)
    if (random(2) === 0) return
    await store.do(deleteSchedule, spec.name, { cancelLeased: random(2) === 0 })
    await put(store, spec)
  }
}

const meddler: Actor = async ({ store, random }) => {
  return async () => {
    await store.do(runNow, anyOf(specs, random).name)
    const { runs } = await store.look(listRuns, { limit: 20 })
    if (runs.length > 0) await store.do(cancelRun, anyOf(runs, random).id, 'meddled')
  }
}

function anyOf<Item>(items: readonly Item[], random: Random): Item {
  return items[random(items.length)] as Item
}

const heldMax = 100

/** Runs come back as fast as they are leased, from waiting and from the line, while the schedule is paused and resumed. */
async function racePause(stage: Stage): Promise<void> {
  const [pausing, ...leasing] = (await stage.openMany(4)) as [Store, ...Store[]]
  await stage.setPolicy(pausing, { maxConcurrent: 10, maxAttempts: 1_000, backoffBaseMs: 0, backoffCapMs: 0 })
  await put(pausing, { name: 's', timing: cron, overlap: 'allow', missed: 'all', maxLatenessMs: 1_000 * hour })
  stage.clock.advance(heldMax * minute)
  assert.equal((await pausing.fireDue({ limit: 1 })).runs.length, heldMax)
  stage.clock.advance(30 * second)

  // Each pause is an object of its own, from its answer until its resumption is asked for.
  const race: { paused: object | undefined; over: boolean; started: number } = {
    paused: undefined,
    over: false,
    started: 0,
  }
  const leaser = async (store: Store) => {
    const { lease } = await stage.lessor(store)
    for (let turn = 0; !race.over; turn++) {
      const pausedBefore = race.paused
      const held = await lease(3)
      race.started += held.length
      if (pausedBefore !== undefined && pausedBefore === race.paused) assert.deepEqual(held, [], 'started while paused')
      await new Promise((resolve) => setImmediate(resolve))
      const outcome = { kind: 'failed', reason: 'again' } as const
      // Half of them come back without a word about the schedule they are of.
      await store.settle(
        held.map(({ runId, fence, scheduleId }) => ({ runId, fence, outcome, ...(turn % 2 === 0 && { scheduleId }) })),
      )
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const pauser = async () => {
    for (let turn = 0; turn < 10 && !race.over; turn++) {
      const startedBefore = race.started
      while (race.started < startedBefore + 5 && !race.over) await new Promise((resolve) => setImmediate(resolve))
      await pausing.do(pauseSchedule, 's', { reason: 'raced' })
      race.paused = {}
      while (!race.over && (await count(stage, 'belfry.lease')) > 0)
        await new Promise((resolve) => setImmediate(resolve))
      assert.equal(await count(stage, 'belfry.ready'), 0, 'a run of a paused schedule stands in line')
      assert.equal(await count(stage, `belfry.aside where kind <> 'held'`), 0)
      race.paused = undefined
      assert.equal(await pausing.do(resumeSchedule, 's'), 'resumed')
    }
  }
  const toTheEnd = async (racing: Promise<void>) => {
    await racing.finally(() => {
      race.over = true
    })
  }
  await Promise.all([pauser(), ...leasing.map(leaser)].map(toTheEnd))
  const live = await pausing.look(listRuns, { limit: 1_000, status: 'ready' })
  assert.equal(live.runs.length, heldMax, 'a run was lost between pause and resumption')
  await assertChainsWhole(stage, pausing)
  await assertEachRunStandsOnce(stage)
}
