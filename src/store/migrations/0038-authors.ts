import type { Migration } from './migration.ts'

/**
 * Who gave a hint, what the authors of a schedule's hints and pauses did, and the minutes that are open to hints. A schedule keeps all
 * of it in its row, so that firing it reads nothing else. Hints of earlier versions are persons'.
 */
export const authors: Migration = {
  version: 38,
  name: 'authors',
  statements: [
    `alter table belfry.hint add column author_kind {text} not null default 'person'`,
    // The next instant of the schedule before the hint was given, and after.
    'alter table belfry.hint add column was_next_at bigint',
    'alter table belfry.hint add column next_at bigint',
    'alter table belfry.schedule add column steering {text}',
    'alter table belfry.schedule add column open_window {text}',
    'alter table belfry.schedule add column hint_epoch int not null default 0',
  ],
}
