import type { RunStatus } from '../../core/run-state.ts'
import type { MovedSchedule } from '../notice.ts'
import type { Step } from '../statement.ts'
import { holdRuns } from './hold-runs.ts'
import { finishedBy, finishLedger } from './ledger.ts'
import { forgetLiveRuns, type LiveRunRow, liveRunsOf, openOverlapGates } from './live-run.ts'
import { isOfCalendarAlone, isWorkable, planned } from './plan-schedule.ts'
import { lockSchedules, type ScheduleRow, saveCompleted, saveSchedules } from './schedule-row.ts'
import { lastRunId } from './turn.ts'

/** A run of a schedule that has ended, or was parked, which for its schedule is an end. */
export interface OccurrenceEnd {
  readonly runId: number
  readonly scheduleId: number
  readonly status: RunStatus
  readonly reason: string
}

/**
 * Does for schedules what the end of their runs brings about, however they ended: the ledger, the failures in a row, the
 * next plan, and the next run that stood behind. A deleted schedule is moved by nothing. Answers what each was, and how many
 * had failed in a row after each end.
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
    return [rowAfter(row, now, { ends: own, counted, live: live.get(row.id) ?? [] })]
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

/** Run-now, retries and second ends move nothing, unless a hint waits for them to make room. */
function isMoved(row: ScheduleRow, ends: readonly OccurrenceEnd[], counted: ReadonlySet<number>): boolean {
  return row.hints.oneshot !== undefined || ends.some(({ runId }) => counted.has(runId) || runId === row.waitsFor)
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

/**
 * Whether the governor, asked again, would answer as it did when the occurrence was fired, so that only the instant of the
 * end is to be remembered. That is nearly every end of a cron, and of what has had its last occurrence. While it is paused
 * nothing is planned.
 */
function isPlannedAnyhow(row: ScheduleRow, ends: readonly OccurrenceEnd[]): boolean {
  const { nextDueAt, wakeAt, hints, failureCount } = row
  const isPlanned = nextDueAt !== null && wakeAt === nextDueAt && isOfCalendarAlone(row)
  if (hints.oneshot !== undefined || !(isPlanned || isOver(row))) return false
  return failureCount === 0 && ends.every(({ status }) => status === 'completed')
}

/** Whether nothing follows, and no end could change that: only `max` and an interval hint are measured from an end. */
function isOver({ nextDecision, waitsFor, wakeAt, spec, hints }: ScheduleRow): boolean {
  const isAsleep = waitsFor === null && wakeAt === null
  return isAsleep && nextDecision?.source === 'none' && spec.maxMs === undefined && hints.interval === undefined
}

interface Ended {
  readonly ends: readonly OccurrenceEnd[]
  readonly counted: ReadonlySet<number>
  readonly live: readonly LiveRunRow[]
}

/** The schedule once runs of it have ended. */
export function rowAfter(row: ScheduleRow, now: number, { ends, counted, live }: Ended): ScheduleRow {
  const counts = failuresAfterEach(row.failureCount, ends, counted)
  const [, failureCount] = counts.at(-1) ?? [0, row.failureCount]
  const hasCompleted = ends.some(({ runId, status }) => status === 'completed' && counted.has(runId))
  const ended = counts.length > 0 ? { anchorAt: now, lastEndAt: now } : {}
  const after = { ...row, ...ended, failureCount, lastSuccessAt: hasCompleted ? now : row.lastSuccessAt }
  // The end of a run must not fail for want of its schedule's time zone; whoever fires will say what is wrong.
  if (!isWorkable(row.spec)) return { ...after, waitsFor: null, wakeAt: row.wakeAt ?? now }
  return planned(pausedByFailures(after, row.failureCount, now), { now, lastRunId: lastRunId(row, live) })
}

/** How many had failed in a row after each of the ends that count, in their order. */
function failuresAfterEach(
  before: number,
  ends: readonly OccurrenceEnd[],
  counted: ReadonlySet<number>,
): [runId: number, count: number][] {
  let count = before
  return ends.flatMap(({ runId, status }) => {
    if (!counted.has(runId)) return []
    count = failuresAfter(count, status)
    return [[runId, count]]
  })
}

/** Cancelled and skipped occurrences say nothing about whether the work succeeds. */
function failuresAfter(count: number, status: RunStatus): number {
  if (status === 'completed') return 0
  return status === 'failed' || status === 'parked' ? count + 1 : count
}

/** Somebody who resumes it vouches for it, so it has as many failures again before it is paused again. */
function pausedByFailures(row: ScheduleRow, failuresBefore: number, now: number): ScheduleRow {
  const { failureCount, disabledAt, spec } = row
  const { pauseAfterFailures: most = Number.POSITIVE_INFINITY } = spec
  if (disabledAt !== null || Math.floor(failureCount / most) <= Math.floor(failuresBefore / most)) return row
  const times = failureCount === 1 ? 'once' : `${failureCount} times in a row`
  return { ...row, disabledAt: now, disabledReason: `failed ${times}` }
}
