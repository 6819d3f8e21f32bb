import { durationMsMax } from '../../core/duration.ts'
import { formatId, parseId } from '../../core/id.ts'
import type { ScheduleSpec } from '../../core/schedule.ts'
import { canBeName, checkInteger, invalid } from '../check.ts'
import { columnsOf } from '../columns.ts'
import type { StoreContext } from '../context.ts'
import type { HintKind } from '../port.ts'
import { type ScheduleRow, scheduleRowOf } from '../schedules/schedule-row.ts'
import { all, both, clockOr, dialects, one, type Row, type Step, storeClock } from '../statement.ts'
import type { HintView, LedgerView, NextDecisionView, ScheduleView, VersionView } from '../view.ts'
import { parsed, runTextOf } from './run.ts'

const findByName = both(
  'read schedule by name',
  `select ${columnsOf('schedule')} from belfry.schedule where ns = $1 and name = $2 and deleted_at is null`,
)
const findById = both(
  'read schedule by id',
  `select ${columnsOf('schedule')} from belfry.schedule where ns = $1 and id = $2`,
)
const findLive = both(
  'read schedules',
  `select ${columnsOf('schedule')} from belfry.schedule where ns = $1 and name > $2 and deleted_at is null order by name limit $3`,
)
const findDeleted = both(
  'read deleted schedules',
  `select ${columnsOf('schedule')} from belfry.schedule where ns = $1 and id > $2 and deleted_at is not null order by id limit $3`,
)
/**
 * Deleted and disabled schedules have no instant to wake at, and nobody fires in a stopped namespace, so nothing of them is
 * late. To say so of deleted ones here would make PostgreSQL walk along the names of all others.
 */
const overdue = (
  now: string,
) => `select ${columnsOf('schedule')} from belfry.schedule where ns = $1 and wake_at is not null
  and wake_at <= (select ${now} - $3) and (select stopped_at from belfry.namespace where id = $1) is null
  order by wake_at, id limit $4`
const findOverdue = dialects('read overdue schedules', { sqlite: overdue('$2'), postgres: overdue(clockOr('$2')) })
const findVersions = both(
  'read schedule versions',
  `select ${columnsOf('schedule_version')} from belfry.schedule_version where schedule_id = $1 order by version desc limit $2`,
)
const findHints = both(
  'read hints',
  `select ${columnsOf('hint')} from belfry.hint where schedule_id = $1 order by id desc limit $2`,
)
const findLedger = both(
  'read ledger',
  `select ${columnsOf('ledger')} from belfry.ledger where schedule_id = $1 and from_at < $2 order by from_at desc limit $3`,
)

const pageDefault = 100
const pageMax = 1_000

/** A schedule by its name; a deleted one, whose name may be another's by now, by its id. */
export function* findSchedule(context: StoreContext, name: string): Step<ScheduleView | null> {
  const row = yield* findScheduleRow(context, name)
  return row === null ? null : scheduleViewOf(row)
}

export function* findScheduleRow(context: StoreContext, nameOrId: string): Step<ScheduleRow | null> {
  if (!canBeName(nameOrId)) return null
  const named = yield* one(findByName, context.ns, nameOrId)
  if (named !== undefined) return scheduleRowOf(named)
  const id = parseId('schedule', nameOrId)
  const row = id === null ? undefined : yield* one(findById, context.ns, id)
  return row === undefined ? null : scheduleRowOf(row)
}

/** The schedules after a name, by name; with `deleted`, the deleted ones after an id, by id. */
export function* listSchedules(
  context: StoreContext,
  { after, limit = pageDefault, deleted = false }: { after?: string; limit?: number; deleted?: boolean } = {},
): Step<ScheduleView[]> {
  checkInteger(limit, 'limit', 1, pageMax)
  const rows = deleted
    ? yield* all(findDeleted, context.ns, after === undefined ? 0 : deletedAfter(after), limit)
    : yield* all(findLive, context.ns, after === undefined ? '' : nameAfter(after), limit)
  return rows.map((row) => scheduleViewOf(scheduleRowOf(row)))
}

