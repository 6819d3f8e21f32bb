import { dialects, each, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import type { RowOf } from '../table-codec.ts'
import { tables } from '../tables.ts'
import { countRuns, countsRuns, type OverQuota } from './run-quota.ts'

/** A run's definition, written once and never changed. */
export type RunRow = RowOf<typeof tables.run>

/**
 * An occurrence that already has a run gets no second one: a unique index ensures this, even if two workers computed
 * the occurrence.
 */
const insertRuns = dialects(
  'run insert',
  tables.run.insert(
    `on conflict (schedule_id, occurrence_at) where occurrence_at is not null do nothing returning id, ${countsRuns('ns')} as counts`,
  ),
)

/** How runs are counted, where their namespace has a quota. */
export interface Counting {
  readonly context: StoreContext
  readonly now: number
  readonly over: OverQuota
}

/** Writes definitions. Returns the ids that were written. Without `counting` no quota counts them. */
export function* writeRuns(runs: readonly RunRow[], counting?: Counting): Step<Set<number>> {
  const rows = yield* each<{ id: number; counts: number }>(
    insertRuns,
    runs.map((row) => tables.run.tuple(row)),
  )
  const counted = new Set(rows.flatMap(({ id, counts }) => (counts === 1 ? [id] : [])))
  if (counting !== undefined && counted.size > 0) {
    const { context, now, over } = counting
    yield* countRuns(
      context,
      now,
      runs.filter(({ id }) => counted.has(id)),
      over,
    )
  }
  return new Set(rows.map((row) => row.id))
}
