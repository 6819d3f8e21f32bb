import type { Migration } from '../../store/migrations/migration.ts'

/**
 * A fingerprint of what all items of a corpus consume alike, its prompt files above all, as the last look at the corpus found it; and how
 * long its phases take, on average.
 */
export const corpusInputs: Migration = {
  version: 63,
  name: 'corpus inputs',
  statements: [
    'alter table belfry.corpus add column inputs_hash {text}',
    'alter table belfry.corpus add column phase_ms bigint',
  ],
}