function nameAfter(after: unknown): string {
  if (canBeName(after)) return after
  throw invalid('after', `is ${JSON.stringify(after)}`, 'the name of a schedule')
}

function deletedAfter(after: unknown): number {
  const id = typeof after === 'string' ? parseId('schedule', after) : null
  if (id === null) throw invalid('after', `is ${JSON.stringify(after)}`, 'the id of a deleted schedule')
  return id
}

/** Schedules that should have been looked at this long ago or longer, the most overdue first. */
export function* overdueSchedules(
  context: StoreContext,
  { lateMs, limit }: { lateMs: number; limit: number },
): Step<ScheduleView[]> {
  checkInteger(lateMs, 'lateMs', 0, durationMsMax)
  checkInteger(limit, 'limit', 1, pageMax)
  const rows = yield* all(findOverdue, context.ns, storeClock, lateMs, limit)
  return rows.map((row) => scheduleViewOf(scheduleRowOf(row)))
}

/** What a schedule said and who said so, newest first. */
export function* scheduleVersions(context: StoreContext, name: string): Step<VersionView<ScheduleSpec>[]> {
  const found = yield* findScheduleRow(context, name)
  if (found === null) return []
  return (yield* all(findVersions, found.id, pageMax)).map((row) => ({
    version: row.version as number,
    content: parsed(row.spec) as ScheduleSpec,
    at: row.at as number,
    actor: row.actor as string,
    door: row.door as string | null,
    reason: row.reason as string | null,
  }))
}

/** The hints a schedule was given, newest first. */
export function* listHints(context: StoreContext, name: string): Step<HintView[]> {
  const found = yield* findScheduleRow(context, name)
  if (found === null) return []
  return (yield* all(findHints, found.id, pageMax)).map((row) => ({
    kind: row.kind as HintKind,
    value: row.value as number,
    expiresAt: row.expires_at as number,
    reason: row.reason as string,
    author: row.author as string,
    createdAt: row.created_at as number,
    ended:
      row.ended_at === null
        ? null
        : { at: row.ended_at as number, by: row.ended_by as NonNullable<HintView['ended']>['by'] },
  }))
}

/** How the occurrences of a schedule ended, newest first. */
export function* listLedger(
  context: StoreContext,
  name: string,
  { before = Number.MAX_SAFE_INTEGER, limit = pageDefault }: { before?: number; limit?: number } = {},
): Step<LedgerView[]> {
  checkInteger(limit, 'limit', 1, pageMax)
  checkInteger(before, 'before', 0, Number.MAX_SAFE_INTEGER)
  const found = yield* findScheduleRow(context, name)
  return found === null ? [] : (yield* all(findLedger, found.id, before, limit)).map(ledgerViewOf)
}

function ledgerViewOf(row: Row): LedgerView {
  return {
    from: row.from_at as number,
    to: row.to_at as number,
    count: row.count as number,
    countIsAtLeast: row.at_least === 1,
    outcome: row.outcome as string,
    runId: runTextOf(row.run_id),
    causedBy: runTextOf(row.caused_by),
    decision: parsed(row.decision) as NextDecisionView | null,
    recordedAt: row.recorded_at as number,
    endedAt: row.ended_at as number | null,
  }
}

export function scheduleViewOf(row: ScheduleRow): ScheduleView {
  return {
    id: formatId('schedule', row.id),
    spec: row.spec,
    version: row.version,
    disabled: row.disabledAt === null ? null : { at: row.disabledAt, reason: row.disabledReason ?? 'disabled' },
    paused: row.pausedUntil === null ? null : { until: row.pausedUntil, reason: row.pausedReason ?? 'paused' },
    hints: row.hints,
    failureCount: row.failureCount,
    runsCount: row.runsCount,
    lastPlannedAt: row.lastPlannedAt,
    anchorAt: row.anchorAt,
    nextRunAt: row.nextRunAt,
    nextDueAt: row.nextDueAt,
    nextDecision: row.nextDecision,
    waitsFor: runTextOf(row.waitsFor),
    wakeAt: row.wakeAt,
    timedAt: row.timedAt,
    ...(row.managedBy !== null && { managedBy: row.managedBy }),
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    deletedAt: row.deletedAt,
  }
}
