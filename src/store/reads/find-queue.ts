import { BelfryError } from '../../core/error.ts'
import { forcedCalendar, toldCalendar } from '../../core/hold.ts'
import type { Capabilities } from '../../core/queue/plan-leases.ts'
import type { Policy } from '../../core/queue/policy.ts'
import { canBeName, checkInteger, invalid } from '../check.ts'
import { endless, isForced, laneIsOpen, queueHold } from '../holds/hold-row.ts'
import type { WorkAhead } from '../port.ts'
import { readPolicy } from '../queues/queue-row.ts'
import { capabilityLists, needServed } from '../runs/lane-row.ts'
import { all, allAlone, both, clockOr, dialects, one, type Row, type Step, storeClock } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import type { QueueView, VersionView } from '../views.ts'

const paused = `from belfry.hold h where h.ns = q.ns and h.scope = 'queue' and h.subject = q.name and h.reason = 'paused' limit 1`
const columns = `q.id, q.name, q.policy, q.policy_version, q.created_at, q.managed_by,
  (select h.from_at ${paused}) as paused_at, (select h.note ${paused}) as paused_reason,
  (select count(*) from belfry.lease l where l.queue_id = q.id) as in_flight`
const selectQueue = both(
  'read queue',
  `select ${columns} from belfry.queue q where q.ns = $1 and q.name = $2 and q.deleted_at is null`,
)
/** Probes each line, the runs whose wait is over, and the next instant of a waiting run. */
const ahead = (now: string, list: string, inLine: string) => `select c.now, cast(${list} filter (where ${inLine}
      or exists (select 1 from belfry.aside a where a.kind = 'waiting' and a.queue_id = q.id and a.at <= c.now)) as text) as queues,
    min((select min(a.at) from belfry.aside a where a.kind = 'waiting' and a.queue_id = q.id and a.at > c.now)) as next_at,
    (select min(h.until_at) from belfry.hold h where h.ns = $1 and h.until_at > c.now) as hold_ends_at
  from (select ${now} as now) c left join belfry.queue q on q.ns = $1
    and (${queueHold('c.now')} is null or ${isForced('c.now', forcedCalendar)} or ${isForced('c.now', toldCalendar)})
  group by c.now`
const listed = { sqlite: 'json_group_array(q.name)', postgres: 'json_agg(q.name)' }
const anyInLine = 'exists (select 1 from belfry.ready r where r.queue_id = q.id)'
const findAhead = dialects('read work ahead', {
  sqlite: ahead('$2', listed.sqlite, anyInLine),
  postgres: ahead(clockOr('$2'), listed.postgres, anyInLine),
})
/**
 * Walks from lane to lane of each line, whatever their lengths: a queue costs one probe more than it has lanes, however
 * many lanes the caller serves.
 */
export const walkLanes = `with recursive lane (queue_id, need_id) as (
    select q.id, (select min(r.need_id) from belfry.ready r where r.queue_id = q.id) from belfry.queue q where q.ns = $1
    union all
    select l.queue_id,
      (select min(r.need_id) from belfry.ready r where r.queue_id = l.queue_id and r.need_id > l.need_id)
    from lane l where l.need_id is not null)`
const servedInLine = (isServed: string) =>
  `q.id in (select l.queue_id from lane l join belfry.need n on n.id = l.need_id where ${isServed} and ${laneIsOpen('c.now')})`
const findAheadFor = dialects('read work ahead for', {
  sqlite: `${walkLanes} ${ahead('$2', listed.sqlite, servedInLine(needServed.sqlite('$3', '$4')))}`,
  postgres: `${walkLanes} ${ahead(clockOr('$2'), listed.postgres, servedInLine(needServed.postgres('$3', '$4')))}`,
})
const findVersions = both(
  'read queue versions',
  `select v.version, v.policy, v.at, v.actor, v.door from belfry.queue q join belfry.queue_version v on v.queue_id = q.id
    where q.ns = $1 and q.name = $2 and q.deleted_at is null order by v.version desc limit $3`,
)
const findQueues = both(
  'read queues',
  `select ${columns} from belfry.queue q where q.ns = $1 and q.name > $2 and q.deleted_at is null order by q.name limit $3`,
)

const versionsMax = 1_000
const pageMax = 1_000

export function* findQueue(context: StoreContext, name: string): Step<QueueView | null> {
  if (!canBeName(name)) return null
  const row = yield* one(selectQueue, context.ns, name)
  return row === undefined ? null : viewOf(row)
}

/** The queues after a name, by name; without a page, all of them. */
export function* listQueues(context: StoreContext, page?: { after?: string; limit: number }): Step<QueueView[]> {
  const { after, limit } = page ?? { limit: 2 ** 31 - 1 }
  checkInteger(limit, 'limit', 1, page === undefined ? limit : pageMax)
  if (after !== undefined && !canBeName(after)) {
    throw invalid('after', `is ${JSON.stringify(after)}`, 'the name of a queue')
  }
  return (yield* all(findQueues, context.ns, after ?? '', limit)).map(viewOf)
}

/**
 * The queues, by name, where a worker may find a run now, and when it may find the next. Whether the worker can execute a run
 * whose wait is over is not checked: the first lease from its queue puts the run in line.
 */
export function* workAhead(context: StoreContext, can?: Capabilities): Step<WorkAhead> {
  const [row] = yield* can === undefined ? allAlone(findAhead, context.ns, storeClock) : aheadFor(context, can)
  const { now, queues, next_at: nextAt, hold_ends_at: holdEndsAt } = row as Row
  const named = JSON.parse((queues ?? '[]') as string) as string[]
  const ends = (holdEndsAt ?? endless) as number
  return {
    now: now as number,
    queues: named.sort(),
    nextAt: nextAt as number | null,
    ...(ends < endless && { holdEndsAt: ends }),
  }
}

function aheadFor({ ns }: StoreContext, can: Capabilities): Step<Row[]> {
  const { kinds, lanes } = capabilityLists(can)
  return allAlone(findAheadFor, ns, storeClock, kinds, lanes)
}

function viewOf(row: Row): QueueView {
  return {
    name: row.name as string,
    policy: readPolicy(row.policy as string),
    policyVersion: row.policy_version as number,
    paused:
      row.paused_at === null
        ? null
        : { at: row.paused_at as number, reason: (row.paused_reason ?? 'paused') as string },
    inFlight: row.in_flight as number,
    createdAt: row.created_at as number,
    ...(row.managed_by !== null && { managedBy: row.managed_by as string }),
  }
}

/** Every policy of a queue, newest first. */
export function* queueVersions(context: StoreContext, name: string): Step<VersionView<Policy | null>[]> {
  if (!canBeName(name)) return []
  return (yield* all(findVersions, context.ns, name, versionsMax)).map((row) => ({
    version: row.version as number,
    content: readPolicy(row.policy as string),
    at: row.at as number,
    actor: row.actor as string,
    door: row.door as string | null,
    reason: null,
  }))
}

export function unknownQueue(name: string): BelfryError {
  return new BelfryError('not-found', `There is no queue ${JSON.stringify(name)}.`, {
    hint: 'A queue exists from the first run or setting that names it.',
  })
}
