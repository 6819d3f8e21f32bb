import type { Migration } from '../../../store/migrations/migration.ts'

/** Quotas of namespaces, and the runs that each has made in a month. */
export const quotaTables: Migration = {
  version: 26,
  name: 'quotas',
  statements: [
    // Whether the runs of a namespace are counted, so that a step that makes runs need not read its quota.
    'alter table belfry.namespace add column counts smallint not null default 0',
    `create table belfry.quota (
      ns {row id},
      spec {text} not null,
      hold_id {text},
      held_from bigint,
      version int not null,
      updated_at bigint not null,
      updated_by {text} not null
    )`,
    `create table belfry.run_count (
      ns bigint not null,
      from_at bigint not null,
      made bigint not null,
      primary key (ns, from_at)
    ) {clustered}`,
  ],
}
