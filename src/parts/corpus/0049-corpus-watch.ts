import type { Migration } from '../../store/migrations/migration.ts'

/** How the workers of each machine learn of changes in the tree of a corpus; and an index of the items of each status, for pages. */
export const corpusWatchTable: Migration = {
  version: 49,
  name: 'corpus watch',
  statements: [
    `create table belfry.corpus_watch (
      corpus_id bigint not null,
      host {text} not null,
      because {text},
      scanned_at bigint not null,
      primary key (corpus_id, host)
    ) {clustered}`,
    'create index corpus_item_status on belfry.corpus_item (corpus_id, status, path)',
  ],
}
