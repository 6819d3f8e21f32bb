import { all, both, dialects, each, type Step, thereIsNo } from '../statement.ts'
import { columnsOf } from '../tables.ts'
import type { Sweeping, Swept } from './sweep.ts'

const findSchedules = both(
  'prune find schedules',
  'select id, queue_id, deleted_at from belfry.schedule where ns = $1 and id > $2 order by id limit $3',
)
/** The row of an occurrence whose run is still live has not ended, and stays. */
const isOver = `to_at <= $2 and recorded_at <= $2 and (run_id is null or ended_at <= $2)`
const findLedger = dialects('prune find ledger', {
  sqlite: `select schedule_id, from_at from (select ${columnsOf('ledger')} from belfry.ledger where schedule_id = $1 and from_at <= $2
      order by from_at limit $3) where ${isOver}`,
  postgres: `select l.schedule_id, l.from_at from unnest($1::bigint[], $2::bigint[], $3::int[]) as i (schedule_id, until, most)
    cross join lateral (select ${columnsOf('ledger')} from belfry.ledger where schedule_id = i.schedule_id and from_at <= i.until
      order by from_at limit i.most) l where ${isOver.replaceAll('$2', 'i.until')}`,
})
/** Checks again: a row that covers many occurrences may have been extended since it was found. */
const removeLedger = dialects('prune remove ledger', {
  sqlite: 'delete from belfry.ledger where schedule_id = $1 and from_at = $2 and to_at <= $3 returning from_at',
  postgres: `delete from belfry.ledger l using unnest($1::bigint[], $2::bigint[], $3::bigint[]) as i (schedule_id, from_at, until)
    where l.schedule_id = i.schedule_id and l.from_at = i.from_at and l.to_at <= i.until returning l.from_at`,
})
const findHints = dialects('prune find hints', {
  sqlite: `select id from (select ${columnsOf('hint')} from belfry.hint where schedule_id = $1 order by id limit $3)
    where coalesce(ended_at, expires_at) <= $2`,
  postgres: `select h.id from unnest($1::bigint[], $2::bigint[], $3::int[]) as i (schedule_id, until, most)
    cross join lateral (select ${columnsOf('hint')} from belfry.hint where schedule_id = i.schedule_id order by id limit i.most) h
    where coalesce(h.ended_at, h.expires_at) <= i.until`,
})
const removeHints = dialects('prune remove hints', {
  sqlite: 'delete from belfry.hint where id = $1',
  postgres: 'delete from belfry.hint where id = any ($1::bigint[])',
})
/** Nothing refers to a deleted schedule any more. */
const isForgotten = [
  'from belfry.ledger l where l.schedule_id = s.id',
  'from belfry.hint h where h.schedule_id = s.id',
  'from belfry.schedule_run r where r.schedule_id = s.id',
  // Uses the index that begins with the schedule, instead of scanning all fired runs.
  'from belfry.run d where d.schedule_id = s.id and d.occurrence_at is not null order by d.schedule_id, d.occurrence_at',
]
  .map(thereIsNo)
  .join(' and ')
const removeSchedules = dialects('prune remove schedules', {
  sqlite: `delete from belfry.schedule as s where s.id = $1 and s.deleted_at <= $2 and ${isForgotten} returning id`,
  postgres: `delete from belfry.schedule s using unnest($1::bigint[], $2::bigint[]) as i (id, until)
    where s.id = i.id and s.deleted_at <= i.until and ${isForgotten} returning s.id`,
})
const removeVersions = dialects('prune remove versions', {
  sqlite: 'delete from belfry.schedule_version where schedule_id = $1',
  postgres: 'delete from belfry.schedule_version where schedule_id = any ($1::bigint[])',
})

const schedulesAtOnce = 100
/** How many of the oldest rows of one schedule one step reads. */
const rowsOfOneMax = 100

interface FoundSchedule {
  readonly id: number
  readonly queue_id: number
  readonly deleted_at: number | null
}

/** Goes through the schedules by id. Removes old ledger rows, old hints, and deleted schedules. */
export function* sweepSchedules(sweeping: Sweeping, from: string | null): Step<Swept> {
  const fromId = Number(from ?? 0)
  const found = yield* all<FoundSchedule>(findSchedules, sweeping.context.ns, fromId, schedulesAtOnce)
  const kept = found.flatMap((schedule) => untilOf(sweeping, schedule))
  const ledger = yield* sweepLedger(kept, sweeping.rowsLeft)
  const hints = yield* sweepHints(kept, sweeping.rowsLeft - ledger.removed)
  const schedules = yield* sweepDeleted(kept.filter(({ isDeleted }) => isDeleted))
  const rows = ledger.removed + hints.removed + schedules
  const next = ledger.more || hints.more ? String(fromId) : afterLast(found)
  return { rows, runs: 0, ledger: ledger.removed, other: hints.removed + schedules, next }
}

function afterLast(found: readonly FoundSchedule[]): string | null {
  return found.length < schedulesAtOnce ? null : String(found.at(-1)?.id)
}

interface KeptSchedule {
  readonly id: number
  readonly isDeleted: boolean
  readonly ledgerUntil: number
  /** A schedule deleted before this instant may be removed. */
  readonly deletedUntil: number
}

function untilOf({ now, queues }: Sweeping, { id, queue_id, deleted_at }: FoundSchedule): KeptSchedule[] {
  const retention = queues.find((queue) => queue.id === queue_id)?.policy.retention
  if (retention === undefined) return []
  const { ledgerMs, completedMs, failedMs } = retention
  const deletedUntil = now - Math.max(ledgerMs, completedMs, failedMs)
  return [{ id, isDeleted: deleted_at !== null, ledgerUntil: now - ledgerMs, deletedUntil }]
}

interface Removed {
  readonly removed: number
  readonly more: boolean
}

function* sweepLedger(schedules: readonly KeptSchedule[], rowsLeft: number): Step<Removed> {
  const until = new Map(schedules.map(({ id, ledgerUntil }) => [id, ledgerUntil]))
  const found = yield* each<{ schedule_id: number; from_at: number }>(
    findLedger,
    schedules.map(({ id, ledgerUntil }) => [id, ledgerUntil, rowsOfOneMax]),
  )
  const going = found.slice(0, rowsLeft)
  const removed = yield* each(
    removeLedger,
    going.map((row) => [row.schedule_id, row.from_at, until.get(row.schedule_id) ?? 0]),
  )
  // A full page of removable rows means that more may follow.
  return { removed: removed.length, more: going.length < found.length || found.length >= rowsOfOneMax }
}

function* sweepHints(schedules: readonly KeptSchedule[], rowsLeft: number): Step<Removed> {
  const found = yield* each<{ id: number }>(
    findHints,
    schedules.map(({ id, ledgerUntil }) => [id, ledgerUntil, rowsOfOneMax]),
  )
  const going = found.slice(0, Math.max(0, rowsLeft))
  yield* each(
    removeHints,
    going.map(({ id }) => [id]),
  )
  return { removed: going.length, more: going.length < found.length || found.length >= rowsOfOneMax }
}

function* sweepDeleted(schedules: readonly KeptSchedule[]): Step<number> {
  const removed = yield* each<{ id: number }>(
    removeSchedules,
    schedules.map(({ id, deletedUntil }) => [id, deletedUntil]),
  )
  yield* each(
    removeVersions,
    removed.map(({ id }) => [id]),
  )
  return removed.length
}
