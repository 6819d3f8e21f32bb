import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { zoneOffsetMs } from '../../src/core/cron/zone.ts'
import { CalendarError } from '../../src/core/opening/calendar-error.ts'
import { type Opening, type OpeningHours, opening } from '../../src/core/opening/opening.ts'
import { nextOpening, openingOfAll } from '../../src/core/opening/opening-of-all.ts'
import { expectMatch, vectors } from '../vectors.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const zones =
  `Africa/Casablanca America/Asuncion America/Caracas America/Havana America/Los_Angeles America/New_York America/Nuuk
  America/Santiago America/Sao_Paulo America/St_Johns Antarctica/Troll Asia/Amman Asia/Beirut Asia/Gaza Asia/Kathmandu Asia/Kolkata
  Asia/Pyongyang Asia/Tehran Asia/Tokyo Atlantic/Azores Australia/Adelaide Australia/Eucla Australia/Lord_Howe Australia/Sydney Europe/Berlin
  Europe/Chisinau Europe/Dublin Europe/Istanbul Europe/Lisbon Europe/London Europe/Paris Europe/Samara Pacific/Apia Pacific/Auckland
  Pacific/Chatham Pacific/Easter Pacific/Kiritimati Pacific/Marquesas Pacific/Norfolk UTC`.split(/\s+/)

/** The rules stated anew, for one instant, without any table. */
function isOpenPlainly(at: number, { zone, open = [], openDates = [], closedDates = [] }: OpeningHours): boolean {
  const wall = new Date(at + zoneOffsetMs(zone, at))
  const date = wall.toISOString().slice(0, 10)
  const isAmong = (dates: readonly string[]) =>
    dates.some((text) => {
      if (text.length === 5) return date.endsWith(text)
      const [from = '', to = from] = text.split('..')
      return from <= date && date <= to
    })
  if (isAmong(closedDates)) return false
  if (isAmong(openDates)) return true
  const names = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
  const now = wall.toISOString().slice(11, 16)
  return open.some((text) => {
    const [days = '', hours = ''] = text.split(' ')
    const [start = '', end = ''] = hours.split('-')
    const isOn = (weekday: number) =>
      days.split(',').some((range) => {
        const [first = '', last = first] = range.split('-').map((name) => names.indexOf(name)) as number[]
        const [from, to] = [Number(first), Number(last)]
        return from <= to ? from <= weekday && weekday <= to : weekday >= from || weekday <= to
      })
    const today = wall.getUTCDay()
    if (start < end) return isOn(today) && start <= now && now < end
    return (isOn(today) && start <= now) || (isOn((today + 6) % 7) && now < end)
  })
}

const time = fc.tuple(fc.integer({ min: 0, max: 23 }), fc.constantFrom('00', '07', '15', '30', '59'))
const clock = time.map(([hours, minutes]) => `${String(hours).padStart(2, '0')}:${minutes}`)
const days = fc.constantFrom('mon-fri', 'sat-sun', 'sun', 'fri-mon', 'tue,thu', 'mon-sun', 'mon-wed,sat')
const hours = fc
  .tuple(days, clock, fc.oneof(clock, fc.constant('24:00')))
  .map(([on, from, to]) => `${on} ${from}-${to}`)
const dates = fc.array(fc.constantFrom('2026-03-29', '2026-10-24..2026-10-26', '12-25', '02-29', '2027-01-01'), {
  maxLength: 3,
})
const calendars: fc.Arbitrary<OpeningHours> = fc.record({
  zone: fc.constantFrom(...zones),
  open: fc.array(hours, { maxLength: 3 }),
  openDates: dates,
  closedDates: dates,
})

