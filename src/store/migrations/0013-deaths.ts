import type { Migration } from './migration.ts'

/** A worker that died has not stopped: when it was found dead, and what became of the runs that were taken back from it. */
export const deaths: Migration = {
  version: 13,
  name: 'deaths',
  statements: [
    'alter table belfry.worker add column died_at bigint',
    'alter table belfry.worker add column lost {text}',
  ],
}
