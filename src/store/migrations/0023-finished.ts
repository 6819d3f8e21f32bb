import type { Migration } from './migration.ts'

/** A schedule that has finished before its time, and how often in a row it found nothing to do. */
export const finished: Migration = {
  version: 23,
  name: 'finished',
  statements: [
    'alter table belfry.schedule add column finished {text}',
    'alter table belfry.schedule add column noop_count int not null default 0',
  ],
}
