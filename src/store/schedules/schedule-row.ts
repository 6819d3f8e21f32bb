import { BelfryError } from '../../core/error.ts'
import type { GovernorState, Hints } from '../../core/governor.ts'
import { formatId } from '../../core/id.ts'
import type { LateSchedule, LateState } from '../../core/missed.ts'
import type { ScheduleSpec } from '../../core/schedule.ts'
import { canBeName } from '../check.ts'
import { columnsOf } from '../columns.ts'
import type { StoreContext } from '../context.ts'
import {
  ahead,
  all,
  dialects,
  inList,
  one,
  type Request,
  type Row,
  rowsOf,
  run,
  runEach,
  type Step,
} from '../statement.ts'
import type { NextDecisionView } from '../view.ts'

/** A schedule with all that is remembered of it. */
export interface ScheduleRow {
  readonly id: number
  readonly ns: number
  readonly name: string
  readonly spec: ScheduleSpec
  readonly version: number
  readonly queueId: number
  readonly disabledAt: number | null
  readonly disabledReason: string | null
  readonly pausedUntil: number | null
  readonly pausedReason: string | null
  readonly hints: Hints
  readonly failureCount: number
  readonly runsCount: number
  readonly lastPlannedAt: number | null
  readonly anchorAt: number
  readonly gridAnchorAt: number
  /** When an occurrence of it ended last, however; when one completed last. */
  readonly lastEndAt: number | null
  readonly lastSuccessAt: number | null
  readonly nextRunAt: number | null
  readonly nextDueAt: number | null
  readonly nextDecision: NextDecisionView | null
  readonly waitsFor: number | null
  readonly wakeAt: number | null
  /** Its `wakeAt` as it was read; sleepers know of nothing sooner. */
  readonly knownWakeAt: number | null
  /** When its timing was written last: nothing from before is an occurrence of it. */
  readonly timedAt: number
  /** The source whose file looks after it. */
  readonly managedBy: string | null
  readonly createdAt: number
  readonly updatedAt: number
  readonly deletedAt: number | null
}

const listed = inList.numbers('$1')
const lockAndWait = dialects('schedule lock', {
  sqlite: `select ${columnsOf('schedule')} from belfry.schedule where id ${listed.sqlite}`,
  postgres: `select ${columnsOf('schedule')} from belfry.schedule where id ${listed.postgres} order by id for no key update`,
})
const lockFree = dialects('schedule lock free', {
  sqlite: `select ${columnsOf('schedule')} from belfry.schedule where id ${listed.sqlite}`,
  postgres: `select ${columnsOf('schedule')} from belfry.schedule where id ${listed.postgres} order by id for no key update skip locked`,
})
const lockNamed = dialects('schedule lock named', {
  sqlite: `select ${columnsOf('schedule')} from belfry.schedule where ns = $1 and name = $2 and deleted_at is null`,
  postgres: `select ${columnsOf('schedule')} from belfry.schedule where ns = $1 and name = $2 and deleted_at is null for no key update`,
})
const stateColumns = `disabled_at, disabled_reason, paused_until, paused_reason, hints, failure_count, runs_count,
  last_planned_at, anchor_at, grid_anchor_at, next_run_at, next_due_at, next_decision, waits_for, wake_at, deleted_at,
  is_done, last_end_at, last_success_at`
