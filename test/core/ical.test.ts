import { describe, expect, it } from 'vitest'
import { parseClosedHours } from '../../src/core/opening/closed-hours.ts'
import { parseDate } from '../../src/core/opening/dates.ts'
import { icalClosings } from '../../src/core/opening/ical.ts'

const now = Date.UTC(2026, 10, 18)

function read(events: readonly (readonly string[])[], zone = 'Europe/Paris') {
  const lines = events.flatMap((event) => ['BEGIN:VEVENT', ...event, 'END:VEVENT'])
  const answer = icalClosings({ text: ['BEGIN:VCALENDAR', ...lines, 'END:VCALENDAR'].join('\r\n'), zone, now })
  for (const date of answer.closedDates) parseDate(date)
  for (const hours of answer.closedHours) parseClosedHours(hours)
  return answer
}

const taken = (...event: string[]) => {
  const { closedDates, closedHours, unread } = read([event])
  return unread.length > 0 ? unread.map(({ problem }) => problem) : [...closedDates, ...closedHours]
}

describe('an iCalendar file', () => {
  it('closes all-day events by their dates, with an end that is not included', () => {
    expect(taken('DTSTART;VALUE=DATE:20261225')).toEqual(['2026-12-25'])
    expect(taken('DTSTART;VALUE=DATE:20261224', 'DTEND;VALUE=DATE:20261227')).toEqual(['2026-12-24..2026-12-26'])
    expect(taken('DTSTART;VALUE=DATE:20261224', 'DURATION:P1W')).toEqual(['2026-12-24..2026-12-30'])
  })

  it('closes timed events by their hours, in the zone of the calendar', () => {
    expect(taken('DTSTART:20261224T120000', 'DTEND:20261224T180000')).toEqual(['2026-12-24 12:00-18:00'])
    expect(taken('DTSTART:20261224T110000Z', 'DURATION:PT90M')).toEqual(['2026-12-24 12:00-13:30'])
    expect(taken('DTSTART;TZID=America/New_York:20261224T200000', 'DURATION:PT1H')).toEqual(['2026-12-25 02:00-03:00'])
    expect(taken('DTSTART:20261224T120000', 'DTEND:20261227T080000')).toEqual([
      '2026-12-25..2026-12-26',
      '2026-12-24 12:00-24:00',
      '2026-12-27 00:00-08:00',
    ])
    expect(taken('DTSTART:20261224T120000', 'DTEND:20261225T000000')).toEqual(['2026-12-24 12:00-24:00'])
  })

  it('keeps a rule without an end as a rule, from its beginning on', () => {
    expect(taken('DTSTART;VALUE=DATE:20201225', 'RRULE:FREQ=YEARLY')).toEqual(['12-25'])
    expect(taken('DTSTART;VALUE=DATE:20271225', 'RRULE:FREQ=YEARLY')).toEqual(['12-25 from 2027-12-25'])
    expect(taken('DTSTART;VALUE=DATE:20201224', 'DTEND;VALUE=DATE:20201227', 'RRULE:FREQ=YEARLY')).toEqual([
      '12-24',
      '12-25',
      '12-26',
    ])
    expect(taken('DTSTART;VALUE=DATE:20201126', 'RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH')).toEqual(['11-thu#4'])
    expect(taken('DTSTART;VALUE=DATE:20200229', 'RRULE:FREQ=YEARLY')).toEqual(['02-29'])
    expect(taken('DTSTART;VALUE=DATE:20201101', 'RRULE:FREQ=WEEKLY')).toEqual(['sun 00:00-24:00'])
    expect(taken('DTSTART:20201104T140000', 'DTEND:20201104T160000', 'RRULE:FREQ=WEEKLY;BYDAY=MO,WE')).toEqual([
      'mon,wed 14:00-16:00',
    ])
    expect(taken('DTSTART:20201224T120000', 'DTEND:20201225T000000', 'RRULE:FREQ=YEARLY')).toEqual([
      '12-24 12:00-24:00',
    ])
  })

  it('keeps a rule with an end as its dates', () => {
    expect(taken('DTSTART;VALUE=DATE:20261225', 'RRULE:FREQ=YEARLY;COUNT=2')).toEqual(['2026-12-25', '2027-12-25'])
    expect(taken('DTSTART;VALUE=DATE:20261118', 'RRULE:FREQ=WEEKLY;UNTIL=20261202')).toEqual([
      '2026-11-18',
      '2026-11-25',
      '2026-12-02',
    ])
    expect(taken('DTSTART;VALUE=DATE:20261126', 'RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=-1TH;COUNT=2')).toEqual([
      '2026-11-26',
      '2027-11-25',
    ])
  })

  it('ends a rule by the wall clock of the calendar where its end is in UTC', () => {
    const weekdays = ['DTSTART:20261221T070000', 'DURATION:PT1H', 'RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;UNTIL=']
    const until = (zone: string, end: string) =>
      read([[...weekdays.slice(0, 2), `${weekdays[2]}${end}`]], zone).closedHours
    // The 22nd ends there at 08:00 of the 23rd in UTC, and in Auckland at 11:00 of the 22nd.
    expect(until('America/Los_Angeles', '20261223T075959Z')).toEqual([
      '2026-12-21 07:00-08:00',
      '2026-12-22 07:00-08:00',
    ])
    expect(until('Pacific/Auckland', '20261221T180000Z')).toEqual(['2026-12-21 07:00-08:00', '2026-12-22 07:00-08:00'])
  })

  it('writes out at most so many dates, however often a small file repeats', () => {
    const event = ['DTSTART;VALUE=DATE:20261118', 'RRULE:FREQ=WEEKLY;COUNT=1000']
    const { events, closedDates, unread } = read(Array.from({ length: 25 }, () => event))
    expect([events, closedDates.length]).toEqual([21, 1_000])
    expect(unread).toHaveLength(4)
    expect(unread[0]?.problem).toBe('is behind the first 20000 dates of the file')
  })

  it('lists everything else, each with its line, and takes nothing of it', () => {
    const { unread, closedDates, closedHours, events } = read([
      ['SUMMARY:no beginning'],
      ['DTSTART;VALUE=DATE:20261225', 'RRULE:FREQ=MONTHLY'],
      ['DTSTART;VALUE=DATE:20261225', 'RRULE:FREQ=YEARLY;INTERVAL=2'],
      ['DTSTART;VALUE=DATE:20261225', 'RRULE:FREQ=YEARLY', 'EXDATE;VALUE=DATE:20271225'],
      ['DTSTART:20261225T100000', 'DTEND:20261225T100000'],
      ['DTSTART:2026-12-25'],
      ['DTSTART;TZID=Mars/Base:20261225T100000', 'DURATION:PT1H'],
      ['DTSTART:20261225T100000Z', 'DURATION:PT1H', 'RRULE:FREQ=WEEKLY'],
      ['DTSTART;VALUE=DATE:20261225', 'STATUS:CANCELLED'],
      // The number of times is none, and the search for the last would not end.
      ['DTSTART;VALUE=DATE:20261225', 'RRULE:FREQ=WEEKLY;COUNT=often'],
      ['DTSTART;VALUE=DATE:20261225', 'RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30'],
    ])
    expect([...closedDates, ...closedHours, events]).toEqual([0])
    expect(unread.map(({ line, problem }) => `${line}: ${problem}`)).toEqual([
      '2: has no DTSTART',
      '7: repeats MONTHLY: only weekly and yearly rules are supported',
      '11: leaves out weeks or years',
      '16: is not supported, so its event is left out',
      '20: does not end after it begins',
      '23: is neither a date nor a time',
      '26: names the zone Mars/Base, which is not known',
      '32: repeats in another zone than that of the calendar',
      '36: is cancelled',
      '40: has a COUNT that is not a number of times',
      '44: is on a date that does not exist',
    ])
  })

  it('lists what is no event, and joins folded lines', () => {
    const text = [
      'BEGIN:VCALENDAR',
      'BEGIN:VTODO',
      'DUE:20261225',
      'END:VTODO',
      'BEGIN:VEVENT',
      'DTSTART;VALUE=',
      ' DATE:20261225',
      'END:VEVENT',
      'what',
      'END:VEVENT',
    ]
    const { closedDates, unread } = icalClosings({ text: text.join('\n'), zone: 'UTC', now })
    expect(closedDates).toEqual(['2026-12-25'])
    expect(unread.map(({ line, problem }) => `${line}: ${problem}`)).toEqual([
      '1: has no END:VCALENDAR',
      '2: is not an event: only VEVENT is read',
      '9: is not a property: NAME:VALUE',
      '10: ends no VCALENDAR',
    ])
  })
})
