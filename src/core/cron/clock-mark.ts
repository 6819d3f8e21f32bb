import { formatDuration } from '../duration.ts'
import type { Calendar } from './calendar.ts'
import { matchAtOrAfter, matchAtOrBefore } from './match.ts'
import { type Segment, segmentAt, type Zone } from './zone.ts'

/** The effect of a clock change on one firing, or on the time since the firing before. */
export interface ClockMark {
  readonly mark: (typeof clockMarks)[number]
  /** The mark as a clause for people. */
  readonly says: string
}

/**
 * A fixed time that does not exist fires `after-gap`; a wildcard one is `left-out`, which marks the firing that follows. A time
 * that the wall clock shows twice is the `first-of-two` or the `second-of-two`. The other two marks say only that the clocks went
 * forward or back since the firing before.
 */
export const clockMarks = [
  'after-gap',
  'left-out',
  'first-of-two',
  'second-of-two',
  'clocks-forward',
  'clocks-back',
] as const

const HOUR_MS = 3_600_000
/** Longer than any overlap since 1970. */
const OVERLAP_MS_MAX = 48 * HOUR_MS
/** People count the hours between daily firings, not between monthly ones. */
const COUNTED_MS_MAX = 48 * HOUR_MS

/** The mark of a firing at `atMs` that follows one at `previousMs`, or null. */
export function clockMark(calendar: Calendar, zone: Zone, atMs: number, previousMs: number | null): ClockMark | null {
  const segment = segmentAt(zone, atMs)
  const twice = () => `${timeText(atMs + segment.offsetMs)} comes twice on ${dateText(atMs + segment.offsetMs)}`
  if (calendar.isFixed) {
    const missing = segment.startMs === atMs ? missingText(calendar, segment) : null
    if (missing !== null)
      return mark('after-gap', `${missing.text}, so ${missing.runs} at the first instant after the gap`)
  } else {
    if (atMs < segment.freshFromMs)
      return mark('second-of-two', `the second of two: ${twice()}, and each pass has a firing`)
    const missing = previousMs === null ? null : missingBetween(calendar, zone, previousMs, segment)
    if (missing !== null) return mark('left-out', `${missing.text} and ${missing.isLeft} left out`)
  }
  if (isShownAgain(zone, segment, atMs)) {
    return mark(
      'first-of-two',
      calendar.isFixed
        ? `${twice()}, and only the first pass has a firing`
        : `the first of two: ${twice()}, and each pass has a firing`,
    )
  }
  return previousMs === null ? null : sinceBefore(zone, segment, atMs, previousMs)
}

function mark(name: ClockMark['mark'], says: string): ClockMark {
  return { mark: name, says }
}

interface Missing {
  readonly text: string
  readonly runs: string
  readonly isLeft: string
}

/** The matching times that the wall clock skipped where a segment begins. */
function missingText(calendar: Calendar, { startMs, offsetMs, shiftMs }: Segment): Missing | null {
  if (shiftMs <= 0) return null
  const endLocal = startMs + offsetMs
  const first = matchAtOrAfter(calendar, endLocal - shiftMs)
  if (first >= endLocal) return null
  const last = matchAtOrBefore(calendar, endLocal - 1_000)
  const date = dateText(first)
  if (first === last) {
    return { text: `${timeText(first)} on ${date} does not exist`, runs: 'it runs', isLeft: 'is' }
  }
  const times = `${timeText(first)} to ${timeText(last)} on ${date}`
  return { text: `${times} do not exist`, runs: 'they run once,', isLeft: 'are' }
}

function missingBetween(calendar: Calendar, zone: Zone, previousMs: number, last: Segment): Missing | null {
  for (let segment = last; segment.startMs > previousMs; segment = segmentAt(zone, segment.startMs - 1_000)) {
    const missing = missingText(calendar, segment)
    if (missing !== null) return missing
  }
  return null
}

/** Whether the wall clock will show the time of an instant again. A segment may be cut where offsets are not read yet. */
function isShownAgain(zone: Zone, from: Segment, atMs: number): boolean {
  for (let segment = from; segment.endMs <= atMs + OVERLAP_MS_MAX; ) {
    segment = segmentAt(zone, segment.endMs)
    const { startMs, shiftMs } = segment
    if (startMs > atMs && shiftMs < 0 && atMs >= startMs + shiftMs) return true
  }
  return false
}

function sinceBefore(zone: Zone, { offsetMs }: Segment, atMs: number, previousMs: number): ClockMark | null {
  const shiftMs = offsetMs - segmentAt(zone, previousMs).offsetMs
  if (shiftMs === 0) return null
  const change = `the clocks go ${shiftMs > 0 ? 'forward' : 'back'} by ${hoursText(Math.abs(shiftMs))}`
  const betweenMs = atMs - previousMs
  return mark(
    shiftMs > 0 ? 'clocks-forward' : 'clocks-back',
    betweenMs > COUNTED_MS_MAX
      ? `${change} between the one before and this`
      : `${hoursText(betweenMs)} after the one before, because ${change} in between`,
  )
}

/** In hours, because people expect 24: `25h`, not `1d1h`. */
function hoursText(ms: number): string {
  const restMs = ms % HOUR_MS
  if (ms < HOUR_MS) return formatDuration(ms)
  return `${Math.floor(ms / HOUR_MS)}h${restMs === 0 ? '' : formatDuration(restMs)}`
}

/** Wall-clock times are written as the UTC instant that shows the same digits. */
function timeText(localMs: number): string {
  return new Date(localMs).toISOString().slice(11, 19).replace(/:00$/, '')
}

function dateText(localMs: number): string {
  return new Date(localMs).toISOString().slice(0, 10)
}
