import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/core/cron/calendar.ts'
import { cron } from '../../../src/core/cron/cron.ts'
import { longestGapMs } from '../../../src/core/cron/longest-gap.ts'
import { parse } from '../../../src/core/cron/parse.ts'
import { newZone, segmentAt, zoneOf } from '../../../src/core/cron/zone.ts'
import { workOf } from '../../parts/config/work.ts'
import { expressions, zoneNames } from './arbitraries.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const FROM_MS = Date.UTC(2026, 6, 1)

describe('the longest gap', () => {
  it.each<[string, string, number]>([
    ['* * * * * *', 'Europe/Paris', 1_000],
    ['*/5 * * * *', 'America/New_York', 5 * MINUTE_MS],
    ['*/7 * * * *', 'UTC', 7 * MINUTE_MS],
    ['0,1 * * * *', 'UTC', 59 * MINUTE_MS],
    ['10 5 * * * *', 'UTC', HOUR_MS],
    ['0 0 * * *', 'UTC', DAY_MS],
    ['0 0 * * *', 'America/New_York', DAY_MS + HOUR_MS],
    ['0 0 * * *', 'Australia/Lord_Howe', DAY_MS + HOUR_MS / 2],
    ['0 0 * * *', 'America/Sao_Paulo', DAY_MS],
    ['0 0,12 * * *', 'America/New_York', 13 * HOUR_MS],
    ['*/5 0-12 * * *', 'UTC', 11 * HOUR_MS + 5 * MINUTE_MS],
    ['0 9 * * 1-5', 'UTC', 3 * DAY_MS],
    ['0 9 * * 1-5', 'Europe/Paris', 3 * DAY_MS + HOUR_MS],
    ['0 0 1 * *', 'UTC', 31 * DAY_MS],
    ['0 0 31 * *', 'UTC', 61 * DAY_MS],
    ['0 0 1 1 *', 'UTC', 366 * DAY_MS],
    ['0 0 29 2 *', 'UTC', (8 * 365 + 1) * DAY_MS],
    ['0 0 29 2 *', 'America/New_York', (8 * 365 + 1) * DAY_MS],
    ['0 0 * 2 MON#5', 'UTC', (40 * 365 + 9) * DAY_MS],
    ['0 12 1 3,10 *', 'Europe/Paris', 214 * DAY_MS - HOUR_MS],
  ])('of %s in %s', (expression, zone, gapMs) => {
    expect(cron(expression, zone).longestGapMs(FROM_MS)).toBe(gapMs)
  })

  it('does not depend on how far the zone has been read before: a change of the past is no change to come', () => {
    const calendar = compile(parse('0 0 * * *'))
    const { offsetAt } = zoneOf('America/Sao_Paulo')
    for (const untilYear of [2020, 2030, 2037]) {
      const zone = newZone({ name: 'America/Sao_Paulo', isUtc: false }, offsetAt)
      for (let at = Date.UTC(2018, 0, 1); at < Date.UTC(untilYear, 0, 1); at += 20 * DAY_MS) segmentAt(zone, at)
      expect(longestGapMs(calendar, zone, FROM_MS)).toBe(DAY_MS)
    }
  })

  it('is passed by no two firings of the next twelve years, and by no later two for more than a shift of the clocks', {
    timeout: 120_000,
  }, () => {
    fc.assert(
      fc.property(expressions, zoneNames, (expression, zone) => {
        const calendar = cron(expression, zone)
        const longestMs = calendar.longestGapMs(FROM_MS)
        if (longestMs === null) return
        let [soonMs, everMs] = [0, 0]
        let at = calendar.next(Date.UTC(2026, 0, 1) - 1)
        for (let walked = 0; at !== null && walked < 20_000; walked++) {
          const next: number | null = calendar.next(at)
          if (next === null) break
          everMs = Math.max(everMs, next - at)
          if (next < Date.UTC(2038, 0, 1)) soonMs = Math.max(soonMs, next - at)
          at = next
        }
        expect(soonMs).toBeLessThanOrEqual(longestMs)
        expect(everMs).toBeLessThanOrEqual(longestMs + 2 * HOUR_MS)
        const reachesTheEnd = calendar.next(at ?? FROM_MS) === null
        if (reachesTheEnd) expect(longestMs).toBeLessThanOrEqual(everMs)
      }),
      { numRuns: 300 },
    )
  })

  it('that always has a change of the clocks in it is as long as that leaves it, also where there are many others', () => {
    expect(cron('0 12 * 10-12,1-2 *', 'Europe/Paris').longestGapMs(FROM_MS)).toBe(215 * DAY_MS - HOUR_MS)
  })

  it('is worked out once, however often it is asked for in a year', async () => {
    const calendar = cron('7 3 * * 1-5', 'Europe/Paris')
    const asked = await workOf(async () => {
      for (let day = 0; day < 100; day++) calendar.longestGapMs(FROM_MS + day * DAY_MS)
    })
    expect(asked.of('longestFollowed')).toBe(1)
    expect(cron('0 2 29 2 *', 'UTC').longestGapMs(Date.UTC(2096, 0, 1))).toBe((8 * 365 + 1) * DAY_MS)
    expect(cron('0 2 29 2 *', 'UTC').longestGapMs(Date.UTC(2105, 0, 1))).toBe((4 * 365 + 1) * DAY_MS)
  })
})
