import { isPaused, type ScheduleState } from '../../core/schedule/state.ts'
import { canBeName } from '../check.ts'
import { newestSettings, settingsColumn } from '../settings/settings-row.ts'
import {
  ahead,
  all,
  both,
  dialects,
  inList,
  one,
  type Request,
  type Row,
  rowsOf,
  run,
  runEach,
  type Step,
  type Value,
} from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { big, named, nullable } from '../table-codec.ts'
import { columnsOf, tables } from '../tables.ts'

/** A schedule as stored: its state, and the fields that only the store needs. */
export interface ScheduleRow extends ScheduleState {
  readonly ns: number
  readonly name: string
  readonly queueId: number
  /** The `wakeAt` as it was read; sleeping workers know no earlier instant. */
  readonly knownWakeAt: number | null
  /** The config file that manages it. */
  readonly managedBy: string | null
  /** The hold in force on the schedule, which has set its runs aside; only `turnHolds` writes it. */
  readonly heldBy: number | null
  /**
   * The stop that postponed it. In memory such a row is due as before, and every step that saves the row makes it due
   * again.
   */
  readonly stoppedBy: null
  readonly updatedAt: number
}

/** The columns of a schedule's row for `scheduleRowOf`. */
export function scheduleColumns(alias?: string): string {
  return `${columnsOf('schedule', alias)}, ${settingsColumn(alias ?? 'belfry.schedule')}`
}

const listed = inList.numbers('$1')
const lockListed = (name: string, others: '' | 'skip locked') =>
  dialects(name, {
    sqlite: `select ${scheduleColumns()} from belfry.schedule where id ${listed.sqlite}`,
    postgres: `select ${scheduleColumns()} from belfry.schedule where id ${listed.postgres} order by id for no key update ${others}`,
  })
const lockAndWait = lockListed('schedule lock', '')
const lockFree = lockListed('schedule lock free', 'skip locked')
const lockNamed = dialects('schedule lock named', {
  sqlite: `select ${scheduleColumns()} from belfry.schedule where ns = $1 and name = $2 and deleted_at is null`,
  postgres: `select ${scheduleColumns()} from belfry.schedule where ns = $1 and name = $2 and deleted_at is null for no key update`,
})
/** The state of a schedule; the verbs that edit it write the other columns. */
const state = tables.schedule.but(
  ...([
    'ns',
    'name',
    'spec',
    'version',
    'calendars',
    'queueId',
    'timedAt',
    'managedBy',
    'createdAt',
    'updatedAt',
  ] as const),
)
const save = dialects('schedule save', state.update())
const plan = tables.schedule.only(
  ...(['id', 'runsCount', 'lastPlannedAt', 'nextRunAt', 'nextDueAt', 'nextDecision', 'waitsFor', 'wakeAt'] as const),
  'isDone',
)
const savePlan = dialects('schedule save plan', plan.update())
/** For occurrences that completed. These columns are in no index, so this statement touches no index. */
const saveCompletion = both(
  'schedule save completed',
  ({ numbers }) =>
    `update belfry.schedule set (anchor_at, last_end_at, last_success_at) = ($2, $2, $2) where id ${numbers('$1')}`,
)
/**
 * Schedules that must be checked sooner than before have their own statement, because a sleeping worker may have to wake
 * for them.
 */
export const saveSooner = dialects('schedule save sooner', state.update())

/** The schedules that rows of runs or leases name. */
export function scheduleIdsOf(rows: readonly Row[]): number[] {
  return rows.flatMap(({ schedule_id: id = null }) => (id === null ? [] : [id as number]))
}

/** Locks schedules by id, in the order that every step uses; without `wait`, locked ones are left out. */
export function* lockSchedules(ids: readonly number[], { wait }: { wait: boolean }): Step<Map<number, ScheduleRow>> {
  if (ids.length === 0) return new Map()
  const rows = yield* all(wait ? lockAndWait : lockFree, JSON.stringify([...new Set(ids)]))
  const readable = wait ? rows : rows.filter(isReadable)
  return new Map(readable.map((row) => [row.id as number, scheduleRowOf(row)]))
}

