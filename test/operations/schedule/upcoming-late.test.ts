import { describe, expect, it } from 'vitest'
import { promptSpread } from '../../../src/core/timing/spread.ts'
import type { ScheduleInput } from '../../../src/operations/schedule/schedule-input.ts'
import { upcoming } from '../../../src/operations/schedule/upcoming.ts'
import { findRun } from '../../../src/store/reads/find-run.ts'
import { findSchedule } from '../../../src/store/reads/find-schedule.ts'
import { nextInstants } from '../../../src/store/reads/next-instants.ts'
import { putSchedule } from '../../../src/store/schedules/put-schedule.ts'
import type { ScheduleView } from '../../../src/store/views.ts'
import { atDesk, startAt, verbsAt } from '../desk.ts'

const desk = atDesk()
const { schedules } = verbsAt(() => desk().context)
const secondMs = 1_000
const minuteMs = 60 * secondMs
const target = { handler: 'report' }
const name = 'report'

/** Minutes after nine. */
const past = (minutes: number) => new Date(startAt + minutes * minuteMs).toISOString()
const minutesOf = (at: number) => (at - startAt) / minuteMs

/** What really happens: the store fires at each instant it names, and every run ends well at once. */
async function lived(count: number): Promise<[number, string][]> {
  const { store, clock, work } = bound()
  const runs: [number, string][] = []
  for (let looks = 0; runs.length < count && looks < 50; looks++) {
    const { scheduleAt } = await store.look(nextInstants)
    if (scheduleAt === null) return runs
    clock.set(Math.max(clock.now(), scheduleAt))
    for (const { id, occurrenceAt } of (await store.fireDue({ limit: 10 })).runs) {
      runs.push([minutesOf(occurrenceAt), (await store.look(findRun, id))?.source ?? ''])
    }
    await work()
  }
  return runs
}

function bound() {
  const at = desk()
  return { store: at.store, clock: at.clock, work: () => at.work() }
}

/** The next occurrences, as minutes after nine; and that a look at the schedule names the first of them too. */
async function shown(count: number): Promise<[number, string][]> {
  const found = await schedules.next(name, { count })
  expect((await schedules.explain(name)).next).toEqual(found[0] ?? null)
  return found.map(({ at, source }) => [minutesOf(at), source])
}

