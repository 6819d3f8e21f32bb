import { without } from './hints.ts'
import { planned, unplanned } from './next-plan.ts'
import { lastRunId, type ScheduleState } from './state.ts'
import type { Turn } from './turn.ts'

/** A run that a turn made. */
export interface MadeRun {
  readonly id: number
  readonly occurrenceAt: number | null
}

/** The schedule after its runs are made: hints are used up and the last plan is recorded before the next one is computed. */
export function afterFire<Row extends ScheduleState>(turn: Turn<Row>, now: number, made: readonly MadeRun[]): Row {
  const { row, live, wasDue, waitingHint } = turn
  if (!wasDue) return planned(row, { now, lastRunId: lastRunId(row, live) })
  const newest = made.find(({ occurrenceAt }) => occurrenceAt === row.lastPlannedAt)
  const asked = { now, lastRunId: newest?.id ?? lastRunId(row, live) }
  const fired = unplanned({ ...row, runsCount: row.runsCount + made.length })
  if (!waitingHint) return planned(fired, asked)
  const next = planned({ ...fired, hints: without(row.hints, ['oneshot']) }, asked)
  const expiresAt = row.hints.oneshot?.expiresAt ?? Number.POSITIVE_INFINITY
  return { ...next, hints: row.hints, wakeAt: Math.min(next.wakeAt ?? expiresAt, expiresAt) }
}
