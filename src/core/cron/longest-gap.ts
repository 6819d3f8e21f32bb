import type { Calendar } from './calendar.ts'
import { CRON_HORIZON_MS, nextFiring, previousFiring } from './firing.ts'
import { type Mask, valuesOf } from './mask.ts'
import { dayAtOrAfter } from './match.ts'
import { segmentAt, type Zone } from './zone.ts'

const DAY_MS = 86_400_000
/** Covers all gaps until the horizon for leap-year crons; almost fifty years for yearly ones. */
const GAPS_FOLLOWED_MAX = 48
/** Eight years of a daily cron; a rarer one reaches the whole calendar, over leap years and centuries. */
const DAYS_MAX = 3_000
/** Within this many years each date falls on each weekday, and clocks change on fixed weekdays. */
const CHANGES_READ_MS = 12 * 366 * DAY_MS

/**
 * The longest time between two consecutive firings, from the start of the UTC year of `fromMs` on.
 *
 * The first gaps are computed firing by firing, then from one clock change to the next, and the rest by their dates alone: a walk
 * over all firings would read every change of the zone until the horizon, which is slow and mostly a forecast.
 */
export function longestGapMs(calendar: Calendar, zone: Zone, fromMs: number): number | null {
  const yearMs = Date.UTC(new Date(fromMs).getUTCFullYear(), 0, 1)
  const followed = longestFollowed(calendar, zone, yearMs)
  if (followed.endMs === null) return followed.longestMs === 0 ? null : followed.longestMs
  const rest = { fromMs: followed.endMs, readUntilMs: yearMs + CHANGES_READ_MS }
  const longestMs = Math.max(followed.longestMs, longestAtChange(calendar, zone, rest))
  return longestByDate(calendar, zone, { ...rest, longestMs })
}

interface Rest {
  readonly fromMs: number
  /** Up to here clock changes are read. */
  readonly readUntilMs: number
}

/**
 * Gaps within an ordinary day follow from the fields. All others span a midnight of the wall clock or a change of its offset, so
 * the walk visits only those, which costs the same for `* * 1 1 *` as for `0 0 1 1 *`.
 */
function longestFollowed(
  calendar: Calendar,
  zone: Zone,
  yearMs: number,
): { readonly longestMs: number; readonly endMs: number | null } {
  let firing = nextFiring(calendar, zone, yearMs - 1)
  let longestMs = firing === null ? 0 : gapWithinDay(calendar) * 1_000
  for (let gaps = 0; firing !== null && gaps < GAPS_FOLLOWED_MAX; gaps++) {
    const { endMs, offsetMs } = segmentAt(zone, firing)
    const midnightMs = (Math.floor((firing + offsetMs) / DAY_MS) + 1) * DAY_MS - offsetMs
    const lastBefore = previousFiring(calendar, zone, Math.min(midnightMs, endMs)) ?? firing
    firing = nextFiring(calendar, zone, lastBefore)
    if (firing !== null) longestMs = Math.max(longestMs, firing - lastBefore)
  }
  return { longestMs, endMs: firing }
}

/** The longest of the gaps that contain a clock change. */
function longestAtChange(calendar: Calendar, zone: Zone, { fromMs, readUntilMs }: Rest): number {
  let longestMs = 0
  let { endMs } = segmentAt(zone, fromMs)
  while (endMs < readUntilMs) {
    const { startMs, shiftMs, endMs: nextMs } = segmentAt(zone, endMs)
    // Where nothing changes at the end of what was read, reading on prolongs the segment, whose own change lies in the past.
    if (shiftMs !== 0 && startMs === endMs) longestMs = Math.max(longestMs, gapAround(calendar, zone, startMs))
    endMs = nextMs
  }
  return longestMs
}

/** A gap longer than the known one, if any, among the gaps that are longer by their dates. */
function longestByDate(calendar: Calendar, zone: Zone, rest: Rest & { readonly longestMs: number }): number {
  const dayMs = (calendar.lastSecondOfDay - calendar.firstSecondOfDay) * 1_000
  let { longestMs } = rest
  let longestDays = 0
  let day = dayAtOrAfter(calendar, Math.floor(rest.fromMs / DAY_MS))
  for (let days = 0; days < DAYS_MAX; days++) {
    const nextDay = dayAtOrAfter(calendar, day + 1)
    if (nextDay * DAY_MS >= CRON_HORIZON_MS) break
    // Where the clocks go forward a gap is shorter than by its dates, so another of as many days may be longer.
    const isLooked = nextDay - day > longestDays || day * DAY_MS < rest.readUntilMs
    if (isLooked && (nextDay - day) * DAY_MS - dayMs > longestMs) {
      longestMs = Math.max(longestMs, gapAround(calendar, zone, midnightMs(zone, day + 1)))
    }
    longestDays = Math.max(longestDays, nextDay - day)
    day = nextDay
  }
  return longestMs
}

/** The time between the last firing before an instant and the one that follows it. */
function gapAround(calendar: Calendar, zone: Zone, atMs: number): number {
  const before = previousFiring(calendar, zone, atMs)
  const after = before === null ? null : nextFiring(calendar, zone, before)
  return before === null || after === null ? 0 : after - before
}

/** When a day begins on the wall clock; where it begins twice or never, an instant nearby. */
function midnightMs(zone: Zone, day: number): number {
  const guessMs = day * DAY_MS - segmentAt(zone, day * DAY_MS).offsetMs
  return day * DAY_MS - segmentAt(zone, guessMs).offsetMs
}

/** The longest gap in seconds between two firings of one day; 0 when there is only one. */
function gapWithinDay({ hours, minutes, seconds }: Calendar): number {
  const inMinute = unitGap(seconds, 1, { first: 0, last: 0, longest: 0 })
  const inHour = unitGap(minutes, 60, inMinute)
  return unitGap(hours, 3_600, inHour).longest
}

interface Span {
  readonly first: number
  readonly last: number
  readonly longest: number
}

/**
 * Repeats an inner pattern at each value of a field: the gap between two repetitions is the rest of the first, the
 * step, and the start of the second.
 */
function unitGap(field: Mask, unitSeconds: number, inner: Span): Span {
  const starts = valuesOf(field).map((value) => value * unitSeconds)
  const pauses = starts.slice(1).map((start, index) => start + inner.first - (starts[index] ?? 0) - inner.last)
  return {
    first: (starts[0] ?? 0) + inner.first,
    last: (starts.at(-1) ?? 0) + inner.last,
    longest: Math.max(inner.longest, ...pauses),
  }
}
