import type { Migration } from './migration.ts'

/** Versions remember through which door they were written. Of those that are there already nobody knows it any more. */
export const doors: Migration = {
  version: 6,
  name: 'doors',
  statements: [
    'alter table belfry.schedule_version add column door {text}',
    'alter table belfry.queue_version add column door {text}',
  ],
}
