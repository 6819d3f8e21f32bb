import { byCalendar } from '../timing/by-calendar.ts'
import { missed } from '../timing/missed.ts'
import type { EndedHint } from './hints.ts'
import { planned, unplanned } from './next-plan.ts'
import { closedBy, type Passed } from './passed-by.ts'
import { isPaused, type LiveScheduleRun, lastRunId, lateSchedule, lateState, type ScheduleState } from './state.ts'
import { untilNow } from './turn.ts'
import { isWorkable } from './workable.ts'

/** What happened to a schedule before a pause, since a worker last fired it. */
export interface BeforePause<Row> {
  /** The schedule at the beginning of the pause; its plan is the first occurrence that the pause skips. */
  readonly row: Row
  readonly entries: readonly Passed[]
  readonly endedHints: readonly EndedHint[]
}

/**
 * Ends the occurrences before a pause begins. An earlier pause may have ended since a worker last fired; its occurrences were
 * paused, and later ones were missed. If this were done only at the end of the new pause, all of them would be recorded as
 * paused, because the row would no longer have the beginning of the pause.
 */
export function beforePause<Row extends ScheduleState>(
  found: Row,
  now: number,
  live: readonly LiveScheduleRun[],
): BeforePause<Row> {
  if (isPaused(found, now) || !isWorkable(found.spec)) return { row: found, entries: [], endedHints: [] }
  // Runs that the earlier pause held stay held: the new one would hold them again.
  const { row: awake, passed: before, endedHints } = untilNow(found, now, live)
  const { row, entries: closed } = closedBy(awake, now)
  const passed = [...before, ...closed]
  const gone = missedBefore(row, now)
  const last = gone.at(-1)
  if (last === undefined) return { row, entries: passed, endedHints }
  const ended = { ...unplanned(row), lastPlannedAt: last.to }
  const next = standing(ended, now) ?? planned(ended, { now: last.to, lastRunId: lastRunId(ended, live) })
  return { row: { ...next, anchorAt: now }, entries: [...passed, ...gone], endedHints }
}

/**
 * The row with the occurrence after the missed ones as its plan, if its instant has come too. The plan is computed as of the
 * last missed occurrence: as of now, the cron would skip an occurrence that is merely late or spread beyond now. Hints are
 * left out, because under a hint the cron's plan counts only if its instant came before the hint was given.
 */
function standing<Row extends ScheduleState>(ended: Row, now: number): Row | null {
  const asked = { now: ended.lastPlannedAt ?? now, lastRunId: null }
  const next = planned({ ...ended, hints: {} }, asked)
  return next.nextRunAt !== null && next.nextRunAt <= now ? { ...next, hints: ended.hints } : null
}

/**
 * The calendar's occurrences missed by now, by the same rule as when they fire. A merely late one would still start but for the
 * pause. A fixed delay misses nothing: it is only postponed.
 */
function missedBefore(row: ScheduleState, now: number): Passed[] {
  const { nextRunAt, nextDecision } = row
  if (nextRunAt === null || nextDecision?.winner !== 'baseline' || nextDecision.waitsForEnd) return []
  const { occurrences, before } = missed({ now, schedule: lateSchedule(row), state: lateState(row) })
  const listed = occurrences
    .filter(({ isMissed }) => isMissed)
    .map(({ plannedAt, reason }) => ({ from: plannedAt, to: plannedAt, count: 1, countIsAtLeast: false, reason }))
  const ranges = before === null ? [] : byCalendar(before, lateSchedule(row), lateState(row))
  return [...ranges, ...listed].map(({ from, to, count, countIsAtLeast, reason }) => {
    const outcome = reason === 'calendar' ? reason : 'missed'
    return { from, to, count, countIsAtLeast, outcome, decision: from === nextRunAt ? nextDecision : null }
  })
}