/** Locks together with the next statement, for a verb that waits for the locks anyhow; `lockedBy` returns the rows. */
export function lockAhead(ids: readonly number[]): Step<Request> {
  return ahead(lockAndWait, JSON.stringify([...new Set(ids)]))
}

export function* lockedBy(locking: Request): Step<Map<number, ScheduleRow>> {
  return new Map((yield* rowsOf(locking)).map((row) => [row.id as number, scheduleRowOf(row)]))
}

/** A verb that does not wait skips damaged rows, too: one of them must not stop all others. */
function isReadable(row: Row): boolean {
  try {
    scheduleRowOf(row)
    return true
  } catch {
    return false
  }
}

/** Locks the schedule that has this name now; a deleted one no longer has it. */
export function* lockNamedSchedule({ ns }: StoreContext, name: string): Step<ScheduleRow | null> {
  if (!canBeName(name)) return null
  const row = yield* one(lockNamed, ns, name)
  return row === undefined ? null : scheduleRowOf(row)
}

/** Writes the state of locked schedules; the verbs that edit them write spec, version and timing. */
export function* saveSchedules(rows: readonly ScheduleRow[]): Step<void> {
  yield* runEach(saveSooner, rows.filter(isSooner).map(stateTuple))
  yield* runEach(save, rows.filter((row) => !isSooner(row)).map(stateTuple))
}

/** Writes what a plain firing changes: the plan and the last planned instant. The rest of the row is as stored. */
export function* savePlans(rows: readonly ScheduleRow[]): Step<void> {
  yield* runEach(saveSooner, rows.filter(isSooner).map(stateTuple))
  yield* runEach(savePlan, rows.filter((row) => !isSooner(row)).map(planTuple))
}

/** Writes when occurrences of schedules completed, and nothing else. */
export function* saveCompleted(ids: readonly number[], completedAt: number): Step<void> {
  if (ids.length > 0) yield* run(saveCompletion, JSON.stringify(ids), completedAt)
}

function isSooner({ wakeAt, knownWakeAt }: ScheduleRow): boolean {
  return wakeAt !== null && (knownWakeAt === null || wakeAt < knownWakeAt)
}

const planKept = plan.but('isDone')
const stateKept = state.but('isDone')

function planTuple(row: ScheduleRow): Value[] {
  return [...planKept.tuple(row), isDone(row)]
}

function stateTuple(row: ScheduleRow): Value[] {
  return [...stateKept.tuple(row), isDone(row)]
}

/** The last column of both statements. It follows from the plan, so no step reads it. */
function isDone({ nextDecision }: ScheduleRow): Value {
  return nextDecision?.source === 'none' ? 1 : 0
}

const whole = tables.schedule
  .but('isDone')
  .and({ knownWakeAt: named('wake_at', nullable(big)), settings: newestSettings })

/** Whether its runs are set aside, because it is paused or held. Occurrences of a held schedule still become runs. */
export function setsAside(row: ScheduleRow, now: number): boolean {
  return isPaused(row, now) || (row.heldBy !== null && row.deletedAt === null)
}

export function scheduleRowOf(row: Row): ScheduleRow {
  const read = whole.read(row)
  return { ...read, stoppedBy: null, wakeAt: read.stoppedBy === null ? read.wakeAt : dueSince(read) }
}

/** When a postponed schedule became due. */
function dueSince({ nextDueAt, pausedUntil, hints, updatedAt }: Omit<ScheduleRow, 'stoppedBy'>): number {
  const instants = [nextDueAt, pausedUntil, hints.interval?.expiresAt, hints.oneshot?.expiresAt]
  const known = instants.filter((at): at is number => at !== null && at !== undefined)
  return known.length === 0 ? updatedAt : Math.min(...known)
}
