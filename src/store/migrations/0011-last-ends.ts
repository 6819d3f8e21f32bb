import type { Migration } from './migration.ts'

/**
 * A schedule remembers when an occurrence of it ended last, and when one completed last, because the ledger would have to
 * be searched back to the last success of a schedule that has failed for months. What is there already is found there once.
 */
export const lastEnds: Migration = {
  version: 11,
  name: 'last-ends',
  statements: [
    'alter table belfry.schedule add column last_end_at bigint',
    'alter table belfry.schedule add column last_success_at bigint',
    `update belfry.schedule as s set
      last_end_at = (select max(l.ended_at) from belfry.ledger l where l.schedule_id = s.id),
      last_success_at = (select max(l.ended_at) from belfry.ledger l
        where l.schedule_id = s.id and l.outcome = 'completed')`,
  ],
}
