import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cron } from '../../src/core/cron/cron.ts'
import {
  type GovernedSchedule,
  type GovernorInput,
  type GovernorState,
  type NextRun,
  nextRun,
} from '../../src/core/schedule/governor.ts'
import type { Timing } from '../../src/core/timing/timing.ts'
import { expectMatch, vectors } from '../vectors.ts'

const now = Date.UTC(2026, 2, 4, 12, 0, 0)
const minuteMs = 60_000
const hourMs = 60 * minuteMs
const hourly: Timing = { cron: '0 * * * *', zone: 'UTC' }
const everyMinute: Timing = { everyMs: minuteMs }
const everyHourOnGrid: Timing = { everyMs: hourMs, from: 'start' }

const ask = (schedule: GovernedSchedule, state: GovernorState = {}, at = now) => nextRun({ now: at, schedule, state })
const until = (expiresAt: number) => ({ expiresAt })
const nearby = (spanMs: number) => fc.integer({ min: now - spanMs, max: now + spanMs })
const maybe = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined })

const timings: fc.Arbitrary<Timing> = fc.oneof(
  fc.record({
    cron: fc.constantFrom('* * * * *', '*/7 * * * *', '0 9 * * 1-5', '30 2 * * *'),
    zone: fc.constantFrom('UTC', 'Europe/Paris', 'Australia/Lord_Howe'),
  }),
  fc.record({
    everyMs: fc.integer({ min: 1, max: 5 * hourMs }),
    from: fc.constantFrom('end' as const, 'start' as const, undefined),
  }),
  fc.record({ at: nearby(5 * hourMs) }),
  fc.constant({}),
)
const schedules: fc.Arbitrary<GovernedSchedule> = fc
  .record({
    timing: timings,
    bounds: fc.tuple(maybe(fc.integer({ min: 1, max: 2 * hourMs })), maybe(fc.integer({ min: 0, max: 2 * hourMs }))),
    startAt: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, nearby(hourMs)),
    endAt: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, nearby(5 * hourMs)),
    startNow: fc.constantFrom(undefined, true),
  })
  .map(({ bounds: [minMs, roomMs], ...schedule }) => {
    return { ...schedule, minMs, maxMs: roomMs === undefined ? undefined : (minMs ?? 1) + roomMs }
  })
const states: fc.Arbitrary<GovernorState & { anchorAt: number }> = fc.record({
  failureCount: fc.nat(9),
  anchorAt: nearby(3 * hourMs),
  lastPlannedAt: maybe(nearby(3 * hourMs)),
  gridAnchorAt: maybe(nearby(3 * hourMs)),
  pausedUntil: fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, nearby(hourMs)),
  hints: fc.record({
    interval: maybe(fc.record({ ms: fc.integer({ min: 1, max: hourMs }), expiresAt: nearby(hourMs) })),
    oneshot: maybe(fc.record({ at: nearby(hourMs), expiresAt: nearby(hourMs) })),
  }),
})

/** Gives the property an answer that plans something, and passes over the rest. */
function planned(
  property: (answer: NextRun & { at: number }, input: GovernorInput & { state: { anchorAt: number } }) => void,
) {
  const checked = fc.property(schedules, states, (schedule, state) => {
    const { at, ...answer } = nextRun({ now, schedule, state })
    if (at !== null && answer.source !== 'paused') property({ ...answer, at }, { now, schedule, state })
  })
  fc.assert(checked, { numRuns: 3_000 })
}

