import type { Migration } from './migration.ts'

/**
 * A lane also depends on an account and a calendar, so that a lease skips the runs of a blocked account or a closed calendar without
 * reading them. SQLite cannot change a unique constraint, so the table is created again there.
 */
export const lanes: Migration = {
  version: 18,
  name: 'lanes',
  statements: [
    {
      sqlite: 'alter table belfry.need rename to need_before',
      postgres: `alter table belfry.need add column account text collate "C" not null default '',
        add column calendar text collate "C" not null default '', drop constraint need_ns_kind_name_key,
        add unique (ns, kind, name, account, calendar)`,
    },
    {
      sqlite: `create table belfry.need (
        id integer primary key,
        ns bigint not null,
        kind text not null,
        name text not null,
        account text not null default '',
        calendar text not null default '',
        unique (ns, kind, name, account, calendar)
      )`,
      postgres: 'select 1',
    },
    {
      sqlite: 'insert into belfry.need (id, ns, kind, name) select id, ns, kind, name from need_before',
      postgres: 'select 1',
    },
    { sqlite: 'drop table belfry.need_before', postgres: 'select 1' },
    // Whether some hold makes occurrences end without a run, so that `fireDue` must read which
    // hold.
    `create index hold_skips on belfry.hold (ns) where firing = 'skips'`,
  ],
}
