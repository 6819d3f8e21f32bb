import type { Migration } from '../../store/migrations/migration.ts'

/** Routines: the action for an event, and the outcome of each event. A delivery is identified by its sender's id, so that it creates one run however often it is sent. */
export const routines: Migration = {
  version: 8,
  name: 'routines',
  statements: [
    `create table belfry.routine (
      id {row id},
      ns bigint not null,
      name {text} not null,
      spec {text} not null,
      disabled_at bigint,
      disabled_reason {text},
      created_at bigint not null,
      created_by {text} not null,
      updated_at bigint not null,
      deleted_at bigint
    )`,
    'create unique index routine_name on belfry.routine (ns, name) where deleted_at is null',
    `create table belfry.routine_event (
      id {row id},
      ns bigint not null,
      routine_id bigint not null,
      delivery_id {text} not null,
      at bigint not null,
      type {text},
      outcome {text} not null,
      reason {text},
      run_id bigint,
      repeats bigint not null default 0,
      actor {text} not null,
      door {text} not null,
      payload {text} not null,
      is_cut smallint not null
    )`,
    'create unique index routine_event_delivery on belfry.routine_event (routine_id, delivery_id)',
    'create index routine_event_newest on belfry.routine_event (routine_id, id)',
  ],
}
