import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Hints, nextRun } from '../../../src/core/schedule/governor.ts'
import { type AuthorKind, authorKinds } from '../../../src/core/schedule/hint-author.ts'
import { type BoundsInput, hintBounds, intervalBounds, type Wanted } from '../../../src/core/schedule/hint-bounds.ts'
import type { Timing } from '../../../src/core/timing/timing.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
const now = Date.UTC(2026, 10, 16, 12)

type Given = Partial<Omit<BoundsInput, 'state'>> & { readonly state?: Partial<BoundsInput['state']> }

function judged(by: AuthorKind, wanted: Wanted, { schedule, state, everyMinMs }: Given = {}) {
  const whole = { anchorAt: now, lastEndAt: null, steering: null, ...state }
  return hintBounds({ now, by, wanted, everyMinMs, schedule: schedule ?? { timing: { everyMs: hour } }, state: whole })
}

const every = (ms: number, ttlMs = hour): Wanted => ({ kind: 'interval', ms, expiresAt: now + ttlMs })
const once = (inMs: number, ttlMs = hour): Wanted => ({ kind: 'oneshot', at: now + inMs, expiresAt: now + ttlMs })
const pause = (forMs?: number): Wanted => ({ kind: 'pause', ...(forMs !== undefined && { until: now + forMs }) })
const cron = { cron: '0 12 * * 1', zone: 'UTC' }

