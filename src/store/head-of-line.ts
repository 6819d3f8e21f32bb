import { contentsOf, definitionColumns } from './lease-row.ts'
import { needServed } from './need-row.ts'
import { byPlace, type Standing, standingOf } from './standing.ts'
import { ahead, dialects, each, type Request, type Row, rowsOf, type Step } from './statement.ts'

/** The first runs of each lane, in queue order, with their definitions. Runs that somebody else is moving are passed by. */
const headOfLanes = dialects('lease head of lanes', {
  sqlite: `select r.*, ${definitionColumns} from belfry.ready r join belfry.run d on d.id = r.run_id
    where r.queue_id = $1 and r.need_id = $2 order by r.priority, r.enqueued_at, r.run_id limit $3`,
  // Without `offset 0` the planner may turn the probes for definitions into a walk over all of them.
  postgres: `select r.*, d.*
    from unnest($1::bigint[], $2::bigint[], $3::int[]) as lane (queue_id, need_id, most)
    cross join lateral (
      select * from belfry.ready where queue_id = lane.queue_id and need_id = lane.need_id
      order by priority, enqueued_at, run_id limit lane.most for update skip locked) r
    cross join lateral (select ${definitionColumns} from belfry.run d where d.id = r.run_id offset 0) d`,
})
/**
 * The same for a line that may be short, looked at while it is not yet known who may go: work that comes one by one is
 * there with one answer less to wait for. SQLite does not wait for answers.
 */
const headOfShortLine = dialects('lease head of short line', {
  sqlite: null,
  postgres: `select r.*, d.*
    from belfry.queue q join belfry.need n on n.ns = q.ns and ${needServed.postgres('$3', '$4')}
    cross join lateral (
      select * from belfry.ready where queue_id = q.id and need_id = n.id
      order by priority, enqueued_at, run_id limit $5 for update skip locked) r
    cross join lateral (select ${definitionColumns} from belfry.run d where d.id = r.run_id offset 0) d
    where q.ns = $1 and q.name = $2`,
})

const shortLineMax = 10

/** A run at the head of the line, with what it is to do. */
export interface Candidate {
  readonly row: Row
  readonly standing: Standing
  readonly contents: ReturnType<typeof contentsOf>
}

export function firstOfLanes(
  { queueId, needIds }: { readonly queueId: number; readonly needIds: readonly number[] },
  most: number,
): Step<Row[]> {
  return each(
    headOfLanes,
    needIds.map((needId) => [queueId, needId, most]),
  )
}

/** The first runs of all lanes together, in queue order. */
export function inOrder(rows: readonly Row[], most: number): Candidate[] {
  const standing = rows.map((row) => ({ row, standing: standingOf(row) }))
  const first = standing.sort((a, b) => byPlace(a.standing, b.standing)).slice(0, most)
  return first.map((run) => ({ row: run.row, standing: run.standing, contents: contentsOf(run.row) }))
}

/** Looks at the head of a queue's line for whoever can do these kinds and handlers; `wholeLine` tells what was seen. */
export function lookAhead(ns: number, queue: string, kinds: string, handlers: string): Step<Request> {
  return ahead(headOfShortLine, ns, queue, kinds, handlers, shortLineMax)
}

/** Of a line that was seen to its end the runs in it; `null` where there may be others. */
export function* wholeLine(look: Request): Step<readonly Row[] | null> {
  const rows = yield* rowsOf(look)
  return rows.length < shortLineMax ? rows : null
}
