import type { RunStatus } from '../run/run-state.ts'
import { noopReason } from '../run/verdict.ts'
import { beforeOneshot, isOfCalendarAlone, planned } from './next-plan.ts'
import { type LiveScheduleRun, lastRunId, type ScheduleState } from './state.ts'
import { isWorkable } from './workable.ts'

/** A run of a schedule that has ended or was parked, which counts as an end for its schedule. */
export interface EndedRun {
  readonly runId: number
  readonly status: RunStatus
  readonly reason?: string
}

/** Run-now, retries and second ends do not move a schedule, unless a hint waits for their end. */
export function isMoved(row: ScheduleState, ends: readonly EndedRun[], counted: ReadonlySet<number>): boolean {
  return row.hints.oneshot !== undefined || ends.some(({ runId }) => counted.has(runId) || runId === row.waitsFor)
}

/**
 * Whether the governor would give the same answer as when the occurrence fired, so that only the instant of the end changes. That
 * holds for nearly every end of a cron, and after the last occurrence of a schedule. While the schedule is paused nothing is
 * planned.
 */
export function isPlannedAnyhow(row: ScheduleState, ends: readonly EndedRun[]): boolean {
  const { nextDueAt, wakeAt, hints, failureCount, noopCount, spec } = row
  const isPlanned = nextDueAt !== null && wakeAt === nextDueAt && isOfCalendarAlone(row)
  if (hints.oneshot !== undefined || !(isPlanned || isOver(row))) return false
  if (spec.maxNoop !== undefined && (noopCount > 0 || ends.some(isNoop))) return false
  return failureCount === 0 && ends.every(({ status }) => status === 'completed')
}

/** Whether nothing follows, and no end could change that: only `max` and an interval hint are measured from an end. */
function isOver({ nextDecision, waitsFor, wakeAt, spec, hints }: ScheduleState): boolean {
  const isAsleep = waitsFor === null && wakeAt === null
  return isAsleep && nextDecision?.source === 'none' && spec.maxMs === undefined && hints.interval === undefined
}

interface Ended {
  readonly ends: readonly EndedRun[]
  readonly counted: ReadonlySet<number>
  readonly live: readonly LiveScheduleRun[]
}

/** The schedule after runs of it have ended. */
export function afterEnds<Row extends ScheduleState>(row: Row, now: number, { ends, counted, live }: Ended): Row {
  const counts = failuresAfterEach(row.failureCount, ends, counted)
  const [, failureCount] = counts.at(-1) ?? [0, row.failureCount]
  const hasCompleted = ends.some(({ runId, status }) => status === 'completed' && counted.has(runId))
  const after = {
    ...row,
    failureCount,
    noopCount: noopsAfter(row, ends, counted),
    anchorAt: counts.length > 0 ? now : row.anchorAt,
    lastEndAt: counts.length > 0 ? now : row.lastEndAt,
    lastSuccessAt: hasCompleted ? now : row.lastSuccessAt,
  }
  // The end of a run must not fail because its schedule's time zone is unknown; the next `fireDue` reports it.
  if (!isWorkable(row.spec)) return { ...after, waitsFor: null, wakeAt: row.wakeAt ?? now }
  const paused = pausedByNoops(pausedByFailures(after, row.failureCount, now), now)
  if (counts.length === 0 || !isMinOfHint(paused)) return planned(paused, { now, lastRunId: lastRunId(row, live) })
  const again = { ...paused, nextRunAt: null, nextDueAt: null }
  return planned(again, { now: beforeOneshot(paused, now), lastRunId: lastRunId(row, live) })
}

/**
 * A single run that was requested while the ended run was live was planned by `min` from the previous end; now `min` counts from this end.
 */
function isMinOfHint({ spec, nextDecision }: ScheduleState): boolean {
  return spec.minMs !== undefined && nextDecision?.winner === 'oneshot-hint'
}

function isNoop({ status, reason }: EndedRun): boolean {
  return status === 'completed' && reason === noopReason
}

/** Runs that did not complete neither count nor reset the count: they did not show whether there was work. */
function noopsAfter({ spec, noopCount }: ScheduleState, ends: readonly EndedRun[], counted: ReadonlySet<number>) {
  if (spec.maxNoop === undefined) return 0
  const completed = ends.filter(({ runId, status }) => status === 'completed' && counted.has(runId))
  return completed.reduce((count, end) => (isNoop(end) ? count + 1 : 0), noopCount)
}

/** A schedule that is resumed gets the full number of tries again. */
function pausedByNoops<Row extends ScheduleState>(row: Row, now: number): Row {
  const { noopCount, disabledAt, spec } = row
  if (disabledAt !== null || noopCount < (spec.maxNoop ?? Number.POSITIVE_INFINITY)) return row
  const times = noopCount === 1 ? 'once' : `${noopCount} times in a row`
  return { ...row, noopCount: 0, disabledAt: now, disabledReason: `found nothing to do ${times} (maxNoop)` }
}

/** The failures in a row after each of the ends that count, in their order. */
export function failuresAfterEach(
  before: number,
  ends: readonly EndedRun[],
  counted: ReadonlySet<number>,
): [runId: number, count: number][] {
  let count = before
  return ends.flatMap(({ runId, status }) => {
    if (!counted.has(runId)) return []
    count = failuresAfter(count, status)
    return [[runId, count]]
  })
}

/** Cancelled and skipped occurrences are neither successes nor failures. */
function failuresAfter(count: number, status: RunStatus): number {
  if (status === 'completed') return 0
  return status === 'failed' || status === 'parked' ? count + 1 : count
}

/** A person resumed the schedule, so it is paused again only after the full number of new failures. */
function pausedByFailures<Row extends ScheduleState>(row: Row, failuresBefore: number, now: number): Row {
  const { failureCount, disabledAt, spec } = row
  const { pauseAfterFailures: most = Number.POSITIVE_INFINITY } = spec
  if (disabledAt !== null || Math.floor(failureCount / most) <= Math.floor(failuresBefore / most)) return row
  const times = failureCount === 1 ? 'once' : `${failureCount} times in a row`
  return { ...row, disabledAt: now, disabledReason: `failed ${times}` }
}
