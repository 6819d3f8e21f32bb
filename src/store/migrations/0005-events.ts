import type { Migration } from './migration.ts'

/**
 * Indexes for the event stream, in order of time. Events are read from the history itself, so that a plain run writes nothing
 * extra: ended runs already have an index by their end. These indexes cover the rarer events.
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
