import { describe, expect, it } from 'vitest'
import { zoneOffsetMs } from '../../src/core/cron/zone.ts'
import { CalendarError } from '../../src/core/opening/calendar-error.ts'
import { type OpeningHours, opening } from '../../src/core/opening/opening.ts'

const minute = 60_000
const quarter = 15 * minute
const day = 1_440 * minute

/** The open quarters of an hour of a day, by the wall clock, asked one by one and by the changes. */
function openOn(date: string, calendar: OpeningHours): string[] {
  const from = Date.parse(`${date}T00:00:00Z`)
  const at = from - zoneOffsetMs(calendar.zone, from)
  const spans: string[] = []
  let start: number | null = null
  for (let passed = 0; passed <= day; passed += quarter) {
    const { open, changesAt } = opening({ at: at + passed, calendar })
    if (changesAt !== null) expect(opening({ at: changesAt, calendar }).open).toBe(!open)
    const isOpen = open && passed < day
    if (isOpen && start === null) start = passed
    if (!isOpen && start !== null) {
      spans.push(`${text(start)}-${text(passed)}`)
      start = null
    }
  }
  return spans
}

function text(ms: number): string {
  return ms === day ? '24:00' : new Date(ms).toISOString().slice(11, 16)
}

describe('closed hours', () => {
  const zone = 'Europe/Paris'
  const open = ['mon-fri 08:00-18:00', 'sat 22:00-04:00']

  it('are cut out of the opening hours: weekly, on a date, on a date of every year, over midnight', () => {
    const calendar = {
      zone,
      open,
      closedHours: ['wed 12:00-14:00', '2026-11-19 15:00-24:00', '11-20 07:00-09:30', 'sat 23:00-01:00'],
    }
    expect(openOn('2026-11-17', calendar)).toEqual(['08:00-18:00'])
    expect(openOn('2026-11-18', calendar)).toEqual(['08:00-12:00', '14:00-18:00'])
    expect(openOn('2026-11-19', calendar)).toEqual(['08:00-15:00'])
    expect(openOn('2026-11-20', calendar)).toEqual(['09:30-18:00'])
    expect(openOn('2026-11-21', calendar)).toEqual(['22:00-23:00'])
    expect(openOn('2026-11-22', calendar)).toEqual(['01:00-04:00'])
  })

  it('beat dates that are open all day, and a rule may begin at a date', () => {
    const calendar = { zone, openDates: ['2026-11-18', '2026-11-25'], closedHours: ['wed 12:00-14:00 from 2026-11-20'] }
    expect(openOn('2026-11-18', calendar)).toEqual(['00:00-24:00'])
    expect(openOn('2026-11-25', calendar)).toEqual(['00:00-12:00', '14:00-24:00'])
  })

  it('dates may be a weekday of every year, and a yearly one may begin at a date', () => {
    const all = ['mon-sun 00:00-24:00']
    const closed = (date: string, closedDates: string[]) =>
      openOn(date, { zone: 'UTC', open: all, closedDates }).length === 0
    expect(['2026-11-26', '2027-11-25', '2028-11-23'].every((date) => closed(date, ['11-thu#4']))).toBe(true)
    expect(closed('2026-11-19', ['11-thu#4'])).toBe(false)
    expect(['2026-05-25', '2027-05-31'].every((date) => closed(date, ['05-mon#-1']))).toBe(true)
    expect(closed('2026-05-18', ['05-mon#-1'])).toBe(false)
    expect(closed('2026-12-25', ['12-25 from 2027-01-01'])).toBe(false)
    expect(closed('2027-12-25', ['12-25 from 2027-01-01'])).toBe(true)
  })

  it.each([
    ['wed 14:00', 9],
    ['2026-12-24 25:00-26:00', 11],
    ['2026-12-32 10:00-12:00', 0],
    ['2026-12-24', 0],
    ['xyz 10:00-12:00', 0],
    ['wed 10:00-12:00 from tomorrow', 0],
  ])('%j is refused at character %i', (entry, position) => {
    const refused = () => opening({ at: 0, calendar: { zone, closedHours: [entry] } })
    expect(refused).toThrow(CalendarError)
    expect(refused).toThrow(expect.objectContaining({ position }))
  })
})
