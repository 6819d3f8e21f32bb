import type { Migration } from './migration.ts'

/**
 * What was done to a subject, and what came in for a routine, is listed by when it was written, as runs are. Each index takes the
 * place of one by id, so that a row costs as many entries as before.
 */
export const newestFirst: Migration = {
  version: 14,
  name: 'newest-first',
  statements: [
    'create index audit_subject_at on belfry.audit (ns, subject, at, id)',
    'drop index belfry.audit_subject',
    'create index routine_event_at on belfry.routine_event (routine_id, at, id)',
    'drop index belfry.routine_event_newest',
  ],
}
