import type { Migration } from '../../store/migrations/migration.ts'

/** Snapshots of items in the store; snapshots of documents on disk lie beside the documents. */
export const corpusSnapshots: Migration = {
  version: 47,
  name: 'corpus snapshots',
  statements: [
    `create table belfry.corpus_snapshot (
      corpus_id bigint not null,
      path {text} not null,
      name {text} not null,
      document {text} not null,
      primary key (corpus_id, path, name)
    ) {clustered}`,
  ],
}
