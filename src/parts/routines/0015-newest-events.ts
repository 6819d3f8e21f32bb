import type { Migration } from '../../store/migrations/migration.ts'

/** What came in for a routine is listed by when it was written. The index takes the place of one by id. */
export const newestEvents: Migration = {
  version: 15,
  name: 'newest-events',
  statements: [
    'create index routine_event_at on belfry.routine_event (routine_id, at, id)',
    'drop index belfry.routine_event_newest',
  ],
}
