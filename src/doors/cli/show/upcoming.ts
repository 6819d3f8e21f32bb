import type { UpcomingRun } from '../../../operations/schedule/upcoming.ts'
import { columns } from '../columns.ts'
import type { Sheet } from '../sheet.ts'
import { howLong, relative, stamp, utc } from '../when.ts'

/**
 * The occurrences to come, a line each: by the clock of the schedule's zone or else of the reader's, in UTC, how far
 * away, and what there is to know of it. What comes of a spread is told by its nominal instant, which is its identity.
 */
export function showUpcoming(runs: readonly UpcomingRun[], sheet: Sheet): string {
  if (runs.length === 0) return 'Nothing comes by itself.'
  // Once is enough: what follows an estimate is one too.
  const firstEstimate = runs.find(({ isEstimate }) => isEstimate)
  return columns(
    null,
    runs.map((run) => cellsOf(run, run === firstEstimate, sheet)),
  )
}

function cellsOf(run: UpcomingRun, saysEstimate: boolean, { now, zone, paint }: Sheet): string[] {
  return [
    stamp(run.at, run.zone ?? zone),
    paint.dim(utc(run.at)),
    relative(run.dueAt, now),
    paint.yellow(remarksOn(run, saysEstimate).join('; ')),
  ]
}

/** What is not by the schedule's own timing says whose wish it was. */
const wishes: Partial<Record<UpcomingRun['source'], string>> = {
  'ai-interval': 'by a hint',
  'ai-oneshot': 'by a hint',
  'clamped-min': 'moved by min',
  'clamped-max': 'moved by max',
}

function remarksOn({ at, dueAt, source, dst }: UpcomingRun, saysEstimate: boolean): string[] {
  const spreadMs = dueAt - at
  return [
    dst?.says,
    wishes[source],
    spreadMs === 0 ? undefined : `spread: starts ${howLong(Math.abs(spreadMs))} ${spreadMs > 0 ? 'later' : 'earlier'}`,
    saysEstimate ? 'from here on: if runs take no time' : undefined,
  ].filter((remark) => remark !== undefined)
}
