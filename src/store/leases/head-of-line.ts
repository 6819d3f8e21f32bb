import { byPlace, type ReadyRow, readyRowOf } from '../runs/ready-aside.ts'
import { dialects, each, type Row, type Step } from '../statement.ts'
import { columnsOf } from '../tables.ts'
import { contentsOf, definitionColumns } from './lease-row.ts'

/** The first runs of each lane, in queue order, with their definitions. Runs locked by another transaction are skipped. */
const headOfLanes = dialects('lease head of lanes', {
  sqlite: `select ${columnsOf('ready', 'r')}, ${definitionColumns} from belfry.ready r join belfry.run d on d.id = r.run_id
    where r.queue_id = $1 and r.need_id = $2 order by r.priority, r.enqueued_at, r.run_id limit $3`,
  // Without `offset 0` the planner may replace the probes for definitions by a scan over all
  // definitions.
  postgres: `select ${columnsOf('ready', 'r')}, ${definitionColumns}
    from unnest($1::bigint[], $2::bigint[], $3::int[]) as lane (queue_id, need_id, most)
    cross join lateral (
      select ${columnsOf('ready')} from belfry.ready where queue_id = lane.queue_id and need_id = lane.need_id
      order by priority, enqueued_at, run_id limit lane.most for update skip locked) r
    cross join lateral (select ${definitionColumns} from belfry.run d where d.id = r.run_id offset 0) d`,
})

/** A run at the head of the line, with its work. */
export interface Candidate {
  readonly row: Row
  readonly standing: ReadyRow
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
  const standing = rows.map((row) => ({ row, standing: readyRowOf(row) }))
  const first = standing.sort((a, b) => byPlace(a.standing, b.standing)).slice(0, most)
  return first.map((run) => ({ row: run.row, standing: run.standing, contents: contentsOf(run.row) }))
}
