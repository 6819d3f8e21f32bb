import type { Migration } from '../../store/migrations/migration.ts'

/**
 * Corpora, their items and the runs of their phases. `corpus_group` counts the items of each status, phase, depth and emphasis, so that
 * neither the next pick nor the status of a corpus reads every item. `corpus_ref` records which item refers to which.
 */
export const corpusTables: Migration = {
  version: 42,
  name: 'corpus',
  statements: [
    `create table belfry.corpus (
      id {row id},
      ns bigint not null,
      name {text} not null,
      spec {text} not null,
      root {text},
      root_id {text} not null,
      version int not null,
      managed_by {text},
      ticks bigint not null default 0,
      idle int not null default 1,
      picks bigint not null default 0,
      scanned_at bigint,
      created_at bigint not null,
      created_by {text} not null,
      updated_at bigint not null,
      deleted_at bigint
    )`,
    'create unique index corpus_name on belfry.corpus (ns, name) where deleted_at is null',
    `create table belfry.corpus_item (
      corpus_id bigint not null,
      path {text} not null,
      parent {text},
      depth double precision not null,
      emphasis double precision not null,
      status {text} not null,
      phase {text} not null,
      age_key bigint not null,
      state {text} not null,
      attempts int not null default 0,
      next_at bigint,
      reason {text},
      run_id bigint,
      revision bigint not null default 0,
      hash {text},
      is_dirty smallint not null default 1,
      looked_at bigint,
      facts {text} not null,
      document {text},
      primary key (corpus_id, path)
    ) {clustered}`,
    'create index corpus_item_line on belfry.corpus_item (corpus_id, status, phase, depth, emphasis, age_key, path)',
    'create index corpus_item_next on belfry.corpus_item (corpus_id, next_at) where next_at is not null',
    'create index corpus_item_dirty on belfry.corpus_item (corpus_id, path) where is_dirty = 1',
    'create index corpus_item_parent on belfry.corpus_item (corpus_id, parent) where parent is not null',
    `create table belfry.corpus_group (
      corpus_id bigint not null,
      status {text} not null,
      phase {text} not null,
      depth double precision not null,
      emphasis double precision not null,
      items bigint not null,
      primary key (corpus_id, status, phase, depth, emphasis)
    ) {clustered}`,
    `create table belfry.corpus_ref (
      corpus_id bigint not null,
      target {text} not null,
      path {text} not null,
      primary key (corpus_id, target, path)
    ) {clustered}`,
    `create table belfry.corpus_run (
      run_id bigint not null primary key,
      corpus_id bigint not null,
      path {text} not null,
      mode {text} not null,
      phase {text},
      started_at bigint,
      enqueued_at bigint not null
    ) {clustered}`,
    'create index corpus_run_line on belfry.corpus_run (corpus_id, run_id)',
    `create table belfry.corpus_gone (
      corpus_id bigint not null,
      path {text} not null,
      primary key (corpus_id, path)
    ) {clustered}`,
  ],
}
