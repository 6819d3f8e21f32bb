import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type LateSchedule,
  type LateState,
  type MissedInput,
  maxLatenessMs,
  missed,
} from '../../src/core/timing/missed.ts'
import { promptSpread } from '../../src/core/timing/spread.ts'

const noon = Date.UTC(2026, 2, 4, 12)
const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const hourly: LateSchedule = { id: 's-11', timing: { cron: '0 * * * *', zone: 'UTC' } }

const look = (now: number, changed: Partial<LateSchedule>, state: LateState) =>
  missed({ now, schedule: { ...hourly, ...changed }, state })
const actions = (now: number, changed: Partial<LateSchedule>, state: LateState) =>
  look(now, changed, state).occurrences.map(({ action, reason }) => `${action} ${reason}`)
const asleepSince = (hours: number): LateState => ({
  lastPlannedAt: noon - hours * hourMs,
  anchorAt: noon - hours * hourMs,
})

describe('missed', () => {
  it('fires what is on time or merely late, whatever the rule for missed ones', () => {
    for (const rule of ['skip', 'once', 'all'] as const) {
      expect(actions(noon, { missed: rule }, asleepSince(1))).toEqual(['fire on-time'])
      expect(actions(noon + minuteMs, { missed: rule, maxLatenessMs: 0 }, asleepSince(1))).toEqual(['fire late'])
    }
  })

  it('calls an occurrence missed from the first ms after a minute', () => {
    expect(actions(noon + minuteMs + 1, { missed: 'skip' }, asleepSince(1))).toEqual(['skip missed'])
    expect(actions(noon + minuteMs + 1, {}, asleepSince(1))).toEqual(['fire missed'])
  })

  it('calls an occurrence missed as soon as a later one is due, however short its delay', () => {
    const everySecond = { timing: { cron: '* * * * * *', zone: 'UTC' }, missed: 'skip' } as const
    expect(actions(noon + 500, everySecond, { lastPlannedAt: noon - 2_000 })).toEqual(['skip missed', 'fire late'])
  })

  it('makes exactly one run after a sleep under once, the newest, whether that one is missed itself or not', () => {
    const sleeps = fc.tuple(fc.integer({ min: 1, max: 300 }), fc.nat(hourMs - 1))
    fc.assert(
      fc.property(sleeps, ([hours, lateMs]) => {
        const { occurrences: ends, before } = look(noon + lateMs, {}, asleepSince(hours))
        expect(ends.filter(({ action }) => action === 'fire').map(({ plannedAt }) => plannedAt)).toEqual([noon])
        expect(ends.length + (before?.count ?? 0)).toBe(hours)
      }),
    )
  })

  it('does not fire older ones under once because maxLateness would allow them', () => {
    const tolerant = { maxLatenessMs: dayMs }
    expect(actions(noon + 2 * minuteMs, tolerant, asleepSince(3))).toEqual([
      'skip missed',
      'skip missed',
      'fire missed',
    ])
    expect(actions(noon, tolerant, asleepSince(2))).toEqual(['skip missed', 'fire on-time'])
  })

  it('fires all under all, oldest first, each moved by its own share of 30 s when there are more than 3', () => {
    const now = noon + 2 * minuteMs
    const three = look(now, { missed: 'all' }, asleepSince(3)).occurrences
    expect(three.map(({ plannedAt }) => plannedAt)).toEqual([noon - 2 * hourMs, noon - hourMs, noon])
    expect(three.map(({ notBefore }) => notBefore)).toEqual([now, now, now])
    const four = look(now, { missed: 'all' }, asleepSince(4)).occurrences.map(
      ({ notBefore }) => Number(notBefore) - now,
    )
    expect(new Set(four).size).toBe(4)
    for (const shareMs of four) expect(shareMs >= 0 && shareMs < 30_000).toBe(true)
  })

  it('does not move an occurrence that is merely late among many missed ones', () => {
    const ends = look(noon + 1_000, { missed: 'all' }, asleepSince(6)).occurrences
    expect(ends.at(-1)).toMatchObject({ reason: 'late', isMissed: false, notBefore: noon + 1_000 })
  })

  it('lists the newest hundred and counts what lies before them, which is never fired', () => {
    const everyMinute = { timing: { cron: '* * * * *', zone: 'UTC' }, missed: 'all' } as const
    const { occurrences: ends, before } = look(noon, everyMinute, { lastPlannedAt: noon - 500 * minuteMs })
    expect(ends.length).toBe(100)
    expect(ends[0]?.plannedAt).toBe(noon - 99 * minuteMs)
    expect(before).toMatchObject({ to: noon - 100 * minuteMs, count: 400, reason: 'missed', countIsAtLeast: false })
    const strict = look(noon, { ...everyMinute, maxLatenessMs: minuteMs }, { lastPlannedAt: noon - 500 * minuteMs })
    expect(strict.before?.reason).toBe('lateness')
    expect(strict.occurrences.filter(({ action }) => action === 'fire').length).toBe(2)
  })

  it('skips what is later than maxLateness allows, by default the period or a day', () => {
    const now = noon + 10 * minuteMs
    expect(actions(now, { maxLatenessMs: 5 * minuteMs }, asleepSince(1))).toEqual(['skip lateness'])
    expect(actions(now, { maxLatenessMs: 10 * minuteMs }, asleepSince(1))).toEqual(['fire missed'])
    const weekly = { timing: { cron: '0 12 * * 3', zone: 'UTC' } }
    expect(actions(noon + dayMs, weekly, { lastPlannedAt: noon - 7 * dayMs })).toEqual(['fire missed'])
    expect(actions(noon + dayMs + 1, weekly, { lastPlannedAt: noon - 7 * dayMs })).toEqual(['skip lateness'])
    const rate = { everyMs: 5 * minuteMs, from: 'start' } as const
    expect(actions(now - 1, { timing: rate }, { nextRunAt: noon, gridAnchorAt: noon }).at(-1)).toBe('fire missed')
  })

  it('does not put a fixed delay off by another period: no later occurrence stands for the one that was missed', () => {
    const planned = { nextRunAt: noon, waitsForEnd: true }
    const every = { timing: { everyMs: 5 * minuteMs } }
    expect(actions(noon + 10 * minuteMs, every, planned)).toEqual(['fire missed'])
    expect(actions(noon + dayMs, every, planned)).toEqual(['fire missed'])
    expect(actions(noon + dayMs + 1, every, planned)).toEqual(['skip lateness'])
    expect(actions(noon + 10 * minuteMs, { ...every, maxLatenessMs: 5 * minuteMs }, planned)).toEqual(['skip lateness'])
    expect(actions(noon + 10 * minuteMs, { ...every, missed: 'skip' }, planned)).toEqual(['skip missed'])
  })

  it('measures lateness from the spread instant, and does not fire before it', () => {
    const spread = { id: '80000000', spread: promptSpread } as const
    const dueAt = noon + hourMs * 0.05
    expect(actions(dueAt - 1, spread, asleepSince(1))).toEqual([])
    expect(actions(dueAt, spread, asleepSince(1))).toEqual(['fire on-time'])
    expect(look(dueAt + 5, spread, asleepSince(1)).occurrences[0]).toMatchObject({ plannedAt: noon, dueAt, lateMs: 5 })
    expect(actions(dueAt + minuteMs, { ...spread, missed: 'skip' }, asleepSince(1))).toEqual(['fire late'])
    expect(actions(dueAt - 1, spread, asleepSince(2)), 'the one before is still the newest that is due').toEqual([
      'fire missed',
    ])
  })

  it('fires a one-shot early by its spread, but not before its creation', () => {
    const early = { id: '80000000', timing: { at: noon }, spread: promptSpread } as const
    expect(actions(noon - 45_000, early, {})).toEqual(['fire on-time'])
    expect(actions(noon - 45_001, early, {})).toEqual([])
    expect(actions(noon - 1, { ...early, createdAt: noon - 44_000 }, {})).toEqual([])
  })

  it('does not spread what was planned with a due instant of its own, such as a hint', () => {
    const spread = { id: '80000000', spread: promptSpread } as const
    expect(actions(noon, spread, { ...asleepSince(1), nextRunAt: noon, nextDueAt: noon })).toEqual(['fire on-time'])
  })

  it('puts a missed one-shot prompt before a person instead of firing it, however late; a punctual one fires', () => {
    const prompt = { timing: { at: noon }, asksWhenMissed: true } as const
    expect(actions(noon + minuteMs, prompt, {})).toEqual(['fire late'])
    expect(actions(noon + minuteMs + 1, prompt, {})).toEqual(['ask missed'])
    expect(actions(noon + 9 * dayMs, prompt, {})).toEqual(['ask missed'])
    expect(actions(noon + 9 * dayMs, { ...prompt, missed: 'skip' }, {})).toEqual(['skip missed'])
    expect(actions(noon + 2 * hourMs, { timing: { at: noon } }, {})).toEqual(['fire missed'])
  })

  it('fires nothing of a paused or disabled schedule, and says so for every occurrence', () => {
    const paused = look(noon, { missed: 'all' }, { ...asleepSince(200), pausedUntil: noon + 1 })
    expect(new Set(paused.occurrences.map(({ reason }) => reason))).toEqual(new Set(['paused']))
    expect(paused.before).toMatchObject({ count: 100, reason: 'paused' })
    expect(actions(noon, { enabled: false }, asleepSince(1))).toEqual(['skip paused'])
  })

  it('does not make up more runs than maxRuns leaves', () => {
    const state = { ...asleepSince(3), runsCount: 8 }
    expect(actions(noon, { missed: 'all', maxRuns: 10 }, state)).toEqual([
      'fire missed',
      'fire missed',
      'skip max-runs',
    ])
    expect(actions(noon, { maxRuns: 8 }, { ...asleepSince(1), runsCount: 8 })).toEqual(['skip max-runs'])
  })

  it('says the same when asked again, and changes nothing it was given', () => {
    const input: MissedInput = {
      now: noon,
      schedule: Object.freeze({ ...hourly }),
      state: Object.freeze(asleepSince(9)),
    }
    expect(missed(Object.freeze(input))).toEqual(missed(structuredClone(input)))
  })
})

describe('maxLatenessMs', () => {
  it('does not let the period undo missed: all', () => {
    expect(maxLatenessMs({ schedule: { ...hourly, missed: 'all' }, periodMs: hourMs })).toBe(dayMs)
    expect(maxLatenessMs({ schedule: hourly, periodMs: hourMs })).toBe(hourMs)
    expect(maxLatenessMs({ schedule: hourly, periodMs: null })).toBe(dayMs)
    expect(maxLatenessMs({ schedule: { ...hourly, maxLatenessMs: 3 }, periodMs: hourMs })).toBe(3)
  })
})
