import type { Migration } from './migration.ts'

/** Equal to `endless` in `holds/hold-row.ts`, and not imported: a migration must never change. */
const endless = 9_007_199_254_740_991

/**
 * One table of holds replaces a flag on the namespace and one on each queue. An older worker would ignore the table and start
 * work under a hold, so the flags are dropped; the leases of an older worker then fail until it is replaced.
 *
 * Ids are unique over all tables, so each new hold takes the id of its namespace or queue.
 */
export const holds: Migration = {
  version: 16,
  name: 'holds',
  statements: [
    `create table belfry.hold (
      id {row id},
      ns bigint not null,
      scope {text} not null,
      subject {text} not null,
      from_at bigint not null,
      until_at bigint not null,
      begun_at bigint,
      reason {text} not null,
      note {text},
      firing {text} not null,
      author {text} not null,
      created_at bigint not null
    )`,
    // A lease probes this index, and skips ended holds without reading them.
    'create index hold_on on belfry.hold (ns, scope, subject, until_at)',
    'create index hold_end on belfry.hold (ns, until_at)',
    'create index hold_begin on belfry.hold (ns, from_at) where begun_at is null',
    // Whether any key is held, so that keys of runs have to be checked.
    `create index hold_key on belfry.hold (ns) where scope = 'key'`,
    `insert into belfry.hold (id, ns, scope, subject, from_at, until_at, begun_at, reason, note, firing, author, created_at)
      select id, id, 'namespace', '', stopped_at, ${endless}, stopped_at, 'stopped', stopped_reason, 'nothing', 'belfry', stopped_at
      from belfry.namespace where stopped_at is not null`,
    `insert into belfry.hold (id, ns, scope, subject, from_at, until_at, begun_at, reason, note, firing, author, created_at)
      select id, ns, 'queue', name, paused_at, ${endless}, paused_at, 'paused', paused_reason, 'waits', 'belfry', paused_at
      from belfry.queue where paused_at is not null`,
    'alter table belfry.namespace drop column stopped_at',
    'alter table belfry.namespace drop column stopped_reason',
    'alter table belfry.queue drop column paused_at',
    'alter table belfry.queue drop column paused_reason',
    // The hold in force on the schedule: new runs of it are set aside.
    'alter table belfry.schedule add column held_by bigint',
  ],
}
