import { dialects, each, type Step } from '../statement.ts'
import type { RowOf } from '../table-codec.ts'
import { tables } from '../tables.ts'

/** A run's definition, written once and never changed. */
export type RunRow = RowOf<typeof tables.run>

/** An occurrence that already has its run is left alone: a unique index ensures it, even if two workers computed it. */
const insertRuns = dialects(
  'run insert',
  tables.run.insert('on conflict (schedule_id, occurrence_at) where occurrence_at is not null do nothing returning id'),
)

/** Writes definitions. Returns the ids that were written. */
export function* writeRuns(runs: readonly RunRow[]): Step<Set<number>> {
  const rows = yield* each<{ id: number }>(
    insertRuns,
    runs.map((row) => tables.run.tuple(row)),
  )
  return new Set(rows.map((row) => row.id))
}