describe('nextRun', () => {
  it.each(['governor', 'governor-memory', 'governor-expiry'])('answers every vector of %s', (name) => {
    let againstTheSentence = 0
    for (const [index, vector] of vectors<GovernorInput, NextRun>(name).entries()) {
      const { lastPlannedAt } = vector.in.state
      const isPlan = vector.out.at !== null && vector.out.source !== 'paused'
      // Nothing at or before lastPlannedAt is planned again. A vector that does so stands below the design's sentence.
      if (isPlan && lastPlannedAt !== undefined && Number(vector.out.at) <= lastPlannedAt) {
        againstTheSentence += 1
        expect(nextRun(vector.in).at).toBe(lastPlannedAt + 1)
        continue
      }
      expectMatch(nextRun(vector.in), vector.out, `${name}[${index}]`)
    }
    expect(againstTheSentence).toBeLessThanOrEqual(1)
  })

  it('never plans the past, nor anything at or before what has been planned already', () => {
    planned(({ at }, { state }) => {
      expect(at).toBeGreaterThanOrEqual(now)
      expect(at).toBeGreaterThan(state.lastPlannedAt ?? Number.NEGATIVE_INFINITY)
    })
  })

  it('never plans outside the window from startAt to endAt', () => {
    planned(({ at }, { schedule }) => {
      expect(at).toBeGreaterThanOrEqual(schedule.startAt ?? at)
      expect(at).toBeLessThanOrEqual(schedule.endAt ?? at)
    })
  })

  it('never leaves the bounds, unless they are over, before the start, or planned already', () => {
    planned(({ at, source, winner }, { schedule, state }) => {
      const { timing, minMs, maxMs = Number.POSITIVE_INFINITY } = schedule
      const hasGrid =
        winner === 'baseline' && (timing.cron !== undefined || ('from' in timing && timing.from === 'start'))
      const isFirstAtOnce = state.lastPlannedAt === undefined && schedule.startNow === true
      const minFrom = hasGrid ? (state.lastPlannedAt ?? state.anchorAt) : state.anchorAt
      if (minMs !== undefined && source !== 'clamped-max' && !isFirstAtOnce)
        expect(at).toBeGreaterThanOrEqual(minFrom + minMs)
      const latest = Math.max(now, state.anchorAt + maxMs, schedule.startAt ?? 0, (state.lastPlannedAt ?? 0) + 1)
      expect(at).toBeLessThanOrEqual(latest)
    })
  })

  it('never moves a run later by being asked again, as long as no hint has expired', () => {
    const checked = fc.property(schedules, states, fc.nat(2 * hourMs), (schedule, state, laterMs) => {
      const first = nextRun({ now, schedule, state })
      const later = Math.min(now + laterMs, (first.askAgainAt ?? Number.POSITIVE_INFINITY) - 1)
      const again = nextRun({ now: later, schedule, state })
      if (first.at === null) expect(again.at).toBeNull()
      else if (first.at > later) expect(again.at).toBeLessThanOrEqual(first.at)
      else if (first.winner !== 'baseline' || (schedule.timing.cron === undefined && !('from' in schedule.timing))) {
        expect(again.at === null ? schedule.endAt : again.at).toBeLessThanOrEqual(later)
      }
    })
    fc.assert(checked, { numRuns: 3_000 })
  })

  it('keeps a cron on its grid unless a hint or the upper bound took it off', () => {
    planned(({ at, source, winner }, { schedule: { timing } }) => {
      if (timing.cron === undefined || winner !== 'baseline' || source === 'clamped-max') return
      expect(cron(timing.cron, timing.zone).next(at - 1)).toBe(at)
    })
  })

  it('law 6: every answer has a trail that ends in it and names one winner, and can be made again', () => {
    const checked = fc.property(schedules, states, (schedule, state) => {
      const input = Object.freeze({ now, schedule: Object.freeze(schedule), state: Object.freeze(state) })
      const answer = nextRun(input)
      expect(nextRun(structuredClone(input))).toEqual(answer)
      expect(answer.trail.length).toBeGreaterThan(0)
      if (answer.winner === null) return
      expect(answer.trail.filter(({ effect }) => effect === 'won').length).toBe(1)
      const standing = answer.trail.filter(
        ({ effect, rule }) => effect === 'won' || (effect === 'moved' && rule !== 'backoff'),
      )
      expect(standing.at(-1)?.at).toBe(answer.at)
      expect(standing[0]?.rule).toBe(answer.winner)
    })
    fc.assert(checked)
  })
})

