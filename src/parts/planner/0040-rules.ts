import type { Migration } from '../../store/migrations/migration.ts'

/** The memory of each schedule's rules, and which schedules have rules about a sibling. */
export const ruleTables: Migration = {
  version: 40,
  name: 'rules',
  statements: [
    `create table belfry.rule_memory (
      schedule_id bigint not null primary key,
      ns bigint not null,
      memory {text} not null
    ) {clustered}`,
    `create table belfry.rule_watch (
      ns bigint not null,
      sibling {text} not null,
      schedule {text} not null,
      primary key (ns, sibling, schedule)
    ) {clustered}`,
  ],
}
