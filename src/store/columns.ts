/**
 * The columns of the tables, as this version knows them. A statement names its columns: a newer version may add one while
 * workers of this version go on, and PostgreSQL refuses a prepared statement whose result has changed.
 */
const columns = {
  aside: `run_id, ns, queue_id, need_id, priority, enqueued_at, concurrency_key, kind, at, reason, fence, attempts,
    releases, deaths`,
  attempt: 'run_id, fence, ns, queue_id, worker_id, started_at, ended_at, outcome, reason, ends',
  audit: 'id, ns, at, actor, door, verb, subject, detail',
  hint: 'id, ns, schedule_id, kind, value, expires_at, reason, author, created_at, ended_at, ended_by',
  lease: `run_id, ns, queue_id, schedule_id, concurrency_key, dedupe_key, worker_id, claim_id, leased_at, expires_at,
    cancel_requested_at, cancel_reason, fence, attempts, releases, deaths`,
  ledger: `ns, schedule_id, from_at, to_at, count, at_least, outcome, run_id, caused_by, decision, recorded_at,
    ended_at`,
  notice: 'ns, subject, subject_id, event, last_at, quiet_until, suppressed, is_open',
  queue: `id, ns, name, policy, policy_version, paused_at, paused_reason, created_at, managed_by, notify, deleted_at`,
  ready: `queue_id, need_id, priority, enqueued_at, run_id, ns, fence, attempts, releases, deaths, concurrency_key`,
  run: `id, ns, queue_id, need_id, priority, enqueued_at, schedule_id, occurrence_at, due_at, source, not_before, deadline,
    late_after, concurrency_key, idempotency_key, dedupe_key, waits_for, retry_of, repeatable, on_exhausted,
    policy_version, target, payload, options, decision`,
  schedule: `id, ns, name, spec, version, queue_id, disabled_reason, disabled_at, paused_until, paused_reason, hints,
    failure_count, runs_count, last_planned_at, anchor_at, grid_anchor_at, next_run_at, next_due_at, next_decision,
    waits_for, wake_at, is_done, created_at, updated_at, deleted_at, timed_at, managed_by, last_end_at, last_success_at`,
  schedule_run: 'ns, schedule_id, run_id',
  schedule_version: 'ns, schedule_id, version, spec, at, actor, reason, door',
  token: 'id, ns, name, hash, scope, created_at, created_by, expires_at, revoked_at, used_at, managed_by',
  worker: `id, ns, name, host, pid, pid_started_at, boot_id, pid_namespace, can, slots, started_at, beat_at, beat_ms,
    stopped_at, is_host, died_at, lost`,
}

export type Table = keyof typeof columns

export const tables = Object.keys(columns) as Table[]

/** All columns of a table by their names, for a statement that reads whole rows; `alias` is what it calls the table. */
export function columnsOf(table: Table, alias?: string): string {
  return alias === undefined ? columns[table] : columns[table].replaceAll(/\w+/g, (name) => `${alias}.${name}`)
}
