import type { Migration } from './migration.ts'

/**
 * A schedule stores when its last occurrence ended and when one last completed: for a schedule that has failed for months the
 * whole ledger would have to be searched. For existing schedules the ledger is searched once, here.
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
