import type { Migration } from '../../store/migrations/migration.ts'

/** Events of a routine are listed by when they were written. The index replaces one by id. */
export const newestEvents: Migration = {
  version: 15,
  name: 'newest-events',
  statements: [
    'create index routine_event_at on belfry.routine_event (routine_id, at, id)',
    'drop index belfry.routine_event_newest',
  ],
}
