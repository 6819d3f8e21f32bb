import type { Migration } from './migration.ts'

/**
 * The author of a hint, the recent changes by the authors of a schedule's hints and pauses, and the minutes that are open to hints.
 * All of it is stored in the row of the schedule, so that firing reads nothing else. Hints from earlier versions count as given by
 * persons.
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
