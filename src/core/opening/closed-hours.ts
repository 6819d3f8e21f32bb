import { isOn, parseDate } from './dates.ts'
import { type DaySpans, dayMinutes, joined, noSpans } from './day-spans.ts'
import { parseHours, parseTimes, type Times, weekdays } from './weekly-hours.ts'

/** Hours, and the days on which they begin. */
interface ClosedHours extends Times {
  readonly begins: (day: number) => boolean
}

/** Compiles `closedHours` into the closed spans of a day; throws a CalendarError for an invalid text. */
export function closedSpans(texts: readonly string[]): (day: number) => DaySpans {
  if (texts.length === 0) return () => noSpans
  const all = texts.map(parseClosedHours)
  return (day) =>
    joined(
      all.flatMap(({ begins, startMinute, endMinute }) => [
        ...(begins(day) ? [[startMinute, Math.min(endMinute, dayMinutes)] as const] : []),
        ...(endMinute > dayMinutes && begins(day - 1) ? [[0, endMinute - dayMinutes] as const] : []),
      ]),
    )
}

/**
 * Parses weekly hours, or a date as in `closedDates` with hours behind it: `wed 14:00-16:00`, `2026-12-24 12:00-24:00`,
 * `12-24 12:00-24:00`. A rule may begin at a date: `wed 14:00-16:00 from 2027-01-01`.
 */
export function parseClosedHours(text: string): ClosedHours {
  const [, own = text, from] = /^(.*?)( from .*)$/.exec(text) ?? []
  const [, date] = /^(\d\S*) /.exec(own) ?? []
  if (date !== undefined) {
    const on = parseDate(`${date}${from ?? ''}`)
    return { ...parseTimes(own, date.length + 1), begins: (day) => isOn(on, day) }
  }
  const { days, ...times } = parseHours(own)
  const since = from === undefined ? Number.NEGATIVE_INFINITY : parseDate(from.slice(' from '.length)).from
  return { ...times, begins: (day) => day >= since && days.includes(weekdayOf(day)) }
}

/** The 1st of January 1970 was a Thursday; 7,000 days keep the remainder positive before it. */
export function weekdayOf(day: number): number {
  return (day + 4 + 7_000) % weekdays.length
}
