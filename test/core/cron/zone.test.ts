import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { compile } from '../../../src/core/cron/calendar.ts'
import { cron } from '../../../src/core/cron/cron.ts'
import { nextFiring, previousFiring } from '../../../src/core/cron/firing.ts'
import { longestGapMs } from '../../../src/core/cron/longest-gap.ts'
import { parse } from '../../../src/core/cron/parse.ts'
import { newZone, segmentAt, type Zone, zoneOf, zoneOffsetMs } from '../../../src/core/cron/zone.ts'
import { isKnownZone, resolveZone } from '../../../src/core/cron/zone-name.ts'
import { workOf } from '../../parts/config/work.ts'
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
      expect(next.startMs).toBeLessThanOrEqual(previous.endMs)
      expect(next.endMs).toBeGreaterThan(previous.endMs)
      if (next.startMs === previous.endMs) expect(next.offsetMs - previous.offsetMs).toBe(next.shiftMs)
      else expect(next).toMatchObject({ startMs: previous.startMs, offsetMs: previous.offsetMs })
      previous = next
    }
    expect(previous.startMs).toBe(change.startMs)
  })

  it('say where a second pass ends', () => {
    const overlap = segmentAt(zoneOf('America/New_York'), Date.parse('2026-11-01T06:00Z'))
    expect(overlap).toMatchObject({ startMs: Date.parse('2026-11-01T06:00Z'), shiftMs: -HOUR_MS })
    expect(overlap.freshFromMs).toBe(Date.parse('2026-11-01T07:00Z'))
  })
})

/** Counts the questions to the runtime's zone data, which are nearly all that a zone costs. */
describe('what a zone costs', () => {
  function counted(name: string): { readonly zone: Zone; readonly asked: () => number } {
    const { offsetAt } = zoneOf(name)
    let asked = 0
    const zone = newZone({ name, isUtc: false }, (instantMs) => {
      asked += 1
      return offsetAt(instantMs)
    })
    return { zone, asked: () => asked }
  }
  const now = Date.UTC(2026, 6, 1)

  it.each<[string, number]>([
    ['0 2 * * *', 20],
    ['0 2 28 10 *', 60],
    ['0 2 29 2 *', 60],
    ['0 * * 2 5#5', 60],
  ])(
    'the first time that it is asked for %s is what lies around the answer, however far away that is',
    (text, most) => {
      for (const name of Intl.supportedValuesOf('timeZone')) {
        const { zone, asked } = counted(name)
        nextFiring(compile(parse(text)), zone, now)
        previousFiring(compile(parse(text)), zone, now)
        expect(asked(), name).toBeLessThanOrEqual(2 * most)
      }
    },
  )

  it.each(['0 2 * * *', '0 2 1 * *', '0 2 1 1 *', '0 2 29 2 *'])(
    'the first time that it is asked for the longest gap of %s is a few years, and not two centuries',
    (text) => {
      for (const name of Intl.supportedValuesOf('timeZone')) {
        const { zone, asked } = counted(name)
        longestGapMs(compile(parse(text)), zone, now)
        expect(asked(), name).toBeLessThanOrEqual(2_000)
      }
    },
  )

  it('the second time is nothing', () => {
    const { zone, asked } = counted('Europe/Paris')
    const ask = () => longestGapMs(compile(parse('0 2 * * *')), zone, now)
    ask()
    const first = asked()
    ask()
    expect(asked()).toBe(first)
  })

  it('in memory has a bound, and each year less than ten entries', () => {
    const { zone } = counted('Africa/Casablanca')
    const calendar = compile(parse('0 2 * * *'))
    for (let at: number | null = now; at !== null && at < Date.UTC(2066, 0, 1); ) at = nextFiring(calendar, zone, at)
    expect(zone.segments.length).toBeLessThan(200)
    for (let at = 0; at < Date.UTC(2199, 0, 1); at += 60 * DAY_MS) segmentAt(zone, at)
    expect(zone.segments.length).toBeLessThan(520)
  })

  it('is paid once, in whatever letters it is written', () => {
    expect(zoneOf('europe/PARIS')).toBe(zoneOf('Europe/Paris'))
  })

  it('that does not exist is a look at the beginnings of others, and only where somebody is told what was meant', async () => {
    const asked = await workOf(async () => isKnownZone('Amerika/New_Yrok'))
    expect(asked.of('nearest')).toBe(0)
    const told = await workOf(async () => expect(() => resolveZone('Amerika/New_Yrok')).toThrow('America/New_York'))
    expect([told.of('nearest'), told.of('at')]).toEqual([2, expect.toSatisfy((steps: number) => steps < 100_000)])
  })

  it('is nothing where only its name is asked for again', () => {
    isKnownZone('Pacific/Chatham')
    const made = vi.spyOn(Intl, 'DateTimeFormat')
    try {
      expect([isKnownZone('Pacific/Chatham'), resolveZone('Pacific/Chatham').name]).toEqual([true, 'Pacific/Chatham'])
      zoneOf('Pacific/Chatham')
      expect(made).not.toHaveBeenCalled()
    } finally {
      made.mockRestore()
    }
  })
})

/** What has been read of a zone depends on who asked before, and the answers must not. */
describe('the answers of a zone', () => {
  it('are the same, whatever was asked before', () => {
    const texts = ['15 */3 28 10,3 *', '*/20 0-22 * * 0', '0 2 29 2 *', '30 1 * 3,4,9-11 *', '30 2 L * *']
    for (const name of ['Europe/Berlin', 'Africa/Casablanca', 'Australia/Lord_Howe', 'Pacific/Apia', 'Asia/Gaza']) {
      const { offsetAt } = zoneOf(name)
      const used = newZone({ name, isUtc: false }, offsetAt)
      fc.assert(
        fc.property(fc.constantFrom(...texts), fc.integer({ min: 0, max: 2e9 }), (text, seconds) => {
          const calendar = compile(parse(text))
          const fresh = newZone({ name, isUtc: false }, offsetAt)
          const at = seconds * 1_000
          expect(nextFiring(calendar, used, at)).toBe(nextFiring(calendar, fresh, at))
          expect(previousFiring(calendar, used, at)).toBe(previousFiring(calendar, fresh, at))
        }),
        { numRuns: 300 },
      )
    }
  })
})

/** No real zone changes where the table is cut, so these are made up: an hour forward or back at an instant. */
describe('a change of offset where the table is cut', () => {
  const CUT_MS = 14 * 28 * DAY_MS
  const zoneChanging = (atMs: number, beforeMs: number, afterMs: number): Zone =>
    newZone({ name: 'Test/Cut', isUtc: false }, (instantMs) => (instantMs < atMs ? beforeMs : afterMs))
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