describe('nextRun: pause and end', () => {
  it('puts disabled above paused, and paused above everything else', () => {
    const state = { pausedUntil: now + 5, hints: { oneshot: { at: now, ...until(now + 9) } } }
    expect(ask({ timing: hourly, enabled: false }, state)).toMatchObject({
      at: null,
      source: 'disabled',
      askAgainAt: null,
    })
    expect(ask({ timing: hourly, maxRuns: 1 }, { ...state, runsCount: 1 })).toMatchObject({ source: 'paused' })
    expect(ask({ timing: hourly }, state)).toMatchObject({
      at: now + 5,
      source: 'paused',
      winner: null,
      askAgainAt: now + 5,
    })
  })

  it('is no longer paused at the very instant the pause ends', () => {
    expect(ask({ timing: hourly }, { pausedUntil: now }).source).toBe('baseline-cron')
  })

  it('answers none once maxRuns are used up, and not one run earlier', () => {
    expect(ask({ timing: hourly, maxRuns: 3 }, { runsCount: 2 }).source).toBe('baseline-cron')
    expect(ask({ timing: hourly, maxRuns: 3 }, { runsCount: 3 })).toMatchObject({ at: null, source: 'none' })
  })

  it('allows an occurrence exactly at endAt and none after it', () => {
    expect(ask({ timing: hourly, endAt: now + hourMs }).at).toBe(now + hourMs)
    expect(ask({ timing: hourly, endAt: now + hourMs - 1 })).toMatchObject({ at: null, source: 'none' })
  })

  it('answers none for an `at` that has been planned, even when a clock went back before it', () => {
    expect(ask({ timing: { at: now + 5 } }, { lastPlannedAt: now + 5 })).toMatchObject({ at: null, source: 'none' })
    expect(ask({ timing: { at: now + 5 } }, { lastPlannedAt: now + 4 })).toMatchObject({ at: now + 5 })
  })

  it('gives two occurrences that fall due in one ms two instants', () => {
    const hints = { oneshot: { at: now - 5, ...until(now + hourMs) } }
    expect(ask({ timing: hourly }, { lastPlannedAt: now, hints })).toMatchObject({
      at: now + 1,
      winner: 'oneshot-hint',
    })
  })

  it('does not plan a cron instant twice after a clock went back', () => {
    expect(ask({ timing: hourly }, { lastPlannedAt: now + hourMs }).at).toBe(now + 2 * hourMs)
  })

  it('answers none, with the reason, for a calendar that never comes and for a schedule without timing', () => {
    expect(ask({ timing: { cron: '0 0 30 2 *', zone: 'UTC' } })).toMatchObject({ at: null, source: 'none' })
    expect(ask({ timing: {} })).toMatchObject({ at: null, trail: [{ why: 'the schedule has no timing of its own' }] })
  })
})