describe('what is overdue is shown as next only if it will run:', () => {
  const often = { cron: '*/10 * * * *' }
  const cases: [string, Omit<ScheduleInput, 'name'>, number, number[]][] = [
    ['none that missed skip leaves out', { ...often, missed: 'skip' }, 35, [40, 50, 60]],
    ['the newest alone, which is merely late', { ...often, missed: 'skip' }, 30.5, [30, 40, 50]],
    ['one that stands for all', often, 35, [30, 40, 50]],
    ['each of missed all', { ...often, missed: 'all' }, 35, [10, 20, 30, 40]],
    ['as many of missed all as may wait', { ...often, missed: 'all', queueMax: 2 }, 35, [10, 20, 40]],
    ['no more than it has runs left', { ...often, missed: 'all', maxRuns: 2 }, 35, [10, 20]],
    ['none that is later than it may be', { cron: '0 * * * *', maxLateness: '1m' }, 70, [120, 180, 240]],
    ['none that is later than its period', { ...often, endAt: past(25) }, 35, []],
    ['a grid that missed skip goes on with', { every: '10m', from: 'start', missed: 'skip' }, 35, [40, 50, 60]],
    ['a fixed delay that is put off', { every: '10m', missed: 'skip' }, 35, [45, 55, 65]],
    ['a fixed delay that is not too late for a day', { every: '10m' }, 600, [10, 610, 620]],
    ['a fixed delay that is', { every: '10m' }, 10 + 1_441, [1_461, 1_471, 1_481]],
    ['a single instant that is skipped', { at: past(10), missed: 'skip' }, 35, []],
    ['a single instant that is made up', { at: past(10) }, 35, [10]],
    ['what came before the end', { ...often, endAt: past(25) }, 28, [20]],
    ['nothing after the end', { ...often, endAt: past(25), missed: 'skip' }, 35, []],
  ]

  it.each(cases)('%s', async (_, input, downMinutes, minutes) => {
    await schedules.put({ name, target, ...input })
    desk().clock.advance(downMinutes * minuteMs)
    const next = await shown(Math.max(3, minutes.length))
    expect(next.map(([at]) => at)).toEqual(minutes)
    expect(next).toEqual(await lived(Math.max(3, minutes.length)))
  })

  it('a fast grid goes on where the engine will, not through all that it missed', async () => {
    await schedules.put({ name, target, every: '2s', from: 'start', missed: 'skip' })
    desk().clock.advance(68_500)
    const found = await schedules.next(name, { count: 3 })
    expect(found.map(({ at }) => (at - startAt) / secondMs)).toEqual([68, 70, 72])
  })

  it('a hint that expired while nobody looked does not speed up what comes after', async () => {
    await schedules.put({ name, target, cron: '0 * * * *' })
    await schedules.hint(name, { every: '10m', ttl: '15m', reason: 'r' })
    desk().clock.advance(35 * minuteMs)
    const next = await shown(3)
    expect(next.map(([, source]) => source)).toEqual(['ai-interval', 'baseline-cron', 'baseline-cron'])
    expect(next).toEqual(await lived(3))
  })

  it('a prompt that asks first is not shown as if it would run', async () => {
    const { store, clock, context } = desk()
    const spec = { name, timing: { at: startAt + 10 * minuteMs }, asksWhenMissed: true, target }
    await store.do(putSchedule, spec, { mode: 'put', actor: context.actor })
    clock.advance(10.5 * minuteMs)
    expect(await shown(3)).toEqual([[10, 'baseline-once']])
    clock.advance(minuteMs)
    expect(await shown(3)).toEqual([])
  })

  it('one that waits for its spread is not passed by, and comes when it is due', async () => {
    const { store, clock, context } = desk()
    const spec = { name, timing: { cron: '*/30 * * * *', zone: 'UTC' }, spread: promptSpread, target }
    await store.do(putSchedule, spec, { mode: 'put', actor: context.actor })
    const [first] = await schedules.next(name, { count: 1 })
    for (const at of [(first?.at ?? 0) + 1, (first?.dueAt ?? 0) - 1, (first?.dueAt ?? 0) + minuteMs]) {
      clock.set(at)
      expect((await schedules.next(name, { count: 1 }))[0]).toEqual(first)
    }
  })

  it('a run to which little time is left is shown, because no share of a catch-up makes it too late', async () => {
    await schedules.put({ name, target, every: '10m', from: 'start', missed: 'all', maxLateness: '40m' })
    desk().clock.advance(50 * minuteMs - 1)
    expect((await shown(4)).map(([at]) => at)).toEqual([10, 20, 30, 40])
    const { store, clock, work } = bound()
    await store.fireDue({ limit: 10 })
    for (let seconds = 0; seconds < 40; seconds++) {
      await work()
      clock.advance(secondMs)
    }
    const ends = await schedules.history(name)
    expect(ends.map(({ from, outcome }) => [minutesOf(from), outcome])).toEqual([
      [40, 'completed'],
      [30, 'completed'],
      [20, 'completed'],
      [10, 'completed'],
    ])
  })

  it('says that a fixed delay which is put off counts from a look that nobody has taken', async () => {
    await schedules.put({ name, target, every: '10m', missed: 'skip' })
    const [planned] = await schedules.next(name, { count: 1 })
    expect(planned?.isEstimate).toBe(false)
    desk().clock.advance(35 * minuteMs)
    const [putOff] = await schedules.next(name, { count: 1 })
    expect(putOff).toMatchObject({ at: startAt + 45 * minuteMs, isEstimate: true })
  })
})

describe('what a pause lets pass is not shown as next:', () => {
  const cases: [string, Omit<ScheduleInput, 'name'>, number, [number, string][]][] = [
    ['a single instant during it never comes', { at: past(60) }, 120, []],
    ['a single instant at its end does', { at: past(60) }, 60, [[60, 'baseline-once']]],
    ['min counts from the last that passed', { cron: '*/10 * * * *', min: '40m' }, 96, [[130, 'baseline-cron']]],
    ['max counts from its end', { every: '1h', from: 'start', max: '4h' }, 330, [[360, 'baseline-interval']]],
    ['a fixed delay that came during it comes at its end', { every: '1h' }, 120, [[120, 'baseline-interval']]],
    ['runs that passed are no runs', { cron: '5 * * * *', maxRuns: 1 }, 150, [[185, 'baseline-cron']]],
  ]

  it.each(cases)('%s', async (_, input, minutes, first) => {
    await schedules.put({ name, target, ...input })
    await schedules.pause(name, { for: `${minutes}m` })
    const next = await shown(3)
    expect(next.slice(0, 1).map(([at]) => at)).toEqual(first.map(([at]) => at))
    expect(next).toEqual(await lived(3))
  })

  it('a fixed delay that was to begin at once begins as the engine begins it', async () => {
    await schedules.put({ name, target, every: '1h', startNow: true })
    await schedules.pause(name, { for: '3h' })
    expect(await shown(3)).toEqual(await lived(3))
  })

  it('asked again during it, after it without a look, or with what was overdue when it began', async () => {
    const { clock } = desk()
    await schedules.put({ name, target, cron: '*/10 * * * *', missed: 'all' })
    clock.advance(25 * minuteMs)
    await schedules.pause(name, { for: '30m' })
    for (const minutes of [0, 20, 25]) {
      clock.advance(minutes * minuteMs)
      expect((await shown(2)).map(([at]) => at)).toEqual([60, 70])
    }
    expect(await shown(2)).toEqual(await lived(2))
  })
})

