import type { Migration } from './migration.ts'

/** Groups of schedules. A schedule names its group in its spec; the column is for finding the members of a group. */
export const groups: Migration = {
  version: 39,
  name: 'groups',
  statements: [
    `create table belfry.schedule_group (
      id {row id},
      ns bigint not null,
      name {text} not null,
      spec {text} not null,
      paused {text},
      created_at bigint not null,
      created_by {text} not null,
      updated_at bigint not null,
      managed_by {text},
      unique (ns, name)
    )`,
    'alter table belfry.schedule add column group_name {text}',
    'create index schedule_of_group on belfry.schedule (ns, group_name, name) where group_name is not null and deleted_at is null',
  ],
}
