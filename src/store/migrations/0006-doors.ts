import type { Migration } from './migration.ts'

/** Versions store the door that they were written through. For existing versions the door is unknown. */
export const doors: Migration = {
  version: 6,
  name: 'doors',
  statements: [
    'alter table belfry.schedule_version add column door {text}',
    'alter table belfry.queue_version add column door {text}',
  ],
}
