import { isOnGrid } from '../timing/timing.ts'
import { without } from './hints.ts'
import { type PlanRequest, planned, unplanned } from './next-plan.ts'
import { lastRunId, type ScheduleState } from './state.ts'
import type { Postponed, Turn } from './turn.ts'

/** A run that a turn made. */
export interface MadeRun {
  readonly id: number
  readonly occurrenceAt: number | null
}

/**
 * The schedule after its runs were created: hints are used up and the last plan is recorded before the next one is computed.
 */
export function afterFire<Row extends ScheduleState>(turn: Turn<Row>, now: number, made: readonly MadeRun[]): Row {
  const { row, live, wasDue, waitingHint } = turn
  if (!wasDue) return planned(row, { now, lastRunId: lastRunId(row, live) })
  const newest = made.find(({ occurrenceAt }) => occurrenceAt === row.lastPlannedAt)
  const asked = { now, lastRunId: newest?.id ?? lastRunId(row, live) }
  const fired = unplanned({ ...row, runsCount: row.runsCount + made.length })
  if (turn.postponed !== undefined) return postponedTo(fired, asked, turn.postponed)
  if (!waitingHint) return planned(fired, asked)
  const next = planned({ ...fired, hints: without(row.hints, ['oneshot']) }, asked)
  const expiresAt = row.hints.oneshot?.expiresAt ?? Number.POSITIVE_INFINITY
  return { ...next, hints: row.hints, wakeAt: Math.min(next.wakeAt ?? expiresAt, expiresAt) }
}

/**
 * Plans a schedule from the instant before which nothing of it becomes a run. The instants of its cron until then are noted, and the next
 * turn ends them in the ledger.
 */
function postponedTo<Row extends ScheduleState>(row: Row, asked: PlanRequest, { until, outcome }: Postponed): Row {
  const next = planned(row, asked)
  const { nextRunAt, nextDueAt, nextDecision } = next
  if (nextRunAt === null || nextDueAt === null || nextDecision === null || nextDueAt >= until) return next
  const isFixed = isOnGrid(row.spec.timing)
  // A cron may match this very instant.
  const later = planned(row, { ...asked, now: isFixed ? until - 1 : until })
  if (!isFixed || later.nextDecision === null) return later
  const closedFrom = nextDecision.closedFrom ?? nextRunAt
  return { ...later, nextDecision: { ...later.nextDecision, closedFrom, closedFor: outcome } }
}
