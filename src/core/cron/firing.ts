import type { Calendar } from './calendar.ts'
import { matchAtOrAfter, matchAtOrBefore } from './match.ts'
import { segmentAt, type Zone } from './zone.ts'

/** The exclusive end of the supported instants; they begin in 1970. */
export const CRON_HORIZON_MS = Date.UTC(2200, 0, 1)

/**
 * A clock change affects only instants within this time of it: no two offsets of a zone are farther apart than 26 hours, and no
 * gap or overlap is longer. The offsets in between are not even read.
 */
const REACH_MS = 4 * 86_400_000

/**
 * The first firing strictly after an instant.
 *
 * One matching wall-clock time is carried through the segments of the zone until a segment shows it. Only a wildcard expression
 * has to match again on the way: the wall clock repeats an hour in which it must fire, or skips its next time. A fixed one fires
 * where the gap ends, and skips times that were shown before.
 */
export function nextFiring(calendar: Calendar, zone: Zone, afterMs: number): number | null {
  if (calendar.isNever || afterMs >= CRON_HORIZON_MS) return null
  const { isFixed } = calendar
  const afterSecondMs = Math.max(Math.floor(afterMs / 1_000), -1) * 1_000
  let segment = segmentAt(zone, afterSecondMs)
  const fromMs = isFixed ? Math.max(afterSecondMs + 1_000, segment.freshFromMs) : afterSecondMs + 1_000
  let local = matchAtOrAfter(calendar, fromMs + segment.offsetMs)
  for (;;) {
    const instantMs = local - segment.offsetMs
    if (instantMs < segment.endMs) return instantMs < CRON_HORIZON_MS ? instantMs : null
    const { endMs } = segment
    const untilMs = endMs - fromMs < REACH_MS ? endMs : Math.max(endMs, local - REACH_MS)
    if (untilMs >= CRON_HORIZON_MS) return null
    segment = segmentAt(zone, untilMs)
    // A segment that was cut for unread offsets is now longer, and nothing has changed.
    if (segment.startMs < endMs) continue
    const startLocal = segment.startMs + segment.offsetMs
    const isInGap = segment.shiftMs > 0 && local < startLocal
    if (isInGap && isFixed) return segment.startMs
    if (isInGap || (segment.shiftMs < 0 && !isFixed)) local = matchAtOrAfter(calendar, startLocal)
  }
}

/** The last firing strictly before an instant: the same walk as `nextFiring`, backwards. */
export function previousFiring(calendar: Calendar, zone: Zone, beforeMs: number): number | null {
  if (calendar.isNever || beforeMs <= 0) return null
  const { isFixed } = calendar
  const beforeSecondMs = Math.ceil(Math.min(beforeMs, CRON_HORIZON_MS) / 1_000) * 1_000
  let segment = segmentAt(zone, beforeSecondMs - 1_000)
  // Inside a second pass the first pass has shown all these times, later digits included.
  const untilMs = isFixed ? Math.max(beforeSecondMs, segment.freshFromMs) : beforeSecondMs
  let local = matchAtOrBefore(calendar, untilMs - 1_000 + segment.offsetMs)
  for (;;) {
    const { startMs, shiftMs } = segment
    const instantMs = local - segment.offsetMs
    if (instantMs >= (isFixed ? segment.freshFromMs : startMs)) return instantMs >= 0 ? instantMs : null
    if (isFixed && shiftMs > 0 && local >= startMs + segment.offsetMs - shiftMs) return startMs
    const fromMs = untilMs - startMs < REACH_MS ? startMs : Math.min(startMs, local + REACH_MS)
    if (fromMs <= 0) return null
    segment = segmentAt(zone, fromMs - 1_000)
    const endLocal = startMs + segment.offsetMs
    if (!isFixed && (shiftMs < 0 || local >= endLocal)) local = matchAtOrBefore(calendar, endLocal - 1_000)
  }
}
