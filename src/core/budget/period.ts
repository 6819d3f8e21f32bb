import { segmentAt, type Zone, zoneOf } from '../cron/zone.ts'

export const periods = ['run', 'hour', 'day', 'week', 'month'] as const
/** `run` is not a stretch of time: such a budget is for one run, over all its attempts. */
export type Period = (typeof periods)[number]

export interface Stretch {
  readonly from: number
  /** When the next period begins. */
  readonly until: number
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** No zone is farther east, so no date begins earlier than this. */
const eastmostMs = 15 * hourMs

/**
 * The stretch of the period that an instant lies in, by the wall clock of a zone; `null` for `run`.
 *
 * A day begins at the first instant with its date, also where the clock skips midnight or shows it twice. Hours are as long as
 * they are by any clock: in the hour that a clock shows twice, two budgets of an hour follow each other.
 */
export function periodAt({ per, zone, at }: { per: Period; zone: string; at: number }): Stretch | null {
  if (per === 'run') return null
  const place = zoneOf(zone)
  if (per === 'hour') return hourAt(place, at)
  let day = firstDay(per, Math.floor((at + segmentAt(place, at).offsetMs) / dayMs))
  // A clock that goes back over midnight shows the earlier date again, although that day is over.
  while (dayStart(place, nextFirst(per, day)) <= at) day = nextFirst(per, day)
  return { from: dayStart(place, day), until: dayStart(place, nextFirst(per, day)) }
}

/** Some zones change by half an hour: the hour is cut there. */
function hourAt(zone: Zone, at: number): Stretch {
  const { startMs, endMs, offsetMs, shiftMs } = segmentAt(zone, at)
  const begins = Math.floor((at + offsetMs) / hourMs) * hourMs - offsetMs
  const from = shiftMs % hourMs === 0 ? begins : Math.max(begins, startMs)
  const isCut = endMs < begins + hourMs && segmentAt(zone, endMs).shiftMs % hourMs !== 0
  return { from, until: isCut ? endMs : begins + hourMs }
}

type Dated = Exclude<Period, 'run' | 'hour'>

/** The first day of the period that a day lies in, as days since 1970. Weeks begin on Monday. */
function firstDay(per: Dated, day: number): number {
  if (per === 'day') return day
  // The first of January 1970 was a Thursday.
  if (per === 'week') return day - ((((day + 3) % 7) + 7) % 7)
  return day - new Date(day * dayMs).getUTCDate() + 1
}

function nextFirst(per: Dated, first: number): number {
  if (per !== 'month') return first + (per === 'day' ? 1 : 7)
  const date = new Date(first * dayMs)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) / dayMs
}

/** The first instant at which the wall clock shows this date or a later one. */
function dayStart(zone: Zone, day: number): number {
  const wallMs = day * dayMs
  let segment = segmentAt(zone, wallMs - eastmostMs)
  for (;;) {
    const { startMs, endMs, offsetMs } = segment
    const at = Math.max(startMs, wallMs - offsetMs)
    if (at < endMs) return at
    segment = segmentAt(zone, endMs)
  }
}
