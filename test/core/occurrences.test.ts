import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type OccurrencesInput, occurrences } from '../../src/core/timing/occurrences.ts'
import type { Timing } from '../../src/core/timing/timing.ts'

const now = Date.UTC(2026, 2, 4, 12, 0, 30)
const noon = Date.UTC(2026, 2, 4, 12)
const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const everyMinute: Timing = { cron: '* * * * *', zone: 'UTC' }

const list = (timing: Timing, state: OccurrencesInput['state'], changed: Partial<OccurrencesInput> = {}) =>
  occurrences({ now, schedule: { timing }, state, listMax: 100, ...changed })

describe('occurrences', () => {
  it('lists what lies after the last planned instant up to now, oldest first', () => {
    expect(list(everyMinute, { lastPlannedAt: noon - 3 * minuteMs })).toEqual({
      listed: [noon - 2 * minuteMs, noon - minuteMs, noon],
      before: null,
    })
    expect(list(everyMinute, { lastPlannedAt: noon })).toEqual({ listed: [], before: null })
  })

  it('lists the grid from the expiry of an interval hint on, after the instant that the hint planned', () => {
    const plan = { nextRunAt: noon - 150_000, waitsForEnd: true, lastPlannedAt: noon - hourMs }
    const hinted = (expiresAt: number) => ({ ...plan, hints: { interval: { ms: 90_000, expiresAt } } })
    expect(list(everyMinute, hinted(noon - minuteMs)).listed).toEqual([noon - 150_000, noon - minuteMs, noon])
    expect(list(everyMinute, hinted(noon - minuteMs + 1)).listed).toEqual([noon - 150_000, noon])
    expect(list(everyMinute, hinted(now + 1)).listed).toEqual([noon - 150_000])
    expect(list(everyMinute, plan).listed).toEqual([noon - 150_000])
  })

  it('keeps the newest where there are too many, and counts the rest exactly', () => {
    const { listed, before } = list(everyMinute, { lastPlannedAt: noon - dayMs }, { listMax: 10 })
    expect([listed[0], listed.at(-1), listed.length]).toEqual([noon - 9 * minuteMs, noon, 10])
    expect(before).toEqual({
      from: noon - dayMs + minuteMs,
      to: noon - 10 * minuteMs,
      count: 24 * 60 - 10,
      countIsAtLeast: false,
    })
  })

  it('loses and invents no occurrence at the edge between the listed and the counted', () => {
    fc.assert(
      fc.property(fc.nat(400), fc.integer({ min: 1, max: 50 }), fc.boolean(), (missedCount, listMax, isCron) => {
        const timing: Timing = isCron ? everyMinute : { everyMs: minuteMs, from: 'start' }
        const state = { lastPlannedAt: noon - missedCount * minuteMs, gridAnchorAt: noon - dayMs }
        const { listed, before } = list(timing, state, { listMax })
        expect(listed.length + (before?.count ?? 0)).toBe(missedCount)
        if (before !== null) expect(listed[0]).toBe(before.to + minuteMs)
        expect(before?.from ?? listed[0] ?? noon + minuteMs).toBe(noon - (missedCount - 1) * minuteMs)
      }),
    )
  })

  it('counts a grid of years by arithmetic, and stops counting a calendar of seconds, saying so', () => {
    const lastPlannedAt = now - 3_650 * dayMs
    const rate = list({ everyMs: 1_000, from: 'start' }, { lastPlannedAt, gridAnchorAt: lastPlannedAt })
    expect(rate.before).toMatchObject({
      count: 3_650 * 86_400 - 100,
      countIsAtLeast: false,
      from: lastPlannedAt + 1_000,
    })
    const calendar = list({ cron: '* * * * * *', zone: 'UTC' }, { lastPlannedAt })
    expect(calendar.before).toMatchObject({ count: 50_000, countIsAtLeast: true, from: lastPlannedAt + 1_000 })
  })

  it('puts the planned instant first, even when a bound or hint put it off the grid', () => {
    const nextRunAt = noon - 90_000
    expect(list(everyMinute, { lastPlannedAt: noon - dayMs, nextRunAt }).listed).toEqual([
      nextRunAt,
      noon - minuteMs,
      noon,
    ])
    const capped = list(everyMinute, { lastPlannedAt: noon - dayMs, nextRunAt }, { listMax: 2 })
    expect(capped).toEqual({
      listed: [noon - minuteMs, noon],
      before: { from: nextRunAt, to: nextRunAt, count: 1, countIsAtLeast: false },
    })
    const long = list(everyMinute, { nextRunAt: noon - dayMs - 1 }, { listMax: 2 }).before
    expect(long).toMatchObject({ from: noon - dayMs - 1, to: noon - 2 * minuteMs, count: 24 * 60 })
  })

  it('has nothing nominal after a fixed delay but the one that was planned', () => {
    const state = { nextRunAt: noon - 5 * hourMs, waitsForEnd: true }
    expect(list(everyMinute, state).listed).toEqual([noon - 5 * hourMs])
    expect(list({ everyMs: minuteMs }, { anchorAt: noon - hourMs, failureCount: 1 }).listed).toEqual([
      noon - hourMs + 2 * minuteMs,
    ])
    expect(list({ everyMs: minuteMs }, { anchorAt: now }).listed).toEqual([])
  })

  it('lists an `at` once, and not after it has been planned', () => {
    expect(list({ at: noon }, {}).listed).toEqual([noon])
    expect(list({ at: noon }, { lastPlannedAt: noon }).listed).toEqual([])
    expect(list({ at: now + 1 }, {}).listed).toEqual([])
  })

  it('keeps the distance that min demands', () => {
    const schedule = { timing: everyMinute, minMs: 10 * minuteMs }
    const { listed } = list(everyMinute, { lastPlannedAt: noon - 35 * minuteMs }, { schedule })
    expect(listed).toEqual([noon - 20 * minuteMs, noon - 10 * minuteMs, noon])
    const rate = { timing: { everyMs: 4 * minuteMs, from: 'start' } as const, minMs: 10 * minuteMs }
    const state = { lastPlannedAt: noon - dayMs, gridAnchorAt: noon - dayMs }
    const strict = list(rate.timing, state, { schedule: rate, listMax: 1 })
    expect(strict).toMatchObject({ listed: [noon], before: { to: noon - 12 * minuteMs, count: 119 } })
  })

  it('lists nothing before startAt or after endAt', () => {
    const schedule = { timing: everyMinute, startAt: noon - 4 * minuteMs, endAt: noon - 2 * minuteMs }
    expect(list(everyMinute, { lastPlannedAt: noon - dayMs }, { schedule }).listed).toEqual([
      noon - 4 * minuteMs,
      noon - 3 * minuteMs,
      noon - 2 * minuteMs,
    ])
  })
})
