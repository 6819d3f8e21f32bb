import type { Migration } from './migration.ts'

/**
 * What has happened, in the order of time, for those who watch from outside. It is read from the history itself, so that nothing
 * on the way of a plain run is written for it: ended runs have an index by their end already. These are for what is rarer.
 */
export const events: Migration = {
  version: 5,
  name: 'events',
  statements: [
    'create index attempt_goes_on on belfry.attempt (queue_id, ended_at, run_id, fence) where ends is null',
    'create index run_fired on belfry.run (ns, enqueued_at, id) where schedule_id is not null',
    'create index audit_at on belfry.audit (ns, at, id)',
  ],
}
