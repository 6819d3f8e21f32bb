import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/core/cron/calendar.ts'
import { cron } from '../../../src/core/cron/cron.ts'
import { nextFiring, previousFiring } from '../../../src/core/cron/firing.ts'
import { parse } from '../../../src/core/cron/parse.ts'
import { segmentAt, type Zone, zoneOf, zoneOffsetMs } from '../../../src/core/cron/zone.ts'
import { isKnownZone, resolveZone } from '../../../src/core/cron/zone-name.ts'
import { wallClock } from './law9-judge.mjs'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

describe('the name of a zone', () => {
  it.each([
    ['europe/paris', 'Europe/Paris', false],
    ['Europe/Kyiv', 'Europe/Kyiv', false],
    ['US/Pacific', 'US/Pacific', false],
    ['utc', 'UTC', true],
    ['Etc/UTC', 'Etc/UTC', true],
    ['GMT', 'GMT', true],
    ['EST', 'EST', false],
    ['PRC', 'PRC', false],
    ['Etc/GMT-2', 'Etc/GMT-2', false],
  ])('%s is kept as %s', (given, name, isUtc) => {
    expect(resolveZone(given)).toEqual({ name, isUtc })
    expect(cron('* * * * *', given).zone).toBe(name)
    expect(isKnownZone(given)).toBe(true)
  })

  it('an unknown name is told apart without an exception', () => {
    expect(isKnownZone('Europe/Pari')).toBe(false)
    expect(isKnownZone('')).toBe(false)
  })
})

describe('the offsets of a zone', () => {
  it.each([
    'Africa/Casablanca',
    'America/New_York',
    'Pacific/Apia',
    'Africa/Monrovia',
    'America/Boa_Vista',
    'Asia/Gaza',
  ])('of %s are what Intl says, in whatever order they are asked for', (zone) => {
    const wall = wallClock(zone)
    const instants: number[] = []
    for (let at = 0; at < Date.UTC(2090, 0, 1); at += 9.7 * DAY_MS) instants.push(Math.floor(at / 1_000) * 1_000)
    const shuffled = [...instants].sort((a, b) => ((a / 1_000) % 7_919) - ((b / 1_000) % 7_919))
    for (const at of shuffled) expect(zoneOffsetMs(zone, at), new Date(at).toISOString()).toBe(wall(at) - at)
  })

  it('are known before 1970 and after the horizon too, where formatting may still need them', () => {
    expect(zoneOffsetMs('Africa/Monrovia', -1)).toBe(-(44 * 60 + 30) * 1_000)
    expect(zoneOffsetMs('America/New_York', Date.UTC(1950, 6, 1))).toBe(-4 * HOUR_MS)
    expect(zoneOffsetMs('Asia/Kolkata', Date.UTC(2300, 0, 1))).toBe(5.5 * HOUR_MS)
    expect(zoneOffsetMs('UTC', -1e15)).toBe(0)
    expect(() => zoneOffsetMs('Asia/Kolkata', Number.NaN)).toThrow(RangeError)
  })

  it('form segments without a hole, and changes are found to the second', () => {
    const zone = zoneOf('Africa/Monrovia')
    const change = segmentAt(zone, Date.UTC(1972, 0, 8))
    expect(new Date(change.startMs).toISOString()).toBe('1972-01-07T00:44:30.000Z')
    expect(change.shiftMs).toBe((44 * 60 + 30) * 1_000)
    let previous = segmentAt(zone, 0)
    while (previous.endMs < Date.UTC(2100, 0, 1)) {
      const next = segmentAt(zone, previous.endMs)
      expect(next.startMs).toBe(previous.endMs)
      expect(next.offsetMs - previous.offsetMs).toBe(next.shiftMs)
      previous = next
    }
  })

  it('say where a second pass ends', () => {
    const overlap = segmentAt(zoneOf('America/New_York'), Date.parse('2026-11-01T06:00Z'))
    expect(overlap).toMatchObject({ startMs: Date.parse('2026-11-01T06:00Z'), shiftMs: -HOUR_MS })
    expect(overlap.freshFromMs).toBe(Date.parse('2026-11-01T07:00Z'))
  })
})

/** No real zone changes where the table is cut, so these are made up: an hour forward or back at an instant. */
describe('a change of offset where the table is cut', () => {
  const CUT_MS = 400 * DAY_MS
  const zoneChanging = (atMs: number, beforeMs: number, afterMs: number): Zone => ({
    name: 'Test/Cut',
    blocks: [],
    offsetAt: (instantMs) => (instantMs < atMs ? beforeMs : afterMs),
    recent: { startMs: 0, endMs: 0, offsetMs: 0, shiftMs: 0, freshFromMs: 0 },
  })
  const around = (expression: string, zone: Zone): number[] => {
    const calendar = compile(parse(expression))
    const forwards: number[] = []
    for (let at = nextFiring(calendar, zone, CUT_MS - 2 * HOUR_MS - 1); at !== null && at < CUT_MS + 2 * HOUR_MS; ) {
      forwards.push(at - CUT_MS)
      at = nextFiring(calendar, zone, at)
    }
    const backwards: number[] = []
    for (let at = previousFiring(calendar, zone, CUT_MS + 2 * HOUR_MS); at !== null && at >= CUT_MS - 2 * HOUR_MS; ) {
      backwards.unshift(at - CUT_MS)
      at = previousFiring(calendar, zone, at)
    }
    expect(backwards).toEqual(forwards)
    return forwards.map((ms) => ms / 60_000)
  }

  it('a cut through a second pass does not end the silence of a fixed hour', () => {
    const zone = zoneChanging(CUT_MS - HOUR_MS / 2, HOUR_MS, 0)
    expect(around('*/20 0-22 * * *', zone)).toEqual([-60, -40, 40, 60, 80, 100])
    expect(around('*/20 0-23 * * *', zone)).toEqual([-120, -100, -80, -60, -40, -20, 0, 20, 40, 60, 80, 100])
  })

  it('an overlap that begins at the cut is an overlap', () => {
    const zone = zoneChanging(CUT_MS, HOUR_MS, 0)
    expect(around('*/30 0-22 * * *', zone)).toEqual([-60, -30, 60, 90])
    expect(around('*/30 * * * *', zone)).toEqual([-120, -90, -60, -30, 0, 30, 60, 90])
  })

  it('a gap half a day before the cut is not met again at the cut', () => {
    expect(around('30 0-22 * * *', zoneChanging(CUT_MS - DAY_MS / 2, 0, HOUR_MS))).toEqual([-30, 30, 90])
  })

  it('a gap that begins at the cut is a gap', () => {
    const zone = zoneChanging(CUT_MS, 0, HOUR_MS)
    expect(around('30 0-22 * * *', zone)).toEqual([-90, 0, 30, 90])
    expect(around('30 * * * *', zone)).toEqual([-90, -30, 30, 90])
  })
})
