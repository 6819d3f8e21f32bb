import type { Migration } from './migration.ts'

/**
 * The audit lines of a subject are listed by the time they were written, as runs are. The index replaces one by id, so that a row
 * costs as many index entries as before.
 */
export const newestFirst: Migration = {
  version: 14,
  name: 'newest-first',
  statements: [
    'create index audit_subject_at on belfry.audit (ns, subject, at, id)',
    'drop index belfry.audit_subject',
  ],
}
