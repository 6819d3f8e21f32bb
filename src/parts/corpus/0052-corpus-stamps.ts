import type { Migration } from '../../store/migrations/migration.ts'

/** The stamp of each item on the disk when it was last looked at, so that a scan reads only the rows of items whose stamp differs. */
export const corpusStamps: Migration = {
  version: 52,
  name: 'corpus stamps',
  statements: ['alter table belfry.corpus_item add column stamp {text}'],
}
