import { readPolicy } from '../queues/queue-row.ts'
import { dialects, each, probes, type Row, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import type { RowOf } from '../table-codec.ts'
import { tables } from '../tables.ts'
import type { ReadyRow } from './ready-aside.ts'

const definition = tables.run.only(
  ...([
    'id',
    'ns',
    'queueId',
    'needId',
    'priority',
    'enqueuedAt',
    'scheduleId',
    'concurrencyKey',
    'dedupeKey',
  ] as const),
)

/**
 * The facts about a run that a step needs before it locks anything. Only the ceiling can change, and the priority while the run is not
 * leased.
 */
export interface RunOutline extends Omit<RowOf<typeof definition>, 'id' | 'concurrencyKey'> {
  readonly runId: number
  readonly key: string | null
  /** The current ceiling of its key, if its queue has such a ceiling. */
  readonly keyLimit: number | null
}

const findOutlines = dialects('place find', {
  sqlite: `select ${definition.columns('d')}, q.policy
    from belfry.run d join belfry.queue q on q.id = d.queue_id where d.id = $1 and d.ns = $2`,
  postgres: `select ${definition.columns('d')}, q.policy from unnest($1::bigint[], $2::bigint[]) as i (id, ns)
    ${probes.inner('run d', 'd.id = i.id and d.ns = i.ns')} join belfry.queue q on q.id = d.queue_id`,
})

/** Runs by their ids, without those of other namespaces. */
export function* runOutlines(
  { ns }: Pick<StoreContext, 'ns'>,
  runIds: readonly number[],
): Step<Map<number, RunOutline>> {
  const rows = yield* each(
    findOutlines,
    runIds.map((id) => [id, ns]),
  )
  return new Map(rows.map((row) => [row.id as number, outlineOf(row)]))
}

/** A run in line with zero counts. */
export function freshReadyRow(place: RunOutline, fence: number): ReadyRow {
  const { runId, ns, queueId, needId, priority, enqueuedAt, key } = place
  return { runId, ns, queueId, needId, priority, enqueuedAt, key, fence, attempts: 0, releases: 0, deaths: 0 }
}

function outlineOf(row: Row): RunOutline {
  const { id: runId, concurrencyKey: key, ...place } = definition.read(row)
  return { ...place, runId, key, keyLimit: readPolicy(row.policy as string)?.maxConcurrentPerKey ?? null }
}
