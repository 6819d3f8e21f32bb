import type { RunStatus } from '../../core/run/run-state.ts'
import { afterEnds, failuresAfterEach, isMoved, isPlannedAnyhow } from '../../core/schedule/after-ends.ts'
import type { MovedSchedule } from '../runs/end-hooks.ts'
import type { Step } from '../statement.ts'
import { holdRuns } from './hold-runs.ts'
import { finishedBy, finishLedger } from './ledger.ts'
import { forgetLiveRuns, liveRunsOf, openOverlapGates } from './live-run.ts'
import { lockSchedules, type ScheduleRow, saveCompleted, saveSchedules } from './schedule-row.ts'

/** A run of a schedule that has ended or was parked, which counts as an end for its schedule. */
export interface OccurrenceEnd {
  readonly runId: number
  readonly scheduleId: number
  readonly status: RunStatus
  readonly reason: string
}

/**
 * Applies the ends of runs to their schedules, however they ended: the ledger, the failures in a row, the next plan, and the next
 * waiting run. A deleted schedule does not change. Returns each schedule as it was before, and its failures in a row after each
 * end.
 */
export function* occurrencesEnded(
  now: number,
  schedules: ReadonlyMap<number, ScheduleRow>,
  ends: readonly OccurrenceEnd[],
): Step<Map<number, MovedSchedule>> {
  if (ends.length === 0) return new Map()
  yield* forgetLiveRuns(ends)
  const finishing = yield* finishLedger(now, ends)
  const rows = yield* withForgotten(schedules, ends)
  const active = [...rows.values()].filter(({ deletedAt }) => deletedAt === null)
  const live = yield* liveRunsOf(active.map(({ id }) => id))
  const counted = yield* finishedBy(finishing)
  const endsOf = bySchedule(ends)
  const completed: number[] = []
  const failures = new Map<number, number>()
  const moved = active.flatMap((row) => {
    const own = endsOf.get(row.id) ?? []
    if (!isMoved(row, own, counted)) return []
    if (isPlannedAnyhow(row, own)) {
      completed.push(row.id)
      return []
    }
    for (const [runId, count] of failuresAfterEach(row.failureCount, own, counted)) failures.set(runId, count)
    return [afterEnds(row, now, { ends: own, counted, live: live.get(row.id) ?? [] })]
  })
  yield* saveCompleted(completed, now)
  yield* saveSchedules(moved)
  for (const row of moved) if (rows.get(row.id)?.disabledAt !== row.disabledAt) yield* holdRuns(row)
  yield* openOverlapGates(
    now,
    active.filter(({ id }) => (live.get(id)?.length ?? 0) > 0).map(({ id }) => id),
  )
  return new Map([...rows.values()].map((before) => [before.id, { before, failures }]))
}

/** Only the schedules of these ends; one that the caller did not lock is locked now. */
function* withForgotten(
  schedules: ReadonlyMap<number, ScheduleRow>,
  ends: readonly OccurrenceEnd[],
): Step<Map<number, ScheduleRow>> {
  const ids = [...new Set(ends.map(({ scheduleId }) => scheduleId))]
  const forgotten = ids.filter((id) => !schedules.has(id))
  const rows = new Map(yield* lockSchedules(forgotten, { wait: true }))
  for (const id of ids) {
    const row = schedules.get(id)
    if (row !== undefined) rows.set(id, row)
  }
  return rows
}

function bySchedule(ends: readonly OccurrenceEnd[]): Map<number, OccurrenceEnd[]> {
  const found = new Map<number, OccurrenceEnd[]>()
  for (const end of ends) {
    const own = found.get(end.scheduleId)
    if (own === undefined) found.set(end.scheduleId, [end])
    else own.push(end)
  }
  return found
}
