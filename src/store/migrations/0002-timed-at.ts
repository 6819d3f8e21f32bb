import type { Migration } from './migration.ts'

/**
 * A schedule remembers when its timing was written, because nothing from before then is an occurrence of it.
 *
 * Of those that are there already it is known only in part. The timing is no older than the schedule. An edit of it sets
 * both anchors: `anchor_at` to that instant, and every end since moves it on; `grid_anchor_at` to that instant too, or to
 * a `startAt`. If that lay ahead, nothing comes before it, so that any instant before it does as well; hence the one
 * millisecond. If it was over, the instant found is too early. That is the safe side: at worst something comes once that
 * was over when it was written, while an instant too late would leave an occurrence without an end.
 */
export const timedAt: Migration = {
  version: 2,
  name: 'timed-at',
  statements: [
    'alter table belfry.schedule add column timed_at bigint not null default 0',
    {
      sqlite: 'update belfry.schedule set timed_at = max(created_at, min(anchor_at, grid_anchor_at - 1))',
      postgres: 'update belfry.schedule set timed_at = greatest(created_at, least(anchor_at, grid_anchor_at - 1))',
    },
  ],
}
