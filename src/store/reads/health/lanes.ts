import type { Capabilities } from '../../../core/plan.ts'
import { checkInteger } from '../../check.ts'
import type { StoreContext } from '../../context.ts'
import type { LaneBeyond } from '../../health.ts'
import { capabilityLists, hostKind, needServed } from '../../need-row.ts'
import { all, dialects, type Step } from '../../statement.ts'
import { walkLanes } from '../queue.ts'

/** A lane may have a million runs, and whoever looks need not know whether it is one more. */
const countMax = 1_000

const beyond = (isServed: string) => `${walkLanes}
  select u.queue, u.kind, u.name, (select count(*) from (select 1 as one from belfry.ready r
      where r.queue_id = u.queue_id and r.need_id = u.need_id limit ${countMax + 1}) c) as count
  from (select q.name as queue, l.queue_id, l.need_id, n.kind, n.name from lane l
      join belfry.need n on n.id = l.need_id join belfry.queue q on q.id = l.queue_id
      where not ${isServed} order by q.name, n.kind, n.name limit $4) u
  order by u.queue, u.kind, u.name`
const findBeyond = dialects('health lanes beyond', {
  sqlite: beyond(needServed.sqlite('$2', '$3')),
  postgres: beyond(needServed.postgres('$2', '$3')),
})

const limitMax = 1_000

/** Where runs are in line that nobody with these capabilities can execute, by queue and what they need. */
export function* lanesBeyond({ ns }: StoreContext, can: Capabilities, limit: number): Step<LaneBeyond[]> {
  checkInteger(limit, 'limit', 1, limitMax)
  const { kinds, handlers } = capabilityLists(can)
  return (yield* all(findBeyond, ns, kinds, handlers, limit)).map((row) => ({
    queue: row.queue as string,
    kind: row.kind === hostKind ? null : (row.kind as string),
    handler: row.kind === 'handler' ? (row.name as string) : null,
    count: Math.min(row.count as number, countMax),
    countIsAtLeast: (row.count as number) > countMax,
  }))
}
