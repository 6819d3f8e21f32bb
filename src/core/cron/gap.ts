import type { Calendar } from './calendar.ts'
import { nextFiring, previousFiring } from './firing.ts'
import { type Mask, valuesOf } from './mask.ts'
import { segmentAt, type Zone } from './zone.ts'

const DAY_MS = 86_400_000
/** Eight years of a daily cron; a rarer one is followed as far as the calendar goes, over leap years and centuries. */
const GAPS_MAX = 3_000

/**
 * The longest time between two consecutive firings, from the start of the UTC year of `fromMs` on.
 *
 * Gaps within an ordinary day follow from the fields. All others span a midnight of the wall clock or a change
 * of its offset, so the walk looks only there, which costs the same for `* * * * * *` as for `0 0 * * *`.
 */
export function longestGapMs(calendar: Calendar, zone: Zone, fromMs: number): number | null {
  const yearMs = Date.UTC(new Date(fromMs).getUTCFullYear(), 0, 1)
  let firing = nextFiring(calendar, zone, yearMs - 1)
  if (firing === null) return null
  let longestMs = gapWithinDay(calendar) * 1_000
  for (let gaps = 0; firing !== null && gaps < GAPS_MAX; gaps++) {
    const { endMs, offsetMs } = segmentAt(zone, firing)
    const midnightMs = (Math.floor((firing + offsetMs) / DAY_MS) + 1) * DAY_MS - offsetMs
    const lastBefore = previousFiring(calendar, zone, Math.min(midnightMs, endMs)) ?? firing
    firing = nextFiring(calendar, zone, lastBefore)
    if (firing !== null) longestMs = Math.max(longestMs, firing - lastBefore)
  }
  return longestMs === 0 ? null : longestMs
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

/** Repeats an inner pattern at each value of a field: between two repetitions lies its end, the pause and its start. */
function unitGap(field: Mask, unitSeconds: number, inner: Span): Span {
  const starts = valuesOf(field).map((value) => value * unitSeconds)
  const pauses = starts.slice(1).map((start, index) => start + inner.first - (starts[index] ?? 0) - inner.last)
  return {
    first: (starts[0] ?? 0) + inner.first,
    last: (starts.at(-1) ?? 0) + inner.last,
    longest: Math.max(inner.longest, ...pauses),
  }
}
