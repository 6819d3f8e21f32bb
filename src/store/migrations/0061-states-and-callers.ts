import type { Migration } from './migration.ts'

/**
 * What an attempt is doing, as its handler or host reports it: kept with the lease, which is renewed anyway, and ended with it. And the
 * kind of caller that wrote a version of a schedule: null in versions that were written before, which have their door only.
 */
export const statesAndCallers: Migration = {
  version: 61,
  name: 'states and callers',
  statements: [
    'alter table belfry.lease add column state {text}',
    'alter table belfry.schedule_version add column caller {text}',
  ],
}
