import type { Migration } from './migration.ts'

/**
 * Calendars by name, with all their versions. A use is anything that follows calendars: the lanes of runs that name them, a queue, or
 * the whole namespace. Its closings are holds, which are written ahead. A schedule keeps the hours of its calendars in its row, so
 * that firing it reads nothing else.
 */
export const calendars: Migration = {
  version: 20,
  name: 'calendars',
  statements: [
    `create table belfry.calendar (
      ns bigint not null,
      name {text} not null,
      version int not null,
      hours {text} not null,
      managed_by {text},
      created_at bigint not null,
      updated_at bigint not null,
      deleted_at bigint,
      primary key (ns, name)
    )`,
    `create table belfry.calendar_version (
      ns bigint not null,
      name {text} not null,
      version int not null,
      hours {text} not null,
      at bigint not null,
      actor {text} not null,
      door {text} not null,
      reason {text},
      primary key (ns, name, version)
    )`,
    `create table belfry.calendar_use (
      ns bigint not null,
      scope {text} not null,
      subject {text} not null,
      calendar {text} not null,
      written_until bigint not null,
      primary key (ns, scope, subject)
    )`,
    // After a change the schedules are planned again, a page at a time, in the order of their ids.
    `create table belfry.calendar_asking (
      ns bigint not null primary key,
      change bigint not null,
      after_id bigint not null,
      is_all smallint not null
    )`,
    'alter table belfry.schedule add column calendars {text}',
    'create index schedule_calendars on belfry.schedule (ns, id) where calendars is not null',
  ],
}
