import type { Migration } from './migration.ts'

/**
 * What was done to a subject is listed by when it was written, as runs are. The index takes the place of one by id, so that a row costs
 * as many entries as before.
 */
export const newestFirst: Migration = {
  version: 14,
  name: 'newest-first',
  statements: [
    'create index audit_subject_at on belfry.audit (ns, subject, at, id)',
    'drop index belfry.audit_subject',
  ],
}
