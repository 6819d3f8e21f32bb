import type { Migration } from './migration.ts'

/**
 * Lists of runs are ordered by creation time. Ids do not give that order: each process takes ids from its own block. `run_fired`
 * already orders the runs of schedules by that instant, so that no run is in more than one such index; the index by schedule gets
 * the instant as a column, and parked runs are listed by another instant.
 */
export const madeAt: Migration = {
  version: 12,
  name: 'made-at',
  statements: [
    'create index run_made on belfry.run (ns, enqueued_at, id) where schedule_id is null',
    'create index run_made_by on belfry.run (schedule_id, enqueued_at, id) where schedule_id is not null',
    'drop index belfry.run_schedule',
    `create index aside_made on belfry.aside (ns, enqueued_at, run_id) where kind <> 'parked'`,
  ],
}