/** Who wants what of which schedule, and what becomes of it: `allowed`, the value in its place, or the code of the refusal. */
const cases: readonly [string, AuthorKind, Wanted, Given, string | number][] = [
  ['a person hints as fast as it likes', 'person', every(second), {}, 'allowed'],
  ['a person hints for a minute', 'person', every(hour, minute), {}, 'allowed'],
  ['not for less', 'person', every(hour, minute - 1), {}, 'invalid'],
  ['a person hints for 30 days', 'person', once(hour, 30 * day), {}, 'allowed'],
  ['not for more', 'person', once(hour, 30 * day + 1), {}, 'invalid'],
  ['nothing hints into the past', 'person', every(hour, 0), {}, 'invalid'],
  ['no interval on an at', 'person', every(hour), { schedule: { timing: { at: now + hour } } }, 'invalid'],
  ['a one-shot on an at', 'person', once(minute), { schedule: { timing: { at: now + hour } } }, 'allowed'],
  ['no one-shot at its own expiry', 'person', once(hour, hour), {}, 'invalid'],
  ['a planner hints for 24 hours', 'planner', every(hour, day), {}, 'allowed'],
  ['not for more, planner', 'planner', every(hour, day + 1), {}, 'not-allowed'],
  ['not for more, agent', 'agent', once(minute, day + 1), {}, 'not-allowed'],
  ['not for more, rule', 'rule', every(hour, day + 1), {}, 'not-allowed'],
  ['nor for less than a minute', 'planner', every(hour, minute - 1), {}, 'invalid'],
  ['a planner hints ten seconds', 'planner', every(10 * second), {}, 'allowed'],
  ['not less', 'planner', every(10 * second - 1), {}, 10 * second],
  ['nor does an agent', 'agent', every(second), {}, 10 * second],
  ['nor a rule', 'rule', every(second), {}, 10 * second],
  ['min is the least', 'planner', every(second), { schedule: { timing: {}, minMs: minute } }, minute],
  [
    'min also where the namespace allows less',
    'planner',
    every(second),
    { everyMinMs: minute, schedule: { timing: {}, minMs: hour } },
    hour,
  ],
  ['the namespace bounds persons too', 'person', every(second), { everyMinMs: minute }, minute],
  [
    'the namespace is above max',
    'planner',
    every(second),
    { everyMinMs: hour, schedule: { timing: {}, maxMs: minute } },
    hour,
  ],
  ['max is the most', 'planner', every(5 * hour), { schedule: { timing: {}, maxMs: 2 * hour } }, 2 * hour],
  [
    'max also over ten periods',
    'planner',
    every(99 * hour),
    { schedule: { timing: { everyMs: minute }, maxMs: 48 * hour } },
    48 * hour,
  ],
  ['max below ten seconds wins', 'planner', every(second), { schedule: { timing: {}, maxMs: 5 * second } }, 5 * second],
  ['ten periods without max', 'planner', every(day), {}, 10 * hour],
  ['at most 24 hours of them', 'planner', every(9 * day), { schedule: { timing: { everyMs: 6 * hour } } }, day],
  ['ten periods of a cron, at most 24 hours', 'planner', every(9 * day), { schedule: { timing: cron } }, day],
  [
    'ten periods of a minutely cron',
    'planner',
    every(day),
    { schedule: { timing: { cron: '* * * * *', zone: 'UTC' } } },
    10 * minute,
  ],
  ['24 hours without a timing', 'planner', every(9 * day), { schedule: { timing: {} } }, day],
  [
    'min above ten periods wins',
    'planner',
    every(minute),
    { schedule: { timing: { everyMs: minute }, minMs: hour } },
    hour,
  ],
  ['a person pauses without end', 'person', pause(), {}, 'allowed'],
  ['a person pauses for a month', 'person', pause(30 * day), {}, 'allowed'],
  ['no pause into the past', 'person', pause(0), {}, 'invalid'],
  ['a planner pauses for 24 hours at most', 'planner', pause(), {}, now + day],
  ['a rule too', 'rule', pause(2 * day), {}, now + day],
  ['for less as it likes', 'agent', pause(hour), {}, 'allowed'],
  ['and not beyond max', 'planner', pause(), { schedule: { timing: {}, maxMs: hour } }, now + hour],
  [
    'which counts from the last end',
    'planner',
    pause(),
    { schedule: { timing: {}, maxMs: hour }, state: { anchorAt: now - 20 * minute } },
    now + 40 * minute,
  ],
  [
    'not at all where max is over',
    'planner',
    pause(hour),
    { schedule: { timing: {}, maxMs: hour }, state: { anchorAt: now - hour } },
    'not-allowed',
  ],
  [
    'not twice without a run between',
    'rule',
    pause(hour),
    { state: { steering: { pausedAt: now - hour } } },
    'not-allowed',
  ],
  [
    'nor after an earlier end',
    'planner',
    pause(hour),
    { state: { steering: { pausedAt: now - hour }, lastEndAt: now - hour } },
    'not-allowed',
  ],
  [
    'but after a later one',
    'planner',
    pause(hour),
    { state: { steering: { pausedAt: now - hour }, lastEndAt: now - minute } },
    'allowed',
  ],
  [
    'a person pauses after a planner',
    'person',
    pause(hour),
    { state: { steering: { pausedAt: now - hour } } },
    'allowed',
  ],
]

function resultOf(by: AuthorKind, wanted: Wanted, given: Given): string | number {
  const bounds = judged(by, wanted, given)
  if (bounds.answer === 'refused') return bounds.refusal.code
  const { wanted: got, clamped } = bounds
  if (clamped === null) return got === wanted ? 'allowed' : 'moved silently'
  return got.kind === 'interval' ? got.ms : ((got as { until?: number }).until ?? 'endless')
}

