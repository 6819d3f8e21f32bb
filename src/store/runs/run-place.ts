import type { StoreContext } from '../context.ts'
import { readPolicy } from '../queues/queue-row.ts'
import { dialects, each, probes, type Row, type Step } from '../statement.ts'
import type { Standing } from './standing.ts'

/** What a step must know of a run before it locks anything. Nothing of it changes but the ceiling, and the priority while nobody has leased the run. */
export interface RunPlace {
  readonly runId: number
  readonly ns: number
  readonly queueId: number
  readonly needId: number
  readonly priority: number
  readonly enqueuedAt: number
  readonly scheduleId: number | null
  readonly key: string | null
  readonly dedupeKey: string | null
  /** The ceiling of its key at this moment, if its queue has such a ceiling. */
  readonly keyLimit: number | null
}

const findPlaces = dialects('place find', {
  sqlite: `select d.id, d.ns, d.queue_id, d.need_id, d.priority, d.enqueued_at, d.schedule_id, d.concurrency_key,
      d.dedupe_key, q.policy
    from belfry.run d join belfry.queue q on q.id = d.queue_id where d.id = $1 and d.ns = $2`,
  postgres: `select d.id, d.ns, d.queue_id, d.need_id, d.priority, d.enqueued_at, d.schedule_id, d.concurrency_key,
      d.dedupe_key, q.policy
    from unnest($1::bigint[], $2::bigint[]) as i (id, ns)
    ${probes.inner('run d', 'd.id = i.id and d.ns = i.ns')} join belfry.queue q on q.id = d.queue_id`,
})

/** The places of runs by their ids; a run that the namespace does not have is not among the answer. */
export function* placesOf({ ns }: Pick<StoreContext, 'ns'>, runIds: readonly number[]): Step<Map<number, RunPlace>> {
  const rows = yield* each(
    findPlaces,
    runIds.map((id) => [id, ns]),
  )
  return new Map(rows.map((row) => [row.id as number, placeOf(row)]))
}

/** A run as it stands in line before anything was counted. */
export function freshStanding(place: RunPlace, fence: number): Standing {
  const { runId, ns, queueId, needId, priority, enqueuedAt, key } = place
  return { runId, ns, queueId, needId, priority, enqueuedAt, key, fence, attempts: 0, releases: 0, deaths: 0 }
}

function placeOf(row: Row): RunPlace {
  return {
    runId: row.id as number,
    ns: row.ns as number,
    queueId: row.queue_id as number,
    needId: row.need_id as number,
    priority: row.priority as number,
    enqueuedAt: row.enqueued_at as number,
    scheduleId: row.schedule_id as number | null,
    key: row.concurrency_key as string | null,
    dedupeKey: row.dedupe_key as string | null,
    keyLimit: readPolicy(row.policy as string)?.maxConcurrentPerKey ?? null,
  }
}
