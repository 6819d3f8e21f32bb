import type { Migration } from './migration.ts'

/** As `endless` in `holds/hold-row.ts`; a migration says what it said when it was written. */
const endless = 9_007_199_254_740_991

/**
 * One table of holds in place of a flag of the namespace and one of each queue. An older worker would not look at the table and would
 * start work under a hold, so the flags go, and its leases fail until it is replaced.
 *
 * Ids of namespaces and queues are counted together with all others, so that their rows can give them to the holds made here.
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
    // A lease probes it, and passes the holds that have ended without looking at them.
    'create index hold_on on belfry.hold (ns, scope, subject, until_at)',
    'create index hold_end on belfry.hold (ns, until_at)',
    'create index hold_begin on belfry.hold (ns, from_at) where begun_at is null',
    // Whether runs have to be asked for their keys at all.
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
    // A hold on the schedule is in force: what is made of it stands aside.
    'alter table belfry.schedule add column held_by bigint',
  ],
}
