import type { WrongInputs } from './wrong-inputs-table.ts'

export const wrongPast: WrongInputs = {
  about: 'Backfills',
  cases: [
    [
      2,
      'a backfill of what is to come',
      'belfry schedule backfill nightly --from 2025-01-01T00:00Z --to 2099-01-01T00:00Z',
    ],
    [2, 'a backfill backwards', 'belfry schedule backfill nightly --from 2025-01-02T00:00Z --to 2025-01-01T00:00Z'],
    [2, 'a backfill without an end', 'belfry schedule backfill nightly --from 2025-01-01T00:00Z'],
    [2, 'a backfill of a fixed delay', 'belfry schedule backfill ping --from 2025-01-01T00:00Z --to 2025-01-02T00:00Z'],
    [2, 'a backfill of one instant', 'belfry schedule backfill once --from 2025-01-01T00:00Z --to 2025-01-02T00:00Z'],
    [3, 'a backfill of nothing', 'belfry schedule backfill nigtly --from 2025-01-01T00:00Z --to 2025-01-02T00:00Z'],
  ],
}