describe('nextRun: hints', () => {
  const anchored = { anchorAt: now }

  it('counts a hint until just before its expiry, and asks again there', () => {
    const hints = { interval: { ms: 5 * minuteMs, ...until(now + 1) } }
    expect(ask({ timing: hourly }, { ...anchored, hints })).toMatchObject({
      source: 'ai-interval',
      askAgainAt: now + 1,
    })
    expect(ask({ timing: hourly }, { ...anchored, hints }, now + 1)).toMatchObject({
      source: 'baseline-cron',
      askAgainAt: null,
    })
  })

  it('lets an interval hint override an earlier baseline, cron included', () => {
    const hints = { interval: { ms: 3 * hourMs, ...until(now + hourMs) } }
    expect(ask({ timing: hourly }, { ...anchored, hints }).at).toBe(now + 3 * hourMs)
    expect(ask({ timing: everyMinute }, { ...anchored, hints }).at).toBe(now + 3 * hourMs)
  })

  it('gives ties to the baseline against a one-shot, and to the interval against a one-shot', () => {
    const oneshot = { at: now + minuteMs, ...until(now + hourMs) }
    expect(ask({ timing: everyMinute }, { ...anchored, hints: { oneshot } }).winner).toBe('baseline')
    const interval = { ms: minuteMs, ...until(now + hourMs) }
    expect(ask({ timing: {} }, { ...anchored, hints: { interval, oneshot } }).winner).toBe('interval-hint')
    const sooner = { ...oneshot, at: now + minuteMs - 1 }
    expect(ask({ timing: everyMinute }, { ...anchored, hints: { interval, oneshot: sooner } }).winner).toBe(
      'oneshot-hint',
    )
  })

  it('says that a one-shot won although a bound renamed its source, so that its run can use it up', () => {
    const hints = { oneshot: { at: now + 1, ...until(now + hourMs) } }
    const answer = ask({ timing: hourly, minMs: 10 * minuteMs }, { ...anchored, hints })
    expect(answer).toMatchObject({
      at: now + 10 * minuteMs,
      source: 'clamped-min',
      winner: 'oneshot-hint',
      waitsForEnd: false,
    })
  })

  it.each([
    ['startAt', { timing: { everyMs: hourMs, from: 'start' as const }, startAt: now + hourMs }, anchored],
    ['min', { timing: hourly, minMs: hourMs }, { ...anchored, lastPlannedAt: now }],
    ['what was planned already', { timing: hourly }, { ...anchored, lastPlannedAt: now + hourMs - 1 }],
  ])('gives the tie to the calendar where %s moves a one-shot to its very instant', (_, schedule, state) => {
    const hints = { oneshot: { at: now + minuteMs, ...until(now + 2 * hourMs) } }
    expect(ask(schedule, { ...state, hints })).toMatchObject({ at: now + hourMs, winner: 'baseline' })
  })

  it('never lets a one-shot that min moves far delay the cron it meant to hurry', () => {
    const state = { lastPlannedAt: now, anchorAt: now + 8 * minuteMs }
    const hints = { oneshot: { at: now + 9.5 * minuteMs, ...until(now + hourMs) } }
    const schedule = { timing: { cron: '* * * * *', zone: 'UTC' }, minMs: 10 * minuteMs }
    for (const askedAt of [now + 8 * minuteMs, now + 9 * minuteMs + 500]) {
      expect(ask(schedule, { ...state, hints }, askedAt)).toMatchObject({ at: now + 10 * minuteMs, winner: 'baseline' })
    }
  })

  it('lets the wish that was earlier win where min moves both to the same instant', () => {
    const hints = { interval: { ms: 9, ...until(now + hourMs) }, oneshot: { at: now + 5, ...until(now + hourMs) } }
    const answer = ask({ timing: hourly, minMs: minuteMs }, { ...anchored, hints })
    expect(answer).toMatchObject({ at: now + minuteMs, source: 'clamped-min', winner: 'oneshot-hint' })
  })

  it('asks again at the first of two expiries', () => {
    const hints = { interval: { ms: 1, ...until(now + 50) }, oneshot: { at: now + 9, ...until(now + 20) } }
    expect(ask({ timing: hourly }, { ...anchored, hints }).askAgainAt).toBe(now + 20)
  })
})

