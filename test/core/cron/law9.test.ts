import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cron } from '../../../src/core/cron/cron.ts'
import { expressions } from './arbitraries.ts'
import { disagreements, expressionsNear, judge, readWindow, transitions } from './law9-judge.mjs'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const ZONES = [
  ...['Africa/Cairo', 'Africa/Casablanca', 'Africa/El_Aaiun', 'America/Adak', 'America/Anchorage', 'America/Asuncion'],
  ...['America/Chicago', 'America/Denver', 'America/Halifax', 'America/Havana', 'America/Los_Angeles'],
  ...['America/Miquelon', 'America/New_York', 'America/Nuuk', 'America/Port-au-Prince', 'America/Santiago'],
  ...['America/Scoresbysund', 'America/St_Johns', 'America/Tijuana', 'Antarctica/Macquarie', 'Antarctica/Troll'],
  ...['Asia/Amman', 'Asia/Beirut', 'Asia/Famagusta', 'Asia/Gaza', 'Asia/Hebron', 'Asia/Jerusalem', 'Asia/Tehran'],
  ...['Atlantic/Azores', 'Atlantic/Bermuda', 'Australia/Adelaide', 'Australia/Lord_Howe', 'Australia/Sydney'],
  ...['Europe/Athens', 'Europe/Chisinau', 'Europe/Dublin', 'Europe/Kyiv', 'Europe/Lisbon', 'Europe/London'],
  ...['Europe/Paris', 'Pacific/Auckland', 'Pacific/Chatham', 'Pacific/Easter', 'Pacific/Fiji', 'Pacific/Norfolk'],
]

function firings(expression: string, zone: string, from: string, until: string): string[] {
  const calendar = cron(expression, zone)
  const found: string[] = []
  let at = calendar.next(Date.parse(from) - 1)
  while (at !== null && at < Date.parse(until)) {
    found.push(new Date(at).toISOString())
    at = calendar.next(at)
  }
  return found
}

describe('law 9: a fixed hour', () => {
  it('law 9: fires once at the end of a whole skipped day, not once for each time in it', () => {
    expect(firings('0 6,9,12 * * *', 'Pacific/Apia', '2011-12-29T10:00Z', '2012-01-01T00:00Z')).toEqual([
      '2011-12-29T16:00:00.000Z',
      '2011-12-29T19:00:00.000Z',
      '2011-12-29T22:00:00.000Z',
      '2011-12-30T10:00:00.000Z',
      '2011-12-30T16:00:00.000Z',
      '2011-12-30T19:00:00.000Z',
      '2011-12-30T22:00:00.000Z',
      '2011-12-31T16:00:00.000Z',
      '2011-12-31T19:00:00.000Z',
      '2011-12-31T22:00:00.000Z',
    ])
  })

  it('law 9: fires once, not twice, when the end of the gap is itself a match', () => {
    expect(firings('0,30 2-3 8 3 *', 'America/New_York', '2026-03-08T00:00Z', '2026-03-09T00:00Z')).toEqual([
      '2026-03-08T07:00:00.000Z',
      '2026-03-08T07:30:00.000Z',
    ])
  })

  it('law 9: keeps the day whose only time fell into the gap', () => {
    expect(firings('30 2 8 3 *', 'America/New_York', '2026-01-01T00:00Z', '2027-01-01T00:00Z')).toEqual([
      '2026-03-08T07:00:00.000Z',
    ])
  })

  it('law 9: is not made up for by a gap that its times do not touch', () => {
    expect(firings('0 4 * * *', 'America/New_York', '2026-03-08T00:00Z', '2026-03-09T00:00Z')).toHaveLength(1)
    expect(firings('0 2 9 3 *', 'America/New_York', '2026-03-08T00:00Z', '2026-03-09T00:00Z')).toHaveLength(0)
  })

  it('law 9: stays silent in the second pass, and goes on right after it', () => {
    expect(firings('*/30 1-2 * * *', 'America/New_York', '2026-11-01T04:30Z', '2026-11-01T12:00Z')).toEqual([
      '2026-11-01T05:00:00.000Z',
      '2026-11-01T05:30:00.000Z',
      '2026-11-01T07:00:00.000Z',
      '2026-11-01T07:30:00.000Z',
    ])
    const asked = Date.parse('2026-11-01T06:10Z')
    const calendar = cron('*/30 1-2 * * *', 'America/New_York')
    expect(calendar.next(asked)).toBe(Date.parse('2026-11-01T07:00Z'))
    expect(calendar.previous(asked)).toBe(Date.parse('2026-11-01T05:30Z'))
  })

  it('law 9: all 24 hours in a list are a wildcard, 23 of them are not', () => {
    const window = ['2026-11-01T04:30Z', '2026-11-01T07:30Z'] as const
    expect(firings('0 0-23 * * *', 'America/New_York', ...window)).toHaveLength(3)
    expect(firings('0 */1,5 * * *', 'America/New_York', ...window)).toHaveLength(3)
    expect(firings('0 0-22 * * *', 'America/New_York', ...window)).toHaveLength(2)
  })
})

