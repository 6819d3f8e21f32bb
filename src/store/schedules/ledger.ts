import type { NextDecision } from '../../core/schedule/decision.ts'
import { type Passed, summed } from '../../core/schedule/passed-by.ts'
import {
  dialects,
  each,
  eachAhead,
  type Request,
  type Row,
  rowsOf,
  runEach,
  type Step,
  type Value,
} from '../statement.ts'
import { columnsOf, tables } from '../tables.ts'
import type { ScheduleRow } from './schedule-row.ts'

/** The end of nominal occurrences: of one that became a run, or of one or more that ended without a run. */
export interface LedgerEntry extends Passed {
  readonly ns: number
  readonly scheduleId: number
  readonly runId: number | null
  /** The run that blocked the occurrences. */
  readonly causedBy: number | null
}

/** The outcome of an occurrence whose run waits for the decision of a person. */
export const askedOutcome = 'asked'

/** The entry of occurrences that ended without a run; `causedBy` is the run that blocked them. */
export function passedEntry(
  { ns, id: scheduleId }: ScheduleRow,
  passed: Passed,
  causedBy: number | null = null,
): LedgerEntry {
  return { ns, scheduleId, ...passed, runId: null, causedBy }
}

const findNewest = dialects('ledger find newest', {
  sqlite: `select ${columnsOf('ledger')} from belfry.ledger where schedule_id = $1 order by from_at desc limit 1`,
  postgres: `select ${columnsOf('ledger', 'l')} from unnest($1::bigint[]) as i (id) cross join lateral (
    select ${columnsOf('ledger')} from belfry.ledger where schedule_id = i.id order by from_at desc limit 1) l`,
})
const insertEntries = dialects('ledger insert', tables.ledger.insert('on conflict (schedule_id, from_at) do nothing'))
const extendEntries = dialects('ledger extend', {
  sqlite: `update belfry.ledger set to_at = $3, count = count + $4, ended_at = $5, at_least = max(at_least, $6)
    where schedule_id = $1 and from_at = $2`,
  postgres: `update belfry.ledger l set to_at = i.to_at, count = l.count + i.count, ended_at = i.ended_at,
      at_least = greatest(l.at_least, i.at_least)
    from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::smallint[])
      as i (schedule_id, from_at, to_at, count, ended_at, at_least)
    where l.schedule_id = i.schedule_id and l.from_at = i.from_at`,
})
/**
 * An occurrence ends once: a run that ends after it was parked and reset does not end its occurrence a second time. PostgreSQL
 * finds each row by its whole key and writes it as an upsert: an update joined with a list was planned as a scan over the whole
 * ledger, or over all rows of a schedule.
 */
export const finishEntries = dialects('ledger finish', {
  sqlite: `update belfry.ledger set outcome = $3, ended_at = $4
    where schedule_id = $1 and from_at = (select occurrence_at from belfry.run where id = $2) and run_id = $2
      and ended_at is null returning run_id`,
  postgres: `insert into belfry.ledger as l
      (ns, schedule_id, from_at, to_at, count, outcome, run_id, recorded_at, ended_at)
    select f.ns, f.schedule_id, f.from_at, f.to_at, f.count, i.outcome, f.run_id, f.recorded_at, i.ended_at
    from unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[]) as i (schedule_id, run_id, outcome, ended_at)
    cross join lateral (select occurrence_at from belfry.run where id = i.run_id offset 0) d
    cross join lateral (select ${columnsOf('ledger')} from belfry.ledger where schedule_id = i.schedule_id and from_at = d.occurrence_at
      and run_id = i.run_id offset 0) f
    on conflict (schedule_id, from_at) do update set outcome = excluded.outcome, ended_at = excluded.ended_at
      where l.ended_at is null
    returning run_id`,
})

/**
 * Writes entries, the entries of each schedule in order of time. Neighbours that ended for one reason without a run share
 * one row, which is extended in place, so that a gap of any length costs one statement.
 */
export function* writeLedger(now: number, entries: readonly LedgerEntry[]): Step<void> {
  const merged = neighboursMerged(entries)
  const firsts = new Map(merged.toReversed().map((entry) => [entry.scheduleId, entry]))
  const candidates = [...firsts.values()].filter(isExtensible)
  const newest = new Map(
    (yield* each(
      findNewest,
      candidates.map(({ scheduleId }) => [scheduleId]),
    )).map((row) => [row.schedule_id as number, row]),
  )
  const extending = new Set(candidates.filter((entry) => continues(newest.get(entry.scheduleId), entry)))
  yield* runEach(
    extendEntries,
    [...extending].map(({ scheduleId, to, count, countIsAtLeast }) => {
      return [scheduleId, newest.get(scheduleId)?.from_at as number, to, count, now, countIsAtLeast ? 1 : 0]
    }),
  )
  yield* runEach(
    insertEntries,
    merged.filter((entry) => !extending.has(entry)).map((entry) => tupleOf(now, entry)),
  )
}

/** Records occurrences of one schedule that ended without a run. */
export function* writePassed(now: number, row: ScheduleRow, passed: readonly Passed[]): Step<void> {
  yield* writeLedger(
    now,
    passed.map((one) => passedEntry(row, one)),
  )
}

/** Records how occurrences with a run ended; `finishedBy` returns the runs whose occurrences had not ended before. */
export function finishLedger(
  now: number,
  ends: readonly { readonly scheduleId: number; readonly runId: number; readonly status: string }[],
): Step<Request> {
  return eachAhead(
    finishEntries,
    ends.map(({ scheduleId, runId, status }) => [scheduleId, runId, status, now]),
  )
}

/** The runs whose occurrence had not ended before. */
export function* finishedBy(finishing: Request): Step<Set<number>> {
  return new Set((yield* rowsOf<{ run_id: number }>(finishing)).map((row) => row.run_id))
}

function neighboursMerged(entries: readonly LedgerEntry[]): LedgerEntry[] {
  const merged: LedgerEntry[] = []
  for (const entry of entries) {
    const last = merged.at(-1)
    if (last !== undefined && isExtensible(last) && isExtensible(entry) && isAlike(last, entry)) {
      merged[merged.length - 1] = { ...last, to: entry.to, ...summed(last, entry) }
    } else merged.push(entry)
  }
  return merged
}

function isAlike(a: LedgerEntry, b: LedgerEntry): boolean {
  return a.scheduleId === b.scheduleId && a.outcome === b.outcome && a.causedBy === b.causedBy
}

function isExtensible({ runId }: LedgerEntry): boolean {
  return runId === null
}

function continues(row: Row | undefined, { outcome, causedBy }: LedgerEntry): boolean {
  return row !== undefined && row.run_id === null && row.outcome === outcome && row.caused_by === causedBy
}

/** The governor's memory is left out: it is stored with the run, and ledger rows are kept far longer than runs. */
function tupleOf(now: number, entry: LedgerEntry): Value[] {
  const decision = entry.decision === null ? null : withoutMemory(entry.decision)
  // For its schedule a parked run has ended.
  const isOver = entry.runId === null || entry.outcome === askedOutcome
  return tables.ledger.tuple({ recordedAt: now, endedAt: isOver ? now : null, ...entry, decision })
}

function withoutMemory(decision: NextDecision): NextDecision {
  const { at, version, unmeasured, spread, source, winner, waitsForEnd, trail } = decision
  return { at, version, unmeasured, spread, source, winner, waitsForEnd, trail }
}
