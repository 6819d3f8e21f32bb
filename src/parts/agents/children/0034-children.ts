import type { Migration } from '../../../store/migrations/migration.ts'

/**
 * The tokens of agents' runs (only their hashes are stored), the parents of tasks that agents planned, and the turns of loops that pace
 * themselves.
 */
export const childTables: Migration = {
  version: 34,
  name: 'children',
  statements: [
    `create table belfry.run_token (
      run_id bigint not null,
      fence integer not null,
      ns bigint not null,
      hash {text} not null,
      project {text} not null,
      profile {text} not null,
      depth integer not null,
      refused_at bigint,
      primary key (run_id, fence)
    ) {clustered}`,
    'alter table belfry.task add column parent_id bigint',
    'alter table belfry.task add column depth integer not null default 0',
    'create index task_parent on belfry.task (parent_id) where parent_id is not null',
    `create table belfry.task_turn (
      schedule_id bigint not null primary key,
      ns bigint not null,
      note {text},
      is_forgotten smallint not null default 0
    ) {clustered}`,
  ],
}
