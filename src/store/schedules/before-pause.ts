import { missed } from '../../core/missed.ts'
import type { EndedHint } from './hint-row.ts'
import type { LedgerEntry } from './ledger.ts'
import type { LiveRunRow } from './live-run.ts'
import { isWorkable, planned, unplanned } from './plan-schedule.ts'
import { isPaused, lateSchedule, lateState, type ScheduleRow } from './schedule-row.ts'
import { lastRunId, untilNow } from './turn.ts'

/** What happened to a schedule before it is paused, where no worker has looked since. */
export interface BeforePause {
  /** The schedule as the pause finds it, with the first occurrence that the pause lets pass as its plan. */
  readonly row: ScheduleRow
  readonly entries: readonly LedgerEntry[]
  readonly endedHints: readonly EndedHint[]
}

/**
 * Ends what came to pass before a pause begins. An earlier pause may have ended since any worker looked; what it let pass was
 * paused, and what came after it was missed. Left to the end of the new pause, all of it would be called paused, because
 * by then nobody knows when the pause began.
 */
export function beforePause(found: ScheduleRow, now: number, live: readonly LiveRunRow[]): BeforePause {
  if (isPaused(found, now) || !isWorkable(found.spec)) return { row: found, entries: [], endedHints: [] }
  // Runs that the earlier pause held stay held: the new one would hold them again.
  const { row, passed, endedHints } = untilNow(found, now, live)
  const gone = missedBefore(row, now)
  const last = gone.at(-1)
  if (last === undefined) return { row, entries: passed, endedHints }
  const ended = { ...unplanned(row), lastPlannedAt: last.to }
  // As of the last missed one: the calendar asked now would pass by an occurrence that is merely late, or spread beyond now.
  const next = planned(ended, { now: last.to, lastRunId: lastRunId(ended, live) })
  return { row: { ...next, anchorAt: now }, entries: [...passed, ...gone], endedHints }
}

/**
 * The occurrences of the calendar that were missed by now, by the same judgement as when they are fired. One that is merely
 * late would still start but for the pause. A fixed delay has none: what does not start is put off.
 */
function missedBefore(row: ScheduleRow, now: number): LedgerEntry[] {
  const { ns, id: scheduleId, nextRunAt, nextDecision } = row
  if (nextRunAt === null || nextDecision?.winner !== 'baseline' || nextDecision.waitsForEnd) return []
  const { occurrences, before } = missed({ now, schedule: lateSchedule(row), state: lateState(row) })
  const listed = occurrences
    .filter(({ isMissed }) => isMissed)
    .map(({ plannedAt }) => ({ from: plannedAt, to: plannedAt, count: 1 }))
  return [...(before === null ? [] : [before]), ...listed].map((stretch) => ({
    ns,
    scheduleId,
    from: stretch.from,
    to: stretch.to,
    count: stretch.count,
    countIsAtLeast: 'countIsAtLeast' in stretch && stretch.countIsAtLeast,
    outcome: 'missed',
    runId: null,
    causedBy: null,
    decision: stretch.from === nextRunAt ? nextDecision : null,
  }))
}
