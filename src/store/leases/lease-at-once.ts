import { isFull, slotsFree } from '../../core/queue/ceiling.ts'
import type { Policy } from '../../core/queue/policy.ts'
import { anyBegins, holdOn, laneIsOpenAtOnce, queueHold } from '../holds/hold-row.ts'
import type { Lease, LeaseAnswer, LeaseRequest } from '../port.ts'
import { readPolicy } from '../queues/queue-row.ts'
import { type CapabilityLists, servedNeeds } from '../runs/lane-row.ts'
import { allLast, clockOr, dialects, type Step, storeClock } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { columnsOf } from '../tables.ts'
import { contentsOf, definitionColumns, leaseOf, reservesOf } from './lease-row.ts'
import type { Unread } from './lease-unfit.ts'

/**
 * The common case of `lease` as one statement: no run waits for an instant that has passed, no run at the head of the line is too
 * late, held by its key or out of key slots, and the queue has no rate limit. It returns at least one row where the queue has
 * this policy and is open, and no row otherwise; `is_fit` is 0 where it moved no run because one of them cannot go.
 *
 * It counts runs in flight, so it must follow the statement that locks the queue's row. This statement is sent before that lock
 * is confirmed, in the same transaction; `belfry_step.locked_queue` names the queue if it was locked. The commit is sent with it,
 * so that a worker that stops before the answer arrives keeps no lock. Rows in line are inserted and deleted, never updated (see
 * `reprioritise-run.ts`), so that all locked rows can be deleted. A transaction that leased nothing and wrote nothing else need
 * not wait for the disk. The inner `offset 0` has PostgreSQL count the runs in flight once, and not for each mention of the count.
 */
const leaseHead = dialects('lease at once', {
  sqlite: null,
  postgres: `with line as materialized (
      select id, ns, now, reserves, in_flight, greatest(0, least($6::int, $7::int - in_flight)) as room
      from (select q.id, q.ns, c.now, ${reservesOf('q.ns')} as reserves, (select count(*) from belfry.lease l where l.queue_id = q.id) as in_flight
        from belfry.queue q cross join (select ${clockOr('$8')} as now) c
        where q.ns = $1 and q.name = $2 and q.policy = $5 and ${queueHold('c.now')} is null and ${anyBegins({ now: 'c.now' })} is null
          and current_setting('belfry_step.locked_queue', true) = q.id::text
          and coalesce(c.now < (select min(a.at) from belfry.aside a where a.kind = 'waiting' and a.queue_id = q.id), true)
        offset 0) q),
    head as materialized (
      select r.place, ${columnsOf('ready', 'r')}, ${definitionColumns} from (
        select r.place, ${columnsOf('ready', 'r')} from line join ${servedNeeds.postgres('$3', '$4', '$1')} on ${laneIsOpenAtOnce('line.now')}
        cross join lateral (
          select ctid as place, ${columnsOf('ready')} from belfry.ready where queue_id = line.id and need_id = n.id
          order by priority, enqueued_at, run_id limit line.room for update skip locked) r
        order by r.priority, r.enqueued_at, r.run_id limit (select room from line)) r
      cross join lateral (select ${definitionColumns} from belfry.run d where d.id = r.run_id offset 0) d),
    judged as materialized (
      select not exists (select from head
        where deadline <= (select now from line) or late_after < (select now from line) and fence = 0
          or concurrency_key is not null and ${holdOn('key', 'head.concurrency_key', { now: '(select now from line)' })} is not null)
      and ($13::int is null or not exists (select from head where concurrency_key is not null group by concurrency_key
        having count(*) + (select count(*) from belfry.lease l
          where l.queue_id = (select id from line) and l.concurrency_key = head.concurrency_key) > $13::int)) as is_fit),
    gone as (delete from belfry.ready where ctid = any (array(select place from head where (select is_fit from judged)))),
    granted as (
      insert into belfry.lease (run_id, ns, queue_id, schedule_id, concurrency_key, dedupe_key, worker_id, claim_id,
        leased_at, expires_at, fence, attempts, releases, deaths)
      select run_id, ns, queue_id, schedule_id, concurrency_key, dedupe_key, $9::bigint, $10::text,
        (select now from line), (select now + $11::bigint from line), fence + 1, attempts, releases, deaths
      from head where (select is_fit from judged))
    select line.now, line.in_flight, line.reserves, case when is_fit then 1 else 0 end as is_fit, run_id, fence, attempts, enqueued_at,
      schedule_id, occurrence_at, due_at, source, idempotency_key, repeatable, target, payload, options,
      case when run_id is null and not $12::boolean then set_config('synchronous_commit', 'off', true) end
    from line cross join judged left join head on is_fit`,
})

/** Remembers a policy as it was read, if its ceilings are its only limits. */
export function rememberPolicy({ policies }: StoreContext, queue: string, text: string, policy: Policy): void {
  if (policy.rateLimit !== undefined) policies?.delete(queue)
  else policies?.set(queue, text)
}

export function remembersPolicy({ policies }: StoreContext, queue: string): boolean {
  return policies?.has(queue) === true
}

export interface CheckedRequest extends LeaseRequest {
  readonly workerNumber: number
  /** What the caller can execute, as `capabilityLists` formats it. */
  readonly lists: CapabilityLists
}

/** The leases, and apart from them the leased runs that turned out to be unreadable: a separate step parks these. */
export interface Leased extends LeaseAnswer {
  readonly unread?: readonly Unread[]
}

/**
 * The leases of a queue in the common case, or `null` where nothing was leased because the queue needs the general way. In
 * both cases the transaction is over and the queue is unlocked. `isJoined` says that the transaction has other writes to
 * commit.
 */
export function* leaseAtOnce(
  context: StoreContext,
  request: CheckedRequest,
  { isJoined }: { readonly isJoined: boolean },
): Step<Leased | null> {
  const { queue, claimId, limit, lists, workerNumber } = request
  const text = context.policies?.get(queue)
  const policy = text === undefined ? null : readPolicy(text)
  if (text === undefined || policy === null) return null
  const { maxConcurrent, maxConcurrentPerKey = null, leaseTtlMs } = policy
  const leaseMs = request.leaseMs ?? leaseTtlMs
  const asked = [context.ns, queue, lists.kinds, lists.lanes, text, limit, maxConcurrent, storeClock] as const
  const rows = yield* allLast(
    leaseHead,
    ...asked,
    workerNumber,
    claimId,
    leaseMs,
    String(isJoined),
    maxConcurrentPerKey,
  )
  const [first] = rows
  if (first === undefined || first.is_fit === 0) return null
  const [now, inFlight] = [first.now as number, first.in_flight as number]
  const reserves = first.reserves as number
  const granted = { queue, claimId, leasedAt: now, expiresAt: now + leaseMs, reserves }
  const leases: Lease[] = []
  const unread: Unread[] = []
  for (const row of first.run_id === null ? [] : rows) {
    const contents = contentsOf(row)
    if ('unreadable' in contents) unread.push({ row, unreadable: contents.unreadable })
    else leases.push(leaseOf(row, { fence: (row.fence as number) + 1, ...granted }, contents))
  }
  const available = slotsFree(policy, inFlight, limit)
  const full = isFull(policy, inFlight + leases.length + unread.length)
  const keyed = maxConcurrentPerKey !== null
  const answer = { leases, skipped: [], broken: [], inFlight, available, full, keyed, more: false }
  return unread.length === 0 ? answer : { ...answer, unread }
}