describe('nextRun: intervals', () => {
  it('waits for the end of the occurrence before only where the winner is a fixed delay', () => {
    expect(ask({ timing: everyMinute }).waitsForEnd).toBe(true)
    expect(ask({ timing: everyHourOnGrid }).waitsForEnd).toBe(false)
    expect(ask({ timing: hourly }).waitsForEnd).toBe(false)
  })

  it('doubles the wait for each failure in a row, five times at most, and returns to the base at once', () => {
    const waitMs = (failureCount: number) =>
      Number(ask({ timing: everyMinute }, { anchorAt: now, failureCount }).at) - now
    expect([0, 1, 2, 5, 6, 99].map(waitMs)).toEqual([1, 2, 4, 32, 32, 32].map((factor) => factor * minuteMs))
  })

  it('does not back off a cron or a hint', () => {
    const hints = { interval: { ms: minuteMs, ...until(now + hourMs) } }
    expect(ask({ timing: hourly }, { failureCount: 5 }).at).toBe(now + hourMs)
    expect(ask({ timing: everyMinute }, { failureCount: 5, anchorAt: now, hints }).at).toBe(now + minuteMs)
  })

  it('keeps a fixed rate on its grid, however long the runs take and however late it is asked', () => {
    const state = { gridAnchorAt: now - 10 * hourMs - 7, lastPlannedAt: now - 5 * hourMs - 7, anchorAt: now - 3 }
    expect(ask({ timing: everyHourOnGrid }, state).at).toBe(now + hourMs - 7)
  })

  it('backs a fixed rate off to the first grid point at or after the last planned one plus the doubled wait', () => {
    const state = { gridAnchorAt: now - 10 * hourMs, anchorAt: now - 1, failureCount: 2 }
    expect(ask({ timing: everyHourOnGrid }, { ...state, lastPlannedAt: now - hourMs }).at).toBe(now + 3 * hourMs)
    expect(ask({ timing: everyHourOnGrid }, { ...state, lastPlannedAt: now - hourMs + 1 }).at).toBe(now + 4 * hourMs)
    expect(ask({ timing: everyHourOnGrid }, { ...state, lastPlannedAt: now - 9 * hourMs }).at).toBe(now + hourMs)
  })

  it('runs first one interval after creation, or at startAt, or at once with startNow', () => {
    for (const timing of [{ everyMs: hourMs }, everyHourOnGrid] as const) {
      const created = { anchorAt: now - minuteMs, gridAnchorAt: now - minuteMs }
      expect(ask({ timing }, created).at).toBe(now - minuteMs + hourMs)
      expect(ask({ timing, startNow: true, minMs: hourMs }, created).at).toBe(now)
      const startAt = now + 10 * minuteMs
      expect(ask({ timing, startAt }, { anchorAt: now }).at).toBe(startAt)
      expect(ask({ timing, startAt, startNow: true }, { anchorAt: now }).at).toBe(startAt)
      expect(ask({ timing, startAt }, { anchorAt: startAt, lastPlannedAt: startAt }, startAt + 1).at).toBe(
        startAt + hourMs,
      )
    }
  })

  it('holds hints and bounds back until startAt', () => {
    const hints = { oneshot: { at: now + 1, ...until(now + hourMs) } }
    expect(ask({ timing: hourly, startAt: now + 7 }, { hints }).at).toBe(now + 7)
    expect(ask({ timing: hourly, startAt: now + hourMs }).at, 'startAt itself is allowed').toBe(now + hourMs)
    expect(ask({ timing: hourly, startAt: now + hourMs + 1 }).at, 'startAt is no occurrence').toBe(now + 2 * hourMs)
  })
})

describe('nextRun: bounds', () => {
  it('moves a cron by min to its next occurrence that satisfies it, measured from the planned instant', () => {
    const state = { anchorAt: now + 20 * minuteMs, lastPlannedAt: now }
    const answer = ask({ timing: hourly, minMs: hourMs + 1 }, state, now + 20 * minuteMs)
    expect(answer).toMatchObject({ at: now + 2 * hourMs, source: 'clamped-min' })
    expect(ask({ timing: hourly, minMs: hourMs }, state, now + 20 * minuteMs).source).toBe('baseline-cron')
  })

  it('takes a cron off its grid where max demands it, measured from the end', () => {
    const answer = ask(
      { timing: hourly, maxMs: 10 * minuteMs },
      { anchorAt: now - minuteMs, lastPlannedAt: now - hourMs },
    )
    expect(answer).toMatchObject({ at: now + 9 * minuteMs, source: 'clamped-max' })
  })

  it('applies min first and max last', () => {
    const answer = ask({ timing: hourly, minMs: hourMs + 1, maxMs: hourMs + 1 }, { anchorAt: now, lastPlannedAt: now })
    expect(answer).toMatchObject({ at: now + hourMs + 1, source: 'clamped-max' })
    expect(answer.trail.map(({ rule }) => rule)).toEqual(['baseline', 'min', 'max'])
  })

  it('does not claim to have clamped what is due now anyway', () => {
    const state = { anchorAt: now - hourMs }
    expect(ask({ timing: everyMinute, minMs: 2 * minuteMs }, state)).toMatchObject({
      at: now,
      source: 'baseline-interval',
    })
    expect(ask({ timing: everyMinute, maxMs: 2 * minuteMs }, state)).toMatchObject({
      at: now,
      source: 'baseline-interval',
    })
  })
})