const stateTexts = {
  sqlite: `update belfry.schedule set (${stateColumns})
    = ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20) where id = $1`,
  postgres: `update belfry.schedule s set (${stateColumns}) = (i.disabled_at, i.disabled_reason, i.paused_until,
      i.paused_reason, i.hints, i.failure_count, i.runs_count, i.last_planned_at, i.anchor_at, i.grid_anchor_at,
      i.next_run_at, i.next_due_at, i.next_decision, i.waits_for, i.wake_at, i.deleted_at, i.is_done,
      i.last_end_at, i.last_success_at)
    from unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::int[], $8::bigint[],
      $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::text[], $15::bigint[],
      $16::bigint[], $17::bigint[], $18::smallint[], $19::bigint[], $20::bigint[]) as i (id, ${stateColumns})
    where s.id = i.id`,
}
const save = dialects('schedule save', stateTexts)
const planColumns = 'runs_count, last_planned_at, next_run_at, next_due_at, next_decision, waits_for, wake_at, is_done'
const savePlan = dialects('schedule save plan', {
  sqlite: `update belfry.schedule set (${planColumns}) = ($2, $3, $4, $5, $6, $7, $8, $9) where id = $1`,
  postgres: `update belfry.schedule s set (${planColumns}) = (i.runs_count, i.last_planned_at, i.next_run_at,
      i.next_due_at, i.next_decision, i.waits_for, i.wake_at, i.is_done)
    from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::bigint[],
      $8::bigint[], $9::smallint[]) as i (id, ${planColumns})
    where s.id = i.id`,
})
/** For occurrences that completed. No index knows of these columns, so this leaves them all alone. */
const saveCompletion = dialects('schedule save completed', {
  sqlite: `update belfry.schedule set (anchor_at, last_end_at, last_success_at) = ($2, $2, $2) where id ${listed.sqlite}`,
  postgres: `update belfry.schedule set (anchor_at, last_end_at, last_success_at) = ($2, $2, $2) where id ${listed.postgres}`,
})
/** Schedules that are to be looked at sooner than before are apart, because somebody may have to wake for them. */
export const saveSooner = dialects('schedule save sooner', stateTexts)

/** Locks schedules by id, as everybody does who changes them; without `wait` those that are locked are left out. */
export function* lockSchedules(ids: readonly number[], { wait }: { wait: boolean }): Step<Map<number, ScheduleRow>> {
  if (ids.length === 0) return new Map()
  const rows = yield* all(wait ? lockAndWait : lockFree, JSON.stringify([...new Set(ids)]))
  const readable = wait ? rows : rows.filter(isReadable)
  return new Map(readable.map((row) => [row.id as number, scheduleRowOf(row)]))
}

/** The same with whatever is asked next, for somebody who waits for the locks anyhow; `lockedBy` tells what was locked. */
export function lockAhead(ids: readonly number[]): Step<Request> {
  return ahead(lockAndWait, JSON.stringify([...new Set(ids)]))
}

export function* lockedBy(locking: Request): Step<Map<number, ScheduleRow>> {
  return new Map((yield* rowsOf(locking)).map((row) => [row.id as number, scheduleRowOf(row)]))
}

/** Whoever does not wait does not stumble either: a row that somebody has damaged must not keep all others from going on. */
function isReadable(row: Row): boolean {
  try {
    scheduleRowOf(row)
    return true
  } catch {
    return false
  }
}

/** Locks the schedule that has this name now; one that was deleted no longer has it. */
export function* lockNamedSchedule({ ns }: StoreContext, name: string): Step<ScheduleRow | null> {
  if (!canBeName(name)) return null
  const row = yield* one(lockNamed, ns, name)
  return row === undefined ? null : scheduleRowOf(row)
}

/** Writes all that is remembered of locked schedules; spec, version and timing are written by whoever edits them. */
export function* saveSchedules(rows: readonly ScheduleRow[]): Step<void> {
  yield* runEach(saveSooner, rows.filter(isSooner).map(stateTuple))
  yield* runEach(save, rows.filter((row) => !isSooner(row)).map(stateTuple))
}

/** Writes what a plain firing changes: the plan and what was planned last. Of all else the row says what is stored. */
export function* savePlans(rows: readonly ScheduleRow[]): Step<void> {
  yield* runEach(saveSooner, rows.filter(isSooner).map(stateTuple))
  yield* runEach(savePlan, rows.filter((row) => !isSooner(row)).map(planTuple))
}

/** Writes down when occurrences of schedules completed, and nothing else. */
export function* saveCompleted(ids: readonly number[], completedAt: number): Step<void> {
  if (ids.length > 0) yield* run(saveCompletion, JSON.stringify(ids), completedAt)
}

function isSooner({ wakeAt, knownWakeAt }: ScheduleRow): boolean {
  return wakeAt !== null && (knownWakeAt === null || wakeAt < knownWakeAt)
}

function planTuple(row: ScheduleRow) {
  const { id, runsCount, lastPlannedAt, nextRunAt, nextDueAt, waitsFor, wakeAt } = row
  return [id, runsCount, lastPlannedAt, nextRunAt, nextDueAt, decisionTextOf(row), waitsFor, wakeAt, isDone(row)]
}

function decisionTextOf({ nextDecision }: ScheduleRow): string | null {
  return nextDecision === null ? null : JSON.stringify(nextDecision)
}

