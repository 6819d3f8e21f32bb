import type { Migration } from './migration.ts'

/**
 * A schedule stores when its timing was written, because no earlier instant is an occurrence of it.
 *
 * For existing schedules that instant is only partly known. It is not before the schedule was created. An edit sets both anchors:
 * `anchor_at` to the instant of the edit, after which every end moves it forward; `grid_anchor_at` to the same instant, or to a
 * `startAt`. If that `startAt` was in the future, nothing occurs before it, so any earlier instant works too: hence the one
 * millisecond. If it was in the past, the computed instant is too early. An instant that is too early is safe: at worst one
 * occurrence fires that had passed when the timing was written. An instant that is too late would leave an occurrence without an
 * end.
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
