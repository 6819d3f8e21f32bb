import type { Migration } from './migration.ts'

/**
 * A token belongs to a person or an agent, and the audit log records which kind a caller was. A request on a lease asks its worker to
 * give stopped work back. A stop may be on a part of a namespace: the due schedules of that part name the hold, so that occurrences
 * due under a stop can be told from missed ones.
 */
export const switches: Migration = {
  version: 19,
  name: 'switches',
  statements: [
    `alter table belfry.token add column caller {text} not null default 'person'`,
    // Null in audit lines of older versions, whose callers were persons.
    'alter table belfry.audit add column caller {text}',
    // Why a worker that is alive starts nothing.
    'alter table belfry.worker add column halted {text}',
    'alter table belfry.lease add column release_requested_at bigint',
    'alter table belfry.lease add column release_reason {text}',
    'create index lease_release on belfry.lease (worker_id) where release_requested_at is not null',
    'alter table belfry.schedule add column stopped_by bigint',
    'create index schedule_stopped on belfry.schedule (stopped_by) where stopped_by is not null',
    // Whether some hold stops a part of a namespace from firing, so that `fireDue` must read which
    // hold.
    `create index hold_stops on belfry.hold (ns) where firing = 'nothing' and scope <> 'namespace'`,
    `create table belfry.stop_span (
      id {row id},
      ns bigint not null,
      scope {text} not null,
      subject {text} not null,
      from_at bigint not null,
      until_at bigint not null
    )`,
    'create index stop_span_of_namespace on belfry.stop_span (ns)',
    // One row a version; `content` has the version and all values that were set. The newest row is in
    // force.
    `create table belfry.setting (
      ns bigint not null,
      version integer not null,
      at bigint not null,
      actor {text} not null,
      content {text} not null,
      primary key (ns, version)
    ) {clustered}`,
  ],
}
