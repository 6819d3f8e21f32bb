import type { Migration } from '../../store/migrations/migration.ts'

/** What the workers of each machine know about the external watcher of a corpus. */
export const corpusWatcherTable: Migration = {
  version: 53,
  name: 'corpus watcher',
  statements: [
    `create table belfry.corpus_watcher (
      corpus_id bigint not null,
      host {text} not null,
      state {text} not null,
      at bigint not null,
      primary key (corpus_id, host)
    ) {clustered}`,
  ],
}
