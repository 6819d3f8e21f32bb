import type { Migration } from '../../store/migrations/migration.ts'

/** Notifications that came in quiet hours, counted by receiver and event until one of them is sent for all. */
export const heldNotices: Migration = {
  version: 27,
  name: 'held notices',
  statements: [
    `create table belfry.notice_held (
      ns bigint not null,
      target_hash {text} not null,
      event {text} not null,
      target {text} not null,
      count bigint not null,
      since bigint not null,
      primary key (ns, target_hash, event)
    )`,
  ],
}