function isDone({ nextDecision }: ScheduleRow): 0 | 1 {
  return nextDecision?.source === 'none' ? 1 : 0
}

function stateTuple(row: ScheduleRow) {
  return [
    row.id,
    row.disabledAt,
    row.disabledReason,
    row.pausedUntil,
    row.pausedReason,
    JSON.stringify(row.hints),
    row.failureCount,
    row.runsCount,
    row.lastPlannedAt,
    row.anchorAt,
    row.gridAnchorAt,
    row.nextRunAt,
    row.nextDueAt,
    decisionTextOf(row),
    row.waitsFor,
    row.wakeAt,
    row.deletedAt,
    isDone(row),
    row.lastEndAt,
    row.lastSuccessAt,
  ]
}

/** While it is paused or disabled, nothing of a schedule starts. A deleted one is not paused: what is at work may finish. */
export function isPaused({ disabledAt, pausedUntil, deletedAt }: ScheduleRow, now: number): boolean {
  return deletedAt === null && (disabledAt !== null || (pausedUntil !== null && pausedUntil > now))
}

/** What the governor remembers of it. */
export function governorState(row: ScheduleRow): GovernorState {
  return {
    failureCount: row.failureCount,
    hints: row.hints,
    pausedUntil: row.pausedUntil ?? undefined,
    anchorAt: row.anchorAt,
    lastPlannedAt: row.lastPlannedAt ?? undefined,
    gridAnchorAt: row.gridAnchorAt,
    runsCount: row.runsCount,
  }
}

/** What decides over late occurrences. */
export function lateSchedule(row: ScheduleRow): LateSchedule {
  const { id, spec, disabledAt } = row
  return {
    id: formatId('schedule', id),
    timing: spec.timing,
    minMs: spec.minMs,
    maxMs: spec.maxMs,
    startAt: spec.startAt,
    endAt: spec.endAt,
    maxRuns: spec.maxRuns,
    startNow: spec.startNow,
    enabled: disabledAt === null,
    missed: spec.missed,
    maxLatenessMs: spec.maxLatenessMs,
    spread: spec.spread,
    asksWhenMissed: spec.asksWhenMissed,
    createdAt: writtenAt(row),
  }
}

/** When the timing was written. Of a one-shot that is its creation or its last edit, and it is never due before. */
export function writtenAt({ spec, createdAt, anchorAt }: ScheduleRow): number {
  return spec.timing.at === undefined ? createdAt : anchorAt
}

export function lateState(row: ScheduleRow): LateState {
  return {
    ...governorState(row),
    nextRunAt: row.nextRunAt ?? undefined,
    nextDueAt: row.nextDueAt ?? undefined,
    waitsForEnd: row.nextDecision?.waitsForEnd,
  }
}

export function scheduleRowOf(row: Row): ScheduleRow {
  return {
    id: row.id as number,
    ns: row.ns as number,
    name: row.name as string,
    spec: storedJson(row, 'spec'),
    version: row.version as number,
    queueId: row.queue_id as number,
    disabledAt: row.disabled_at as number | null,
    disabledReason: row.disabled_reason as string | null,
    pausedUntil: row.paused_until as number | null,
    pausedReason: row.paused_reason as string | null,
    hints: storedJson(row, 'hints'),
    failureCount: row.failure_count as number,
    runsCount: row.runs_count as number,
    lastPlannedAt: row.last_planned_at as number | null,
    anchorAt: row.anchor_at as number,
    gridAnchorAt: row.grid_anchor_at as number,
    lastEndAt: row.last_end_at as number | null,
    lastSuccessAt: row.last_success_at as number | null,
    nextRunAt: row.next_run_at as number | null,
    nextDueAt: row.next_due_at as number | null,
    nextDecision: row.next_decision === null ? null : storedJson(row, 'next_decision'),
    waitsFor: row.waits_for as number | null,
    wakeAt: row.wake_at as number | null,
    knownWakeAt: row.wake_at as number | null,
    timedAt: row.timed_at as number,
    managedBy: row.managed_by as string | null,
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number,
    deletedAt: row.deleted_at as number | null,
  }
}

function storedJson<Stored>(row: Row, column: 'spec' | 'hints' | 'next_decision'): Stored {
  try {
    return JSON.parse(row[column] as string)
  } catch (cause) {
    throw new BelfryError('failure', `What is stored as ${column} of schedule ${row.name} cannot be read.`, { cause })
  }
}