describe('law 9: a wildcard hour', () => {
  it('law 9: loses what the gap swallowed and fires in both passes of the overlap', () => {
    expect(firings('30 */2 * * *', 'America/New_York', '2026-03-08T04:00Z', '2026-03-08T10:00Z')).toEqual([
      '2026-03-08T05:30:00.000Z',
      '2026-03-08T08:30:00.000Z',
    ])
    expect(firings('30 * * * *', 'Australia/Lord_Howe', '2026-04-04T13:45Z', '2026-04-04T16:30Z')).toEqual([
      '2026-04-04T14:30:00.000Z',
      '2026-04-04T15:00:00.000Z',
      '2026-04-04T16:00:00.000Z',
    ])
  })

  it('law 9: fires again when the wall goes back over its last time of the year', () => {
    const calendar = cron('30 */23 24 10 *', 'Asia/Beirut')
    expect(calendar.next(Date.parse('2026-10-24T20:45Z'))).toBe(Date.parse('2026-10-24T21:30Z'))
    expect(calendar.next(Date.parse('2026-10-24T21:30Z'))).toBe(Date.parse('2027-10-23T21:30Z'))
    expect(calendar.previous(Date.parse('2026-10-24T21:30Z'))).toBe(Date.parse('2026-10-24T20:30Z'))
  })

  it('law 9: has nothing on a day that the zone skipped', () => {
    expect(firings('0 * 30 12 *', 'Pacific/Apia', '2011-12-28T00:00Z', '2012-01-02T00:00Z')).toEqual([])
    expect(firings('0 * 30 12 *', 'Pacific/Apia', '2011-01-01T00:00Z', '2012-12-31T00:00Z')).toHaveLength(24)
  })
})

describe('law 9: judged minute by minute', () => {
  it('law 9: next and previous agree with the judge around a change of each of 45 zones', { timeout: 120_000 }, () => {
    let comparisons = 0
    for (const [index, zone] of ZONES.entries()) {
      const year = 2022 + (index % 10)
      const changes = transitions(zone, Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1))
      for (const changeMs of changes.slice(0, 4)) {
        const window = readWindow(zone, changeMs - 3 * DAY_MS, changeMs + 3 * DAY_MS, 60_000)
        for (const expression of expressionsNear(zone, changeMs, 6)) {
          const found = disagreements(cron(expression, zone), judge(expression, window), window)
          expect(found, `${expression} in ${zone}`).toEqual([])
          comparisons += 1
        }
      }
    }
    expect(comparisons).toBeGreaterThan(300)
  })

  it.each([
    ['Pacific/Apia', '2011-12-30T10:00Z'],
    ['Pacific/Kwajalein', '1993-08-21T12:00Z'],
    ['Asia/Pyongyang', '2018-05-04T15:00Z'],
    ['America/Caracas', '2016-05-01T07:00Z'],
    ['America/Sao_Paulo', '2018-11-04T03:00Z'],
    ['Africa/Casablanca', '2026-02-15T02:00Z'],
    ['Antarctica/Troll', '2026-10-25T01:00Z'],
    ['Australia/Lord_Howe', '2026-04-04T15:00Z'],
  ])('law 9: any expression agrees with the judge in %s around %s', (zone, at) => {
    const window = readWindow(zone, Date.parse(at) - DAY_MS, Date.parse(at) + DAY_MS, 60_000)
    const near = expressionsNear(zone, Date.parse(at), 40)
    for (const expression of near) {
      expect(disagreements(cron(expression, zone), judge(expression, window), window), expression).toEqual([])
    }
    const fiveFields = expressions.filter((expression) => expression.split(' ').length === 5)
    fc.assert(
      fc.property(fiveFields, (expression) => {
        expect(disagreements(cron(expression, zone), judge(expression, window), window)).toEqual([])
      }),
      { numRuns: 60 },
    )
  })

  it('law 9: seconds are judged second by second, also where the offset itself has seconds', () => {
    const changes = [
      ['America/New_York', '2026-03-08T07:00Z'],
      ['America/New_York', '2026-11-01T06:00Z'],
      ['Australia/Lord_Howe', '2026-10-03T15:30Z'],
      ['Africa/Monrovia', '1972-01-07T00:44:30Z'],
    ] as const
    for (const [zone, at] of changes) {
      const window = readWindow(zone, Date.parse(at) - 1.5 * HOUR_MS, Date.parse(at) + 1.5 * HOUR_MS, 1_000)
      for (const expression of expressionsNear(zone, Date.parse(at), 4)) {
        const withSeconds = `5-59/18 ${expression}`
        const found = disagreements(cron(withSeconds, zone), judge(withSeconds, window), window)
        expect(found, `${withSeconds} in ${zone}`).toEqual([])
      }
    }
  })
})
