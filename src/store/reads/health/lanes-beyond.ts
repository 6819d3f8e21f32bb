import type { Capabilities } from '../../../core/queue/plan-leases.ts'
import { hostKind } from '../../../core/queue/plan-leases.ts'
import { checkInteger } from '../../check.ts'
import type { LaneBeyond } from '../../health-views.ts'
import { holdOn, laneIsOpen, queueHold } from '../../holds/hold-row.ts'
import { capabilityLists, needServed } from '../../runs/lane-row.ts'
import { all, clockOr, dialects, type Step, storeClock } from '../../statement.ts'
import type { StoreContext } from '../../store-context.ts'
import { walkLanes } from '../find-queue.ts'

/** A lane may have a million runs, and an exact count is not needed. */
const countMax = 1_000

/** Work that a hold keeps from starting waits for the end of the hold, not for a worker. */
const isOpen = `${queueHold('c.now')} is null and ${laneIsOpen('c.now')}`
const beyond = (isServed: string, now: string) => `${walkLanes}
  select u.queue, u.kind, u.name, (select count(*) from (select 1 as one from belfry.ready r
      where r.queue_id = u.queue_id and r.need_id = u.need_id limit ${countMax + 1}) c) as count
  from (select q.name as queue, l.queue_id, l.need_id, n.kind, n.name from (select ${now} as now) c cross join lane l
      join belfry.need n on n.id = l.need_id join belfry.queue q on q.id = l.queue_id
      where not ${isServed} and ${isOpen} order by q.name, n.kind, n.name limit $4) u
  order by u.queue, u.kind, u.name`
const findBeyond = dialects('health lanes beyond', {
  sqlite: beyond(needServed.sqlite('$2', '$3'), '$5'),
  postgres: beyond(needServed.postgres('$2', '$3'), clockOr('$5')),
})

/** How many waiting runs are read at most; an exact count is not needed. */
const dueMax = 5_000
const dueColumns = 'queue_id, need_id, concurrency_key'
const isDue = (now: string) => `kind = 'waiting' and at <= ${now}`
const dueRows = {
  sqlite: `(select ${dueColumns} from belfry.aside where ${isDue('$4')}
    and queue_id in (select id from belfry.queue where ns = $1) limit ${dueMax})`,
  postgres: `(select a.queue_id, a.need_id, a.concurrency_key from belfry.queue o cross join lateral (select ${dueColumns} from belfry.aside
    where queue_id = o.id and ${isDue(`(select ${clockOr('$4')})`)} limit ${dueMax}) a where o.ns = $1 limit ${dueMax})`,
}
const dueBeyond = (
  rows: string,
  isServed: string,
  now: string,
) => `select q.name as queue, n.kind, n.name, count(*) as count
  from (select ${now} as now) c cross join ${rows} d join belfry.need n on n.id = d.need_id join belfry.queue q on q.id = d.queue_id
  where not ${isServed} and ${isOpen} and ${holdOn('key', 'd.concurrency_key', { now: 'c.now' })} is null group by q.name, n.kind, n.name`
/**
 * A waiting run, as after a failure, is ready from its instant on: the next lease puts it in line. Where no worker can execute it
 * no lease does so, and it stays aside.
 */
const findDueBeyond = dialects('health due beyond', {
  sqlite: dueBeyond(dueRows.sqlite, needServed.sqlite('$2', '$3'), '$4'),
  postgres: dueBeyond(dueRows.postgres, needServed.postgres('$2', '$3'), clockOr('$4')),
})

const limitMax = 1_000

/** The lanes with ready runs that no worker of these capabilities can execute, by queue and need. Held lanes are left out. */
export function* lanesBeyond({ ns }: StoreContext, can: Capabilities, limit: number): Step<LaneBeyond[]> {
  checkInteger(limit, 'limit', 1, limitMax)
  const { kinds, lanes: named } = capabilityLists(can)
  const inLine = yield* all(findBeyond, ns, kinds, named, limit, storeClock)
  const due = yield* all(findDueBeyond, ns, kinds, named, storeClock)
  const lanes = new Map<string, LaneBeyond>()
  for (const row of [...inLine, ...due]) {
    const lane = JSON.stringify([row.queue, row.kind, row.name])
    const { count = 0, countIsAtLeast = false } = lanes.get(lane) ?? {}
    const sum = count + (row.count as number)
    lanes.set(lane, {
      queue: row.queue as string,
      kind: row.kind === hostKind ? null : (row.kind as string),
      name: row.name === '' ? null : (row.name as string),
      count: Math.min(sum, countMax),
      countIsAtLeast: countIsAtLeast || sum > countMax,
    })
  }
  const names = [...lanes.keys()].sort((a, b) => (a < b ? -1 : 1))
  return names.slice(0, limit).map((name) => lanes.get(name) as LaneBeyond)
}
