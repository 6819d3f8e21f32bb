import type { Migration } from '../../store/migrations/migration.ts'

/**
 * The receivers of a queue and of the namespace; those of a schedule are part of its spec. And what is remembered of the
 * notices about each subject, so that a receiver does not get the same notice again and again.
 */
export const notices: Migration = {
  version: 9,
  name: 'notices',
  statements: [
    'alter table belfry.queue add column notify {text}',
    'alter table belfry.namespace add column notify {text}',
    `create table belfry.notice (
      ns bigint not null,
      subject {text} not null,
      subject_id bigint not null,
      event {text} not null,
      last_at bigint,
      quiet_until bigint not null,
      suppressed bigint not null,
      is_open smallint not null,
      primary key (ns, subject, subject_id, event)
    ) {clustered}`,
    'create index notice_last on belfry.notice (ns, last_at) where last_at is not null',
    'create index notice_open on belfry.notice (ns, subject_id, event) where is_open = 1',
  ],
}
