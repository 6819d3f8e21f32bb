import { formatId } from '../../../core/id.ts'
import { checkInteger } from '../../check.ts'
import type { ParkedRuns } from '../../health-views.ts'
import { all, both, dialects, each, type Row, type Step } from '../../statement.ts'
import type { StoreContext } from '../../store-context.ts'

const findQueues = both('health parked queues', 'select id, name from belfry.queue where ns = $1 order by name')
/** Each queue has its own limit, or one flooded queue would hide all others. */
const findParked = dialects('health parked', {
  sqlite: `select run_id, queue_id, at, reason from belfry.aside where kind = 'parked' and queue_id = $1
    order by at, run_id limit $2`,
  postgres: `select a.run_id, i.queue_id, a.at, a.reason from unnest($1::bigint[], $2::int[]) as i (queue_id, most)
    cross join lateral (select run_id, at, reason from belfry.aside where kind = 'parked' and queue_id = i.queue_id
      order by at, run_id limit i.most) a`,
})

const limitMax = 1_000

/** Counts the longest parked runs of each queue, at most `limit` of each. */
export function* parkedRuns(context: StoreContext, limit: number): Step<ParkedRuns[]> {
  checkInteger(limit, 'limit', 1, limitMax)
  const queues = yield* all<{ id: number; name: string }>(findQueues, context.ns)
  const rows = yield* each(
    findParked,
    queues.map(({ id }) => [id, limit + 1]),
  )
  return queues.flatMap(({ id, name }) => {
    const ofQueue = rows.filter((row) => row.queue_id === id).sort(oldestFirst)
    return byReason(name, ofQueue.slice(0, limit), ofQueue.length > limit)
  })
}

function byReason(queue: string, rows: readonly Row[], countIsAtLeast: boolean): ParkedRuns[] {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const reason = (row.reason ?? 'unknown') as string
    groups.set(reason, [...(groups.get(reason) ?? []), row])
  }
  return [...groups].map(([reason, [first, ...others]]) => {
    const { run_id: id, at } = first as Row
    const oldest = { runId: formatId('run', id as number), at: at as number }
    return { queue, reason, count: others.length + 1, countIsAtLeast, oldest }
  })
}

function oldestFirst(a: Row, b: Row): number {
  return (a.at as number) - (b.at as number) || (a.run_id as number) - (b.run_id as number)
}
