import type { Migration } from './migration.ts'

/**
 * The layout of live state was chosen by measurement (docs/decisions/0002-row-shape.md): a run's definition is written once and
 * never updated; its state is the one narrow row it has in `ready`, `aside` or `lease`, or the attempt that ended it.
 *
 * Ids are unique in the whole store and never reused, so a key made of an id alone already lies in one namespace; every key made
 * of a name begins with its namespace.
 */
export const ground: Migration = {
  version: 1,
  name: 'ground',
  statements: [
    // Ids ascend. SQLite counts them inside the transaction; on PostgreSQL each process takes blocks of ids from a sequence.
    {
      sqlite: 'create table belfry.id_counter as select 0 as last',
      postgres: 'create sequence belfry.id_block as bigint',
    },

    `create table belfry.namespace (
      id {row id},
      name {text} not null unique,
      stopped_at bigint,
      stopped_reason {text},
      created_at bigint not null
    )`,

    `create table belfry.queue (
      id {row id},
      ns bigint not null,
      name {text} not null,
      policy {text} not null,
      policy_version integer not null,
      paused_at bigint,
      paused_reason {text},
      created_at bigint not null,
      unique (ns, name)
    )`,
    `create table belfry.queue_version (
      ns bigint not null,
      queue_id bigint not null,
      version integer not null,
      policy {text} not null,
      at bigint not null,
      actor {text} not null,
      primary key (queue_id, version)
    ) {clustered}`,
    // The starts of queues with a rate limit, one row per lease call.
    `create table belfry.start (
      ns bigint not null,
      queue_id bigint not null,
      at bigint not null,
      claim_id {text} not null,
      starts integer not null,
      primary key (queue_id, at, claim_id)
    ) {clustered}`,

    // What a run needs from its executor. Each need is a lane, so that a worker never reads through work it cannot execute.
    `create table belfry.need (
      id {row id},
      ns bigint not null,
      kind {text} not null,
      name {text} not null,
      unique (ns, kind, name)
    )`,

    `create table belfry.schedule (
      id {row id},
      ns bigint not null,
      name {text} not null,
      spec {text} not null,
      version integer not null,
      queue_id bigint not null,
      disabled_reason {text},
      disabled_at bigint,
      paused_until bigint,
      paused_reason {text},
      hints {text} not null,
      failure_count integer not null default 0,
      runs_count bigint not null default 0,
      last_planned_at bigint,
      anchor_at bigint not null,
      grid_anchor_at bigint not null,
      next_run_at bigint,
      next_due_at bigint,
      next_decision {text},
      waits_for bigint,
      wake_at bigint,
      is_done smallint not null default 0,
      created_at bigint not null,
      updated_at bigint not null,
      deleted_at bigint
    )`,
    'create unique index schedule_name on belfry.schedule (ns, name) where deleted_at is null',
    'create index schedule_wake on belfry.schedule (wake_at, id) where wake_at is not null',
    'create index schedule_wake_of_namespace on belfry.schedule (ns, wake_at, id) where wake_at is not null',
    `create index schedule_asleep on belfry.schedule (id)
      where wake_at is null and deleted_at is null and disabled_at is null and is_done = 0`,
    `create table belfry.schedule_version (
      ns bigint not null,
      schedule_id bigint not null,
      version integer not null,
      spec {text} not null,
      at bigint not null,
      actor {text} not null,
      reason {text},
      primary key (schedule_id, version)
    ) {clustered}`,
    `create table belfry.hint (
      id {row id},
      ns bigint not null,
      schedule_id bigint not null,
      kind {text} not null,
      value bigint not null,
      expires_at bigint not null,
      reason {text} not null,
      author {text} not null,
      created_at bigint not null,
      ended_at bigint,
      ended_by {text}
    )`,
    'create index hint_of_schedule on belfry.hint (schedule_id, id)',
    // The live runs of a schedule, for overlap, pause and delete.
    `create table belfry.schedule_run (
      ns bigint not null,
      schedule_id bigint not null,
      run_id bigint not null,
      primary key (schedule_id, run_id)
    ) {clustered}`,
    `create table belfry.ledger (
      ns bigint not null,
      schedule_id bigint not null,
      from_at bigint not null,
      to_at bigint not null,
      count bigint not null,
      at_least smallint not null default 0,
      outcome {text} not null,
      run_id bigint,
      caused_by bigint,
      decision {text},
      recorded_at bigint not null,
      ended_at bigint,
      primary key (schedule_id, from_at)
    ) {clustered}`,

    `create table belfry.run (
      id {row id},
      ns bigint not null,
      queue_id bigint not null,
      need_id bigint not null,
      priority integer not null,
      enqueued_at bigint not null,
      schedule_id bigint,
      occurrence_at bigint,
      due_at bigint,
      source {text} not null,
      not_before bigint,
      deadline bigint,
      late_after bigint,
      concurrency_key {text},
      idempotency_key {text},
      dedupe_key {text},
      waits_for bigint,
      retry_of bigint,
      repeatable smallint not null default 1,
      on_exhausted {text},
      policy_version integer not null,
      target {text},
      payload {text},
      options {text},
      decision {text}
    )`,
    'create unique index run_occurrence on belfry.run (schedule_id, occurrence_at) where occurrence_at is not null',
    'create index run_schedule on belfry.run (schedule_id, id) where schedule_id is not null',
    `create table belfry.ready (
      queue_id bigint not null,
      need_id bigint not null,
      priority integer not null,
      enqueued_at bigint not null,
      run_id bigint not null,
      ns bigint not null,
      fence integer not null,
      attempts integer not null,
      releases integer not null,
      deaths integer not null,
      concurrency_key {text},
      primary key (queue_id, need_id, priority, enqueued_at, run_id)
    ) {clustered} {hot table}`,
    `create index ready_key on belfry.ready (queue_id, concurrency_key, need_id, priority, enqueued_at, run_id)
      where concurrency_key is not null`,
    // Live or parked, but not leasable now: waiting for an instant, behind a gate, held by a pause, or parked.
    `create table belfry.aside (
      run_id {row id},
      ns bigint not null,
      queue_id bigint not null,
      need_id bigint not null,
      priority integer not null,
      enqueued_at bigint not null,
      concurrency_key {text},
      kind {text} not null,
      at bigint not null,
      reason {text},
      fence integer not null,
      attempts integer not null,
      releases integer not null,
      deaths integer not null
    ) {hot table}`,
    `create index aside_waiting on belfry.aside (queue_id, at, run_id) where kind = 'waiting'`,
    `create index aside_key on belfry.aside (queue_id, concurrency_key, need_id, priority, enqueued_at, run_id)
      where kind = 'key'`,
    `create index aside_parked on belfry.aside (queue_id, at, run_id) where kind = 'parked'`,
    `create table belfry.lease (
      run_id {row id},
      ns bigint not null,
      queue_id bigint not null,
      schedule_id bigint,
      concurrency_key {text},
      dedupe_key {text},
      worker_id bigint not null,
      claim_id {text} not null,
      leased_at bigint not null,
      expires_at bigint not null,
      cancel_requested_at bigint,
      cancel_reason {text},
      fence integer not null,
      attempts integer not null,
      releases integer not null,
      deaths integer not null
    ) {hot table}`,
    'create index lease_queue on belfry.lease (queue_id)',
    // Only the few leases with a cancel request, so that other leases do not pay for the index.
    'create index lease_cancel on belfry.lease (worker_id) where cancel_requested_at is not null',
    'create index lease_key on belfry.lease (queue_id, concurrency_key) where concurrency_key is not null',

    // Append-only. Fence 0 is an end without a lease: cancelled or skipped before it was leased, or while parked.
    `create table belfry.attempt (
      run_id bigint not null,
      fence integer not null,
      ns bigint not null,
      queue_id bigint not null,
      worker_id bigint,
      started_at bigint,
      ended_at bigint not null,
      outcome {text} not null,
      reason {text},
      ends {text},
      primary key (run_id, fence)
    ) {clustered}`,
    `create index attempt_ends on belfry.attempt (queue_id, ends, ended_at, run_id) where ends is not null`,
    `create table belfry.result (
      run_id {row id},
      ns bigint not null,
      fence integer not null,
      body {text} not null,
      truncated smallint not null
    )`,
    `create table belfry.output (
      ns bigint not null,
      run_id bigint not null,
      fence integer not null,
      seq integer not null,
      bytes integer not null,
      dropped_bytes bigint not null,
      body {text} not null,
      primary key (run_id, fence, seq)
    ) {clustered}`,

    `create table belfry.idempotency (
      ns bigint not null,
      key {text} not null,
      run_id bigint not null,
      input_hash {text} not null,
      created_at bigint not null,
      primary key (ns, key)
    ) {clustered}`,
    'create index idempotency_age on belfry.idempotency (created_at)',
    `create table belfry.dedupe (
      ns bigint not null,
      key {text} not null,
      run_id bigint not null,
      primary key (ns, key)
    ) {clustered}`,

    `create table belfry.worker (
      id {row id},
      ns bigint not null,
      name {text} not null,
      host {text} not null,
      pid integer,
      pid_started_at {text},
      boot_id {text},
      pid_namespace {text},
      can {text} not null,
      slots integer,
      started_at bigint not null,
      beat_at bigint not null,
      beat_ms bigint not null,
      stopped_at bigint
    )`,
    'create index worker_live on belfry.worker (ns, id) where stopped_at is null',
    `create table belfry.duty (
      ns bigint not null,
      name {text} not null,
      worker_id bigint not null,
      expires_at bigint not null,
      primary key (ns, name)
    ) {clustered}`,
    `create table belfry.audit (
      id {row id},
      ns bigint not null,
      at bigint not null,
      actor {text} not null,
      door {text} not null,
      verb {text} not null,
      subject {text} not null,
      detail {text}
    )`,
    'create index audit_subject on belfry.audit (ns, subject, id)',
  ],
}