describe('the bounds of hints and pauses', () => {
  it.each(cases)('%s', (_, by, wanted, given, expected) => {
    expect(resultOf(by, wanted, given)).toBe(expected)
  })

  it('count 12 changes and 6 one-shots an hour of planners and agents, and say when they lift', () => {
    const full = { changesAt: Array.from({ length: 12 }, (_, index) => now - hour + 1 + index) }
    const oneshots = {
      changesAt: [now - minute],
      oneshotsAt: Array.from({ length: 6 }, (_, index) => now - 50 * minute + index),
    }
    const refused = (steering: object, by: AuthorKind, wanted: Wanted) => judged(by, wanted, { state: { steering } })
    for (const wanted of [every(hour), once(minute), pause(hour), { kind: 'clear' } as const]) {
      expect(refused(full, 'planner', wanted)).toMatchObject({
        refusal: { code: 'too-many-changes', liftsAt: now + 1 },
      })
      expect(refused(full, 'rule', wanted)).toMatchObject({ answer: 'allowed' })
      expect(refused(full, 'person', wanted)).toMatchObject({ answer: 'allowed' })
    }
    const eleven = { changesAt: full.changesAt.slice(1) }
    expect(refused(eleven, 'agent', every(hour))).toMatchObject({ steering: { changesAt: [...eleven.changesAt, now] } })
    expect(refused(oneshots, 'agent', once(minute))).toMatchObject({ refusal: { liftsAt: now + 10 * minute } })
    expect(refused(oneshots, 'agent', every(hour))).toMatchObject({ answer: 'allowed' })
    const past = { changesAt: full.changesAt.map((at) => at - 1) }
    expect(refused(past, 'agent', once(minute))).toMatchObject({ answer: 'allowed' })
  })

  it('hold for whatever is wanted: no non-person gets a value outside them', () => {
    const ms = fc.integer({ min: -day, max: 40 * day })
    const wanted: fc.Arbitrary<Wanted> = fc.oneof(
      fc.record({
        kind: fc.constant('interval' as const),
        ms: fc.integer({ min: 1, max: 400 * day }),
        expiresAt: ms.map((in_) => now + in_),
      }),
      fc.record({
        kind: fc.constant('oneshot' as const),
        at: ms.map((in_) => now + in_),
        expiresAt: ms.map((in_) => now + in_),
      }),
      fc.record({
        kind: fc.constant('pause' as const),
        until: fc.option(
          ms.map((in_) => now + in_),
          { nil: undefined },
        ),
      }),
    )
    const bound = fc.option(fc.integer({ min: 1, max: 10 * day }), { nil: undefined })
    const schedule = fc.record({
      timing: fc.constantFrom<Timing[]>({}, { everyMs: hour }, cron),
      minMs: bound,
      maxMs: bound,
    })
    const author = fc.constantFrom(...authorKinds.filter((kind) => kind !== 'person'))
    fc.assert(
      fc.property(author, wanted, schedule, fc.integer({ min: -day, max: 0 }), (by, want, bounded, agoMs) => {
        const anchorAt = now + agoMs
        const bounds = judged(by, want, { schedule: bounded, state: { anchorAt } })
        if (bounds.answer === 'refused') return
        const got = bounds.wanted
        if (got.kind === 'pause') {
          expect(got.until).toBeLessThanOrEqual(Math.min(now + day, anchorAt + (bounded.maxMs ?? 99 * day)))
          expect(got.until).toBeGreaterThan(now)
        } else if (got.kind !== 'clear') {
          expect(got.expiresAt - now).toBeGreaterThanOrEqual(minute)
          expect(got.expiresAt - now).toBeLessThanOrEqual(day)
          const { least, most } = intervalBounds({ now, schedule: bounded })
          if (got.kind === 'interval') expect([got.ms >= least, got.ms <= most]).toEqual([true, true])
        }
      }),
      { numRuns: 10_000 },
    )
  })
})

describe('the instants of hints', () => {
  const expiresAt = now + day
  const next = (hints: Hints) => {
    const schedule = { timing: { everyMs: hour }, minMs: minute, maxMs: 2 * hour }
    return nextRun({ now, schedule, state: { anchorAt: now, hints } })
  }

  it.each(authorKinds)('stay within min and max, be they of a %s', (by) => {
    expect(next({ interval: { ms: 5 * hour, expiresAt, by } })).toMatchObject({
      at: now + 2 * hour,
      source: 'clamped-max',
    })
    expect(next({ interval: { ms: second, expiresAt, by } })).toMatchObject({ at: now + minute, source: 'clamped-min' })
    expect(next({ oneshot: { at: now + second, expiresAt, by } })).toMatchObject({
      at: now + minute,
      source: 'clamped-min',
    })
  })
})
