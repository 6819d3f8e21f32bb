import type { RunSource } from '../port.ts'
import { dialects, each, type Step, type Value } from '../statement.ts'
import type { DecisionView } from '../view.ts'

/** A run's definition. It is written once, with the run, and never changed. */
export interface RunRow {
  readonly id: number
  readonly ns: number
  readonly queueId: number
  readonly needId: number
  readonly priority: number
  readonly enqueuedAt: number
  readonly scheduleId: number | null
  readonly occurrenceAt: number | null
  readonly dueAt: number | null
  readonly source: RunSource
  readonly notBefore: number | null
  readonly deadline: number | null
  readonly lateAfter: number | null
  readonly concurrencyKey: string | null
  readonly idempotencyKey: string | null
  readonly dedupeKey: string | null
  readonly waitsFor: number | null
  readonly retryOf: number | null
  readonly repeatable: boolean
  readonly onExhausted: 'park' | 'fail' | null
  readonly policyVersion: number
  /** JSON texts. */
  readonly target: string | null
  readonly payload: string | null
  readonly options: string | null
  readonly decision: DecisionView | null
}

const columns = `(id, ns, queue_id, need_id, priority, enqueued_at, schedule_id, occurrence_at, due_at, source, not_before,
  deadline, late_after, concurrency_key, idempotency_key, dedupe_key, waits_for, retry_of, repeatable, on_exhausted,
  policy_version, target, payload, options, decision)`

/** An occurrence that already has its run is left alone: the unique index says so, whoever computed it twice. */
const insertRuns = dialects('run insert', {
  sqlite: `insert into belfry.run ${columns}
    values (${Array.from({ length: 25 }, (_, index) => `$${index + 1}`).join(', ')})
    on conflict (schedule_id, occurrence_at) where occurrence_at is not null do nothing returning id`,
  postgres: `insert into belfry.run ${columns}
    select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::int[], $6::bigint[], $7::bigint[],
      $8::bigint[], $9::bigint[], $10::text[], $11::bigint[], $12::bigint[], $13::bigint[], $14::text[], $15::text[],
      $16::text[], $17::bigint[], $18::bigint[], $19::smallint[], $20::text[], $21::int[], $22::text[], $23::text[],
      $24::text[], $25::text[])
    on conflict (schedule_id, occurrence_at) where occurrence_at is not null do nothing returning id`,
})

/** Writes definitions; answers the ids that were written. */
export function* writeRuns(runs: readonly RunRow[]): Step<Set<number>> {
  const rows = yield* each<{ id: number }>(insertRuns, runs.map(tupleOf))
  return new Set(rows.map((row) => row.id))
}

function tupleOf(run: RunRow): Value[] {
  return [
    run.id,
    run.ns,
    run.queueId,
    run.needId,
    run.priority,
    run.enqueuedAt,
    run.scheduleId,
    run.occurrenceAt,
    run.dueAt,
    run.source,
    run.notBefore,
    run.deadline,
    run.lateAfter,
    run.concurrencyKey,
    run.idempotencyKey,
    run.dedupeKey,
    run.waitsFor,
    run.retryOf,
    run.repeatable ? 1 : 0,
    run.onExhausted,
    run.policyVersion,
    run.target,
    run.payload,
    run.options,
    run.decision === null ? null : JSON.stringify(run.decision),
  ]
}
