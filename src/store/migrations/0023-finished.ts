import type { Migration } from './migration.ts'

/** The field that ended a schedule early, and how often in a row its runs found nothing to do. */
export const finished: Migration = {
  version: 23,
  name: 'finished',
  statements: [
    'alter table belfry.schedule add column finished {text}',
    'alter table belfry.schedule add column noop_count int not null default 0',
  ],
}