describe('opening', () => {
  it('answers every vector', () => {
    for (const [index, vector] of vectors<{ at: number; calendar: OpeningHours }, Opening>('calendar').entries()) {
      expectMatch(opening(vector.in), vector.out, `calendar[${index}]`)
    }
  })

  it('agrees with the rules asked minute by minute, in 40 zones over ten years and through every change of their clocks', () => {
    const from = Date.UTC(2020, 0, 1)
    const instants = fc.integer({ min: 0, max: 3_650 * 1_440 }).map((minutes) => from + minutes * minute)
    fc.assert(
      fc.property(calendars, instants, (calendar, at) => {
        const { open, changesAt } = opening({ at, calendar })
        expect(open).toBe(isOpenPlainly(at, calendar))
        const until = Math.min(changesAt ?? at + 3 * day, at + 3 * day)
        for (let instant = at; instant < until; instant += minute) {
          if (isOpenPlainly(instant, calendar) !== open) expect.fail(`${new Date(instant).toISOString()} has changed`)
        }
        if (changesAt !== null) expect(isOpenPlainly(changesAt, calendar)).toBe(!open)
        if (changesAt !== null) expect(isOpenPlainly(changesAt - minute, calendar)).toBe(open)
      }),
      { numRuns: 1_500 },
    )
  })

  it('takes the matching minutes of a cron as open', () => {
    const calendar = { zone: 'Europe/Paris', cron: '* 8-19 * * 1-5' }
    const monday = Date.UTC(2026, 10, 23, 7)
    expect(opening({ at: monday, calendar })).toEqual({ open: true, changesAt: monday + 12 * hour })
    expect(opening({ at: monday - 1, calendar })).toEqual({ open: false, changesAt: monday })
    expect(opening({ at: monday, calendar: { zone: 'UTC', cron: '* * * * *' } })).toEqual({
      open: true,
      changesAt: null,
    })
    expect(opening({ at: monday, calendar: { zone: 'UTC', cron: '* * 30 2 *' } })).toEqual({
      open: false,
      changesAt: null,
    })
  })

  it('looks 400 days ahead, and no further', () => {
    const at = Date.UTC(2026, 0, 1)
    const opens = (date: string) => opening({ at, calendar: { zone: 'UTC', openDates: [date] } }).changesAt
    expect(opens('2027-02-05')).toBe(at + 400 * day)
    expect(opens('2027-02-06')).toBeNull()
  })

  it.each([
    ['', 0],
    ['mon-xyz 08:00-18:00', 4],
    ['mon 25:00-26:00', 4],
    ['mon 08:00-24:01', 10],
    ['mon 24:00-24:00', 4],
    ['mon  08:00-18:00', 4],
    ['mon 08:00', 9],
    ['mon 08:00-18:00 ', 15],
    ['mon,08:00-18:00', 4],
  ])('refuses the hours %j at character %i', (text, position) => {
    const refused = () => opening({ at: 0, calendar: { zone: 'UTC', open: [text] } })
    expect(refused).toThrow(CalendarError)
    expect(refused).toThrow(expect.objectContaining({ position }))
  })

  it.each([
    '2026-02-29',
    '2026-13-01',
    '26-12-25',
    '02-30',
    '2026-12-31..2026-12-24',
    '2026-01-01..2026-01-02..2026-01-03',
    '',
  ])('refuses the date %j', (text) => {
    expect(() => opening({ at: 0, calendar: { zone: 'UTC', closedDates: [text] } })).toThrow(CalendarError)
  })
})

describe('opening of several calendars', () => {
  const office = { calendar: { zone: 'Europe/Paris', open: ['mon-fri 08:00-18:00'] }, isInverted: false }
  const notNoon = { calendar: { zone: 'UTC', open: ['mon-sun 11:00-12:00'] }, isInverted: true }
  const monday = Date.UTC(2026, 10, 23)

  it('is open while all of them are, and an inverted one while it is closed', () => {
    const calendars = [office, notNoon]
    const changes: number[] = []
    for (let at = monday; changes.length < 5; at = changes.at(-1) as number) {
      changes.push(openingOfAll({ at, calendars }).changesAt as number)
    }
    expect(changes.map((at) => (at - monday) / hour)).toEqual([7, 11, 12, 17, 31])
    expect(nextOpening({ at: monday + 11 * hour, calendars })).toBe(monday + 12 * hour)
    expect(nextOpening({ at: monday + 12 * hour, calendars })).toBe(monday + 12 * hour)
  })

  it('never opens where one of them excludes the other, and is always open without any', () => {
    expect(openingOfAll({ at: monday, calendars: [office, { ...office, isInverted: true }] })).toEqual({
      open: false,
      changesAt: null,
    })
    expect(openingOfAll({ at: monday, calendars: [] })).toEqual({ open: true, changesAt: null })
  })
})
