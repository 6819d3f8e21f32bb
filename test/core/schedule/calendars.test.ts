import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cron } from '../../../src/core/cron/cron.ts'
import type { NamedCalendar } from '../../../src/core/opening/closings.ts'
import type { OpeningHours } from '../../../src/core/opening/opening.ts'
import { openingOfAll } from '../../../src/core/opening/opening-of-all.ts'
import { afterEnds } from '../../../src/core/schedule/after-ends.ts'
import { afterFire } from '../../../src/core/schedule/after-fire.ts'
import { planned } from '../../../src/core/schedule/next-plan.ts'
import { type Passed, passedBy } from '../../../src/core/schedule/passed-by.ts'
import { freshState, type ScheduleState } from '../../../src/core/schedule/state.ts'
import { takeTurn } from '../../../src/core/schedule/turn.ts'
import type { Timing } from '../../../src/core/timing/timing.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
/** A Monday. */
const start = Date.UTC(2026, 10, 16, 7, 30)

const named = (calendar: OpeningHours, isInverted = false): NamedCalendar => ({
  name: 'c',
  version: 1,
  isInverted,
  calendar,
})
const office = named({ zone: 'UTC', open: ['mon-fri 08:00-18:00'], closedDates: ['2026-11-18'] })
const noon = named({ zone: 'Europe/Paris', open: ['mon-sun 12:00-13:00'] }, true)
const shift = named({ zone: 'America/New_York', open: ['mon-sun 22:00-06:00', 'tue 12:00-13:00'] })

/** What became of a schedule whose worker looked only at these instants. */
function play(timing: Timing, calendars: NamedCalendar[], looks: readonly number[], rest = {}) {
  const fresh = { ...freshState(1, { name: 's', timing, ...rest }, start), calendars }
  let row: ScheduleState = planned(fresh, { now: start, lastRunId: null })
  const fired: number[] = []
  const passed: Passed[] = []
  for (const now of looks) {
    if (row.wakeAt === null || row.wakeAt > now) continue
    const turn = takeTurn(row, now, [])
    const made = turn.fires.map(({ plannedAt }, index) => ({ id: fired.length + index + 1, occurrenceAt: plannedAt }))
    fired.push(...turn.fires.map(({ plannedAt }) => plannedAt))
    passed.push(...turn.passed, ...turn.skips)
    row = afterFire(turn, now, made)
    const counted = new Set(made.map(({ id }) => id))
    const ends = made.map(({ id }) => ({ runId: id, status: 'completed' as const }))
    if (made.length > 0) row = afterEnds(row, now, { ends, counted, live: [] })
  }
  return { row, fired, passed }
}

const isOpen = (at: number, calendars: NamedCalendar[]) => openingOfAll({ at, calendars }).open
const hourly = Array.from({ length: 14 * 24 }, (_, index) => start + index * hour)

