import { formatId } from '../core/id.ts'
import type { Lease, RunSource } from './port.ts'
import type { Row } from './statement.ts'

/** The columns of a run's definition that its executor needs, for a statement that has the run as `d`. */
export const definitionColumns = `d.schedule_id, d.occurrence_at, d.due_at, d.source, d.deadline, d.late_after,
  d.dedupe_key, d.idempotency_key, d.repeatable, d.target, d.payload, d.options`

/** A lease as its holder gets it, from a row of the lease's own columns and those above. */
export function leaseOf(row: Row, queue: string): Lease {
  return {
    runId: formatId('run', row.run_id as number),
    fence: row.fence as number,
    queue,
    claimId: row.claim_id as string,
    leasedAt: row.leased_at as number,
    expiresAt: row.expires_at as number,
    scheduleId: row.schedule_id === null ? null : formatId('schedule', row.schedule_id as number),
    occurrenceAt: row.occurrence_at as number | null,
    dueAt: row.due_at as number | null,
    enqueuedAt: row.enqueued_at as number,
    source: row.source as RunSource,
    attempts: row.attempts as number,
    idempotencyKey: row.idempotency_key as string | null,
    target: parsed(row.target) as Lease['target'],
    payload: row.payload === null ? undefined : JSON.parse(row.payload as string),
    options: (parsed(row.options) ?? {}) as Lease['options'],
    repeatable: row.repeatable === 1,
  }
}

function parsed(text: Row[string] | undefined): unknown {
  return text === null || text === undefined ? null : JSON.parse(text as string)
}
