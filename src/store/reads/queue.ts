import { BelfryError } from '../../core/error.ts'
import { canBeName } from '../check.ts'
import type { StoreContext } from '../context.ts'
import type { WorkAhead } from '../port.ts'
import { readPolicy } from '../queue-row.ts'
import { all, both, clockOr, dialects, one, type Row, type Step, storeClock } from '../statement.ts'
import type { QueueView } from '../view.ts'

const columns = `q.id, q.name, q.policy, q.policy_version, q.paused_at, q.paused_reason, q.created_at,
  (select count(*) from belfry.lease l where l.queue_id = q.id) as in_flight`
const findQueue = both('read queue', `select ${columns} from belfry.queue q where q.ns = $1 and q.name = $2`)
/** One look at each line, at what has waited long enough, and at the first instant that is still waited for. */
const ahead = (now: string) => `select c.now, q.name,
    exists (select 1 from belfry.ready r where r.queue_id = q.id)
      or exists (select 1 from belfry.aside a where a.kind = 'waiting' and a.queue_id = q.id and a.at <= c.now) as has_work,
    (select min(a.at) from belfry.aside a where a.kind = 'waiting' and a.queue_id = q.id and a.at > c.now) as next_at
  from (select ${now} as now) c join belfry.namespace n on n.id = $1
    left join belfry.queue q on q.ns = n.id and q.paused_at is null and n.stopped_at is null
  order by q.name`
const findAhead = dialects('read work ahead', { sqlite: ahead('$2'), postgres: ahead(clockOr('$2')) })
const findQueues = both('read queues', `select ${columns} from belfry.queue q where q.ns = $1 order by q.name`)

export function* queue(context: StoreContext, name: string): Step<QueueView | null> {
  if (!canBeName(name)) return null
  const row = yield* one(findQueue, context.ns, name)
  return row === undefined ? null : viewOf(row)
}

/** All queues, by name. */
export function* queues(context: StoreContext): Step<QueueView[]> {
  return (yield* all(findQueues, context.ns)).map(viewOf)
}

/** Where a worker may find something now, by name, and when it may next. */
export function* workAhead(context: StoreContext): Step<WorkAhead> {
  const rows = yield* all(findAhead, context.ns, storeClock)
  const queues = rows.flatMap(({ name, has_work }) => (has_work ? [name as string] : []))
  const instants = rows.flatMap(({ next_at }) => (next_at === null ? [] : [next_at as number]))
  return { now: rows[0]?.now as number, queues, nextAt: instants.length === 0 ? null : Math.min(...instants) }
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
  }
}

export function unknownQueue(name: string): BelfryError {
  return new BelfryError('not-found', `There is no queue ${JSON.stringify(name)}.`, {
    hint: 'A queue exists from the first run or setting that names it.',
  })
}
