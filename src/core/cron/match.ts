import { type Calendar, monthShape } from './calendar.ts'
import { highestBit, lowestBit, memberAtOrAfter, memberAtOrBefore } from './mask.ts'

const DAY_MS = 86_400_000
const FIRST_YEAR = 1969
const MONTHS_PER_DAY = 12 / 365.2425

/** One year more at each end than the supported instants, because local dates are ahead of UTC or behind it. */
const YEARS = 2201 - FIRST_YEAR

/** The first day of every month as days since 1970, from January of the first year to the one after the last. */
const MONTH_STARTS = Int32Array.from({ length: YEARS * 12 + 1 }, (_, month) => Date.UTC(FIRST_YEAR, month, 1) / DAY_MS)

/**
 * The first matching wall-clock time at or after one; Infinity when the calendar has none left.
 * Wall-clock times are written as the UTC instant that shows the same digits.
 */
export function matchAtOrAfter(calendar: Calendar, localMs: number): number {
  const today = Math.floor(localMs / DAY_MS)
  const day = dayAtOrAfter(calendar, today)
  if (day !== today) return day * DAY_MS + calendar.firstSecondOfDay * 1_000
  const second = secondAtOrAfter(calendar, Math.ceil((localMs - today * DAY_MS) / 1_000))
  if (second >= 0) return today * DAY_MS + second * 1_000
  return dayAtOrAfter(calendar, today + 1) * DAY_MS + calendar.firstSecondOfDay * 1_000
}

/** The last matching wall-clock time at or before one; -Infinity when there is none. */
export function matchAtOrBefore(calendar: Calendar, localMs: number): number {
  const today = Math.floor(localMs / DAY_MS)
  const day = dayAtOrBefore(calendar, today)
  if (day !== today) return day * DAY_MS + calendar.lastSecondOfDay * 1_000
  const second = secondAtOrBefore(calendar, Math.floor((localMs - today * DAY_MS) / 1_000))
  if (second >= 0) return today * DAY_MS + second * 1_000
  return dayAtOrBefore(calendar, today - 1) * DAY_MS + calendar.lastSecondOfDay * 1_000
}

/** The first matching day at or after one, in days since 1970; Infinity when the calendar has none left. */
export function dayAtOrAfter(calendar: Calendar, day: number): number {
  let month = monthOf(day)
  let rest = matchingDays(calendar, month) & (-1 << (day - startOf(month)))
  while (rest === 0) {
    month += 1
    if (month >= YEARS * 12) return Number.POSITIVE_INFINITY
    rest = matchingDays(calendar, month)
  }
  return startOf(month) + lowestBit(rest)
}

function dayAtOrBefore(calendar: Calendar, day: number): number {
  let month = monthOf(day)
  let rest = matchingDays(calendar, month) & (-1 >>> (31 - (day - startOf(month))))
  while (rest === 0) {
    month -= 1
    if (month < 0) return Number.NEGATIVE_INFINITY
    rest = matchingDays(calendar, month)
  }
  return startOf(month) + highestBit(rest)
}

/** Months are counted from January of the first year; the guess is never more than one month off. */
function monthOf(day: number): number {
  const guess = Math.floor((day - startOf(0)) * MONTHS_PER_DAY)
  if (day < startOf(guess)) return guess - 1
  return day < startOf(guess + 1) ? guess : guess + 1
}

function matchingDays(calendar: Calendar, month: number): number {
  if (((calendar.months >>> (month % 12)) & 1) === 0) return 0
  const start = startOf(month)
  // The 1st of January 1970 was a Thursday; 7,000 days keep the remainder positive before it.
  const firstWeekday = (start + 4 + 7_000) % 7
  return calendar.daysByShape[monthShape(firstWeekday, startOf(month + 1) - start)] ?? 0
}

function startOf(month: number): number {
  return MONTH_STARTS[month] ?? Number.POSITIVE_INFINITY
}

/** The first matching second of the day at or after one (0 to 86,400), or -1. */
function secondAtOrAfter({ hours, minutes, seconds, firstSecondOfDay }: Calendar, from: number): number {
  const firstOfHour = firstSecondOfDay % 3_600
  const hour = Math.floor(from / 3_600)
  if (memberAtOrAfter(hours, hour) === hour) {
    const minute = Math.floor(from / 60) % 60
    let next = memberAtOrAfter(minutes, minute)
    if (next === minute) {
      const second = memberAtOrAfter(seconds, from % 60)
      if (second >= 0) return hour * 3_600 + minute * 60 + second
      next = memberAtOrAfter(minutes, minute + 1)
    }
    if (next >= 0) return hour * 3_600 + next * 60 + (firstOfHour % 60)
  }
  const next = memberAtOrAfter(hours, hour + 1)
  return next < 0 ? -1 : next * 3_600 + firstOfHour
}

/** The last matching second of the day at or before one (0 to 86,399), or -1. */
function secondAtOrBefore({ hours, minutes, seconds, lastSecondOfDay }: Calendar, from: number): number {
  const lastOfHour = lastSecondOfDay % 3_600
  const hour = Math.floor(from / 3_600)
  if (memberAtOrBefore(hours, hour) === hour) {
    const minute = Math.floor(from / 60) % 60
    let next = memberAtOrBefore(minutes, minute)
    if (next === minute) {
      const second = memberAtOrBefore(seconds, from % 60)
      if (second >= 0) return hour * 3_600 + minute * 60 + second
      next = memberAtOrBefore(minutes, minute - 1)
    }
    if (next >= 0) return hour * 3_600 + next * 60 + (lastOfHour % 60)
  }
  const next = memberAtOrBefore(hours, hour - 1)
  return next < 0 ? -1 : next * 3_600 + lastOfHour
}
