import { durationMsMax } from '../../core/duration.ts'
import { formatId, parseId } from '../../core/id.ts'
import type { ScheduleSpec } from '../../core/schedule/schedule-spec.ts'
import { pausesOf } from '../../core/schedule/steering.ts'
import { canBeName, checkInteger, invalid } from '../check.ts'
import { stopsFiring } from '../holds/hold-row.ts'
import { type ScheduleRow, scheduleColumns, scheduleRowOf } from '../schedules/schedule-row.ts'
import { all, both, clockNow, one, type Row, type Step, storeClock } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { columnsOf, tables } from '../tables.ts'
import type { HintView, LedgerView, ScheduleView, VersionView } from '../views.ts'
import { runTextOf } from './find-run.ts'

const findByName = both(
  'read schedule by name',
  `select ${scheduleColumns()} from belfry.schedule where ns = $1 and name = $2 and deleted_at is null`,
)
const findNamed = both('read named schedules', ({ texts }) => {
  return `select ${scheduleColumns()} from belfry.schedule where ns = $1 and name ${texts('$2')} and deleted_at is null`
})
const findById = both(
  'read schedule by id',
  `select ${scheduleColumns()} from belfry.schedule where ns = $1 and id = $2`,
)
const findLive = both(
  'read schedules',
  `select ${scheduleColumns()} from belfry.schedule where ns = $1 and name > $2 and deleted_at is null order by name limit $3`,
)
const findDeleted = both(
  'read deleted schedules',
  `select ${scheduleColumns()} from belfry.schedule where ns = $1 and id > $2 and deleted_at is not null order by id limit $3`,
)
/**
 * Deleted and disabled schedules have no wake instant, and a stopped namespace fires nothing, so none of them is overdue. A
 * condition for deleted ones would make PostgreSQL scan all other names.
 */
const findOverdue = both(
  'read overdue schedules',
  ({ now }) => `select ${scheduleColumns()} from belfry.schedule where ns = $1 and wake_at is not null
  and wake_at <= (select ${now('$2')} - $3) and not ${stopsFiring({ now: `(select ${now('$2')})` })}
  order by wake_at, id limit $4`,
)
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

const hint = tables.hint.only(
  ...([
    'kind',
    'value',
    'expiresAt',
    'reason',
    'author',
    'by',
    'createdAt',
    'wasNextAt',
    'nextAt',
    'endedAt',
    'endedBy',
  ] as const),
)
const ledger = tables.ledger.but('ns', 'scheduleId')

const pageDefault = 100
const pageMax = 1_000

/** A schedule by its name; a deleted one, whose name may be reused, by its id. */
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

export interface ScheduleNow {
  readonly now: number
  readonly schedule: ScheduleView | null
}

/** The time, and the schedule with this name: all that a write needs to be checked. */
export function* scheduleNow({ ns }: StoreContext, name: string): Step<ScheduleNow> {
  const now = yield* clockNow()
  const row = canBeName(name) ? yield* one(findByName, ns, name) : undefined
  return { now, schedule: row === undefined ? null : scheduleViewOf(scheduleRowOf(row)) }
}

export function* schedulesNamed({ ns }: StoreContext, names: readonly string[]): Step<ScheduleView[]> {
  const rows = yield* all(findNamed, ns, JSON.stringify(names.filter(canBeName)))
  return rows.map((row) => scheduleViewOf(scheduleRowOf(row)))
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

/** Schedules whose wake instant passed this long ago or longer, the most overdue first. */
export function* overdueSchedules(
  context: StoreContext,
  { lateMs, limit }: { lateMs: number; limit: number },
): Step<ScheduleView[]> {
  checkInteger(lateMs, 'lateMs', 0, durationMsMax)
  checkInteger(limit, 'limit', 1, pageMax)
  const rows = yield* all(findOverdue, context.ns, storeClock, lateMs, limit)
  return rows.map((row) => scheduleViewOf(scheduleRowOf(row)))
}

/** The versions of a schedule with their authors, newest first. */
export function* scheduleVersions(context: StoreContext, name: string): Step<VersionView<ScheduleSpec>[]> {
  const found = yield* findScheduleRow(context, name)
  if (found === null) return []
  return (yield* all(findVersions, found.id, pageMax)).map((row) => {
    const { version, spec: content, at, actor, door, reason } = tables.schedule_version.read(row)
    return { version, content, at, actor, door, reason }
  })
}

/** The hints of a schedule, newest first. */
export function* listHints(context: StoreContext, name: string): Step<HintView[]> {
  const found = yield* findScheduleRow(context, name)
  if (found === null) return []
  return (yield* all(findHints, found.id, pageMax)).map((row) => {
    const { endedAt, endedBy, ...given } = hint.read(row)
    return { ...given, ended: endedAt === null || endedBy === null ? null : { at: endedAt, by: endedBy } }
  })
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
  const entry = ledger.read(row)
  return { ...entry, runId: runTextOf(entry.runId), causedBy: runTextOf(entry.causedBy) }
}

export function scheduleViewOf(row: ScheduleRow): ScheduleView {
  return {
    id: formatId('schedule', row.id),
    spec: row.spec,
    version: row.version,
    calendars: row.calendars,
    disabled: row.disabledAt === null ? null : { at: row.disabledAt, reason: row.disabledReason ?? 'disabled' },
    paused: row.pausedUntil === null ? null : { until: row.pausedUntil, reason: row.pausedReason ?? 'paused' },
    pauses: pausesOf(row),
    window: row.window,
    hints: row.hints,
    hintEpoch: row.hintEpoch,
    failureCount: row.failureCount,
    noopCount: row.noopCount,
    runsCount: row.runsCount,
    lastPlannedAt: row.lastPlannedAt,
    anchorAt: row.anchorAt,
    nextRunAt: row.nextRunAt,
    nextDueAt: row.nextDueAt,
    nextDecision: row.nextDecision,
    waitsFor: runTextOf(row.waitsFor),
    wakeAt: row.wakeAt,
    finished: row.finished,
    timedAt: row.timedAt,
    ...(row.settings !== undefined && { settings: row.settings }),
    ...(row.managedBy !== null && { managedBy: row.managedBy }),
    ...(row.heldBy !== null && { heldBy: formatId('hold', row.heldBy) }),
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    deletedAt: row.deletedAt,
  }
}
