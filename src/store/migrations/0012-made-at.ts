import type { Migration } from './migration.ts'

/**
 * Lists of runs go by when each was made. Ids do not tell it: every process takes them from a block of its own. What a
 * schedule made is in `run_fired` by that instant already, so that no run is in more indexes than one for it; those of one
 * schedule get the instant into the index they had, and what is parked is listed by another instant.
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
