import type { Migration } from './migration.ts'

/** When a worker was found dead, as opposed to stopped, and what became of the runs that were reclaimed from it. */
export const deaths: Migration = {
  version: 13,
  name: 'deaths',
  statements: [
    'alter table belfry.worker add column died_at bigint',
    'alter table belfry.worker add column lost {text}',
  ],
}