describe('a schedule that follows calendars', () => {
  it('fires only in open hours, and each instant that they pass over has one end in the ledger', () => {
    const { fired, passed } = play({ cron: '0 * * * *', zone: 'UTC' }, [office], hourly)
    expect(fired.slice(0, 11).map((at) => (at - start) / hour)).toEqual([
      0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 24.5,
    ])
    expect(passed[0]).toMatchObject({
      outcome: 'calendar',
      count: 14,
      from: start + 10.5 * hour,
      to: start + 23.5 * hour,
    })
    // Tuesday evening to Thursday morning: Wednesday is a holiday.
    expect(passed[1]).toMatchObject({ outcome: 'calendar', count: 14 + 24 })
  })

  it('whatever the calendars, the looks and the missed rule, every nominal instant ends once, and none fires in closed hours', () => {
    const some = fc.subarray([office, noon, shift], { minLength: 1 })
    const crons = fc.constantFrom('0 * * * *', '*/7 * * * *', '30 3,11 * * *', '15 8 * * 1-5', '59 17 * * *')
    const gaps = fc.array(fc.constantFrom(minute, 20 * minute, hour, 9 * hour, 50 * hour), {
      minLength: 5,
      maxLength: 60,
    })
    const missed = fc.constantFrom('once' as const, 'skip' as const, 'all' as const)
    fc.assert(
      fc.property(some, crons, gaps, missed, (calendars, expression, between, rule) => {
        let at = start
        const looks = between.map((gap) => (at += gap))
        const { fired, passed, row } = play({ cron: expression, zone: 'UTC' }, calendars, looks, { missed: rule })
        const until = row.lastPlannedAt ?? start
        const grid = cron(expression, 'UTC')
        const ends = new Map<number, string[]>()
        for (let next = grid.next(start); next !== null && next <= until; next = grid.next(next)) ends.set(next, [])
        for (const one of fired) ends.get(one)?.push('fired')
        for (const { from, to, count, outcome } of passed) {
          const own = [...ends.keys()].filter((instant) => from <= instant && instant <= to)
          expect(own.length).toBe(count)
          for (const instant of own) ends.get(instant)?.push(outcome)
        }
        for (const [instant, words] of ends) {
          expect(words, new Date(instant).toISOString()).toHaveLength(1)
          expect(words[0] === 'calendar', new Date(instant).toISOString()).toBe(!isOpen(instant, calendars))
        }
      }),
      { numRuns: 150 },
    )
  })

  it('an interval goes to the opening, and from there on counts from its ends', () => {
    const { fired } = play(
      { everyMs: 3 * hour },
      [office],
      Array.from({ length: 7 * 96 }, (_, index) => start + index * 15 * minute),
    )
    expect(fired.every((at) => isOpen(at, [office]))).toBe(true)
    expect(fired.slice(0, 4).map((at) => (at - start) / hour)).toEqual([3, 6, 9, 24.5])
  })

  it('a single instant in closed hours goes to the opening', () => {
    const { fired } = play({ at: start + 12 * hour }, [office], hourly.concat(start + 24.5 * hour))
    expect(fired).toEqual([start + 24.5 * hour])
  })

  it('an edit in closed hours ends what the calendar passed before it, and a pause what it passes itself', () => {
    const calendars = [office]
    const { row } = play({ cron: '0 * * * *', zone: 'UTC' }, calendars, hourly.slice(0, 12))
    const night = start + 15 * hour
    expect(passedBy(row, { by: night, now: night, outcome: 'edited' }).entries).toMatchObject([
      { outcome: 'calendar', count: 5 },
    ])
    const paused = planned(
      { ...row, pausedUntil: start + 30 * hour, pausedReason: 'r' },
      { now: night, lastRunId: null },
    )
    const later = start + 20 * hour
    expect(passedBy(paused, { by: later, now: later, outcome: 'paused' }).entries).toMatchObject([
      { outcome: 'calendar', count: 5 },
      { outcome: 'paused', count: 5 },
    ])
  })

  it('asked again in closed hours it does not forget the instants that were passed', () => {
    const { row } = play({ cron: '0 * * * *', zone: 'UTC' }, [office], hourly.slice(0, 12))
    const night = start + 15 * hour
    const always = planned({ ...row, calendars: null }, { now: night, lastRunId: null })
    expect(always.nextRunAt).toBe(start + 15.5 * hour)
    const turn = takeTurn(always, start + 15.5 * hour, [])
    expect(turn.passed).toMatchObject([{ outcome: 'calendar', count: 5, to: start + 14.5 * hour }])
    expect(turn.fires.map(({ plannedAt }) => plannedAt)).toEqual([start + 15.5 * hour])
  })

  it('never falls due for instants that are never open, and is asked again after an edit', () => {
    const row = {
      ...freshState(1, { name: 's', timing: { cron: '0 3 * * *', zone: 'UTC' } }, start),
      calendars: [office],
    }
    const stopped = planned(row, { now: start, lastRunId: null })
    expect(stopped).toMatchObject({ nextRunAt: null, nextDecision: { source: 'none' } })
    expect(planned({ ...stopped, calendars: null }, { now: start, lastRunId: null }).nextRunAt).toBe(
      start - 4.5 * hour + day,
    )
  })
})