describe('while a pause holds a run back,', () => {
  it('a fixed delay counts from the end of that run, which comes when the pause ends', async () => {
    const { store, work } = bound()
    await schedules.put({ name, target, every: '1h', startNow: true })
    await store.fireDue({ limit: 1 })
    await schedules.pause(name, { for: '3h' })
    const next = await schedules.next(name, { count: 2 })
    expect(next.map(({ at, isEstimate }) => [minutesOf(at), isEstimate])).toEqual([
      [240, true],
      [300, true],
    ])
    expect((await schedules.explain(name)).next).toEqual(next[0])
    await work()
    expect((await lived(2)).map(([at]) => at)).toEqual([240, 300])
  })

  it('or from the look that finds it too late', async () => {
    const { store } = bound()
    await schedules.put({ name, target, every: '1h', startNow: true, maxLateness: '2h' })
    await store.fireDue({ limit: 1 })
    await schedules.pause(name, { for: '3h' })
    expect(await shown(2)).toEqual(await lived(2))
  })

  it('an occurrence at its very end is left out, because that run is still live then', async () => {
    const { store, clock } = bound()
    await schedules.put({ name, target, cron: '0 * * * *' })
    clock.advance(60 * minuteMs)
    await store.fireDue({ limit: 1 })
    await schedules.pause(name, { for: '2h' })
    expect((await shown(2)).map(([at]) => at)).toEqual([240, 300])
    expect(await shown(2)).toEqual(await lived(2))
  })

  it('a run that is still at work ends now at the earliest', async () => {
    const { store, clock } = bound()
    await schedules.put({ name, target, every: '1h', startNow: true })
    await store.fireDue({ limit: 1 })
    await desk().lease()
    clock.advance(30 * minuteMs)
    await schedules.pause(name, { for: '10m' })
    const [first] = await schedules.next(name, { count: 1 })
    expect(first).toMatchObject({ at: startAt + 90 * minuteMs, isEstimate: true })
  })
})

describe('a hint', () => {
  it('that expires at the instant it asks for no longer counts then, and is not shown', async () => {
    await schedules.put({ name, target, cron: '0 12 * * *', zone: 'UTC' })
    await schedules.hint(name, { every: '60m', reason: 'r' })
    expect(await shown(2)).toEqual([
      [180, 'baseline-cron'],
      [1_620, 'baseline-cron'],
    ])
    expect(await shown(2)).toEqual(await lived(2))
  })

  it('that lives a moment longer counts', async () => {
    await schedules.put({ name, target, cron: '0 12 * * *', zone: 'UTC' })
    await schedules.hint(name, { every: '60m', ttlMs: 60 * minuteMs + 1, reason: 'r' })
    expect(await shown(2)).toEqual([
      [60, 'ai-interval'],
      [180, 'baseline-cron'],
    ])
    expect(await shown(2)).toEqual(await lived(2))
  })
})

describe('while a run is at work', () => {
  it('what counts from its end is an estimate, even where something else is planned meanwhile', async () => {
    const { store, clock } = desk()
    await schedules.put({ name, target, every: '3h', from: 'start', max: '40m' })
    clock.advance(40 * minuteMs)
    await store.fireDue({ limit: 1 })
    clock.advance(6 * minuteMs)
    expect((await schedules.get(name)).nextRunAt).toBe(startAt + 180 * minuteMs)
    const [first] = await schedules.next(name, { count: 1 })
    expect(first).toMatchObject({ at: startAt + 86 * minuteMs, source: 'clamped-max', isEstimate: true })
  })

  it('it is taken to end well, so that failures before it put nothing off', async () => {
    const { store, clock } = desk()
    await schedules.put({ name, target, every: '10m', startNow: true })
    await store.fireDue({ limit: 1 })
    const outcome = { kind: 'failed', reason: 'no disk', retryable: false } as const
    const ends = (await desk().lease()).map(({ runId, fence, scheduleId }) => ({ runId, fence, scheduleId, outcome }))
    await store.settle(ends)
    clock.advance(20 * minuteMs)
    await store.fireDue({ limit: 1 })
    expect((await schedules.get(name)).failureCount).toBe(1)
    const [first] = await schedules.next(name, { count: 1 })
    expect(first?.at).toBe(startAt + 30 * minuteMs)
  })
})

it('nothing comes of a schedule that was deleted', async () => {
  await schedules.put({ name, target, cron: '0 * * * *' })
  const { id } = await schedules.get(name)
  await schedules.delete(name)
  expect(await schedules.next(id)).toEqual([])
})

it('a chain that is broken is shown as the repair will mend it', async () => {
  await schedules.put({ name, target, cron: '0 * * * *' })
  const { store, clock } = bound()
  const whole = await store.look(findSchedule, name)
  if (whole === null) expect.unreachable('It is there.')
  const broken = { ...whole, nextRunAt: null, nextDueAt: null, nextDecision: null, wakeAt: null }
  const at = (schedule: ScheduleView) => upcoming({ now: clock.now(), schedule, count: 2 }).map((run) => run.at)
  expect(at(broken)).toEqual(at(whole))
})
