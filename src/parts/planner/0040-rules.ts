import type { Migration } from '../../store/migrations/migration.ts'

/** What rules remember of a schedule, and which schedules have rules on a sibling. */
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
