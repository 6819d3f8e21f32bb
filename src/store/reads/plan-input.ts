import { BelfryError } from '../../core/error.ts'
import { formatId } from '../../core/id.ts'
import { hostKind, inQueueOrder, type PlannedRun, type TargetNeed } from '../../core/queue/plan-leases.ts'
import type { RateLimit } from '../../core/queue/policy.ts'
import type { RunStatus } from '../../core/run/run-state.ts'
import { canBeName, checkInteger } from '../check.ts'
import { holdsOver } from '../holds/list-holds.ts'
import { readPolicy } from '../queues/queue-row.ts'
import type { AsideKind } from '../runs/ready-aside.ts'
import { all, both, clockNow, each, one, type Row, type Statement, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import type { PlanWindow } from '../views.ts'
import { unknownQueue } from './find-queue.ts'
import { runTextOf } from './find-run.ts'
import { headOfLanes, laneStart } from './run-sources.ts'

const findQueue = both('plan find queue', 'select q.id, q.policy from belfry.queue q where q.ns = $1 and q.name = $2')
const findNeeds = both('plan find needs', 'select id, kind, name, account, calendar from belfry.need where ns = $1')
const definition =
  'd.schedule_id, d.need_id, d.priority, d.enqueued_at, d.deadline, d.late_after, d.waits_for, d.concurrency_key'
const findLeased = both(
  'plan find leased',
  ({ join }) => `select l.run_id, l.fence, l.attempts, l.expires_at, l.cancel_requested_at, ${definition}
    from belfry.lease l ${join.inner('run d', 'd.id = l.run_id')} where l.queue_id = $1`,
)
/** One statement per kind, because each kind has its own index. */
const findWaiting = asides('plan find waiting', `kind = 'waiting' and queue_id = $1`, 'at, run_id')
const findGated = asides(
  'plan find gated',
  `kind = 'key' and queue_id = $1`,
  'concurrency_key, need_id, priority, enqueued_at, run_id',
)
const findParked = asides('plan find parked', `kind = 'parked' and queue_id = $1`, 'at, run_id')
/** Only runs of schedules are held or overlap, so they are found through the live runs of the schedules. */
const findKept = both(
  'plan find kept',
  ({ join }) => `select a.run_id, a.kind, a.at, a.reason, a.fence, a.attempts, ${definition} from belfry.schedule_run s
    ${join.inner('aside a', 'a.run_id = s.run_id')} ${join.inner('run d', 'd.id = a.run_id')}
    where a.queue_id = $1 and a.kind in ('held', 'overlap') order by s.schedule_id, s.run_id limit $2`,
)
const findStarts = both(
  'plan find starts',
  'select at, starts from belfry.start where queue_id = $1 and at > $2 order by at desc limit $3',
)

function asides(name: string, where: string, order: string): Statement {
  return both(
    name,
    ({ join }) => `select a.run_id, a.kind, a.at, a.reason, a.fence, a.attempts, ${definition}
      from (select run_id, kind, at, reason, fence, attempts from belfry.aside where ${where} order by ${order} limit $2) a
      ${join.inner('run d', 'd.id = a.run_id')}`,
  )
}

const limitMax = 100_000

/**
 * A queue as input of `planLeases`. The window contains all runs in flight and the first `limit` runs of each other kind: those
 * in line in queue order, waiting ones by their instants. A run beyond the window can start only after one inside it.
 */
export function* planInput(context: StoreContext, queue: string, limit: number): Step<PlanWindow> {
  checkInteger(limit, 'limit', 1, limitMax)
  const found = canBeName(queue) ? yield* one(findQueue, context.ns, queue) : undefined
  if (found === undefined) throw unknownQueue(queue)
  const policy = readPolicy(found.policy as string)
  if (policy === null) throw unreadablePolicy(queue)
  const now = yield* clockNow()
  const queueId = found.id as number
  const needs = yield* needsOf(context)
  const rows = [
    ...(yield* all(findLeased, queueId)),
    ...(yield* inLine(queueId, [...needs.keys()], limit)),
    ...(yield* all(findWaiting, queueId, limit)),
    ...(yield* all(findGated, queueId, limit)),
    ...(yield* all(findKept, queueId, limit)),
    ...(yield* all(findParked, queueId, limit)),
  ]
  const { holds, schedules } = yield* holdsOver(context, now, { queue, rows })
  return {
    now,
    policy,
    queue,
    holds,
    runs: rows.map((row) => plannedRunOf(row, needs, schedules)),
    recentStarts: yield* recentStarts(queueId, policy.rateLimit, now),
  }
}

function* needsOf(context: StoreContext): Step<Map<number, TargetNeed | null>> {
  const rows = yield* all<{ id: number } & Required<Lane>>(findNeeds, context.ns)
  return new Map(rows.map(({ id, ...lane }) => [id, needOf(lane)]))
}

type Lane = { readonly [Column in keyof TargetNeed]: string }

function needOf({ kind, ...rest }: Lane): TargetNeed | null {
  const more = Object.fromEntries(Object.entries(rest).filter(([, text]) => text !== ''))
  return kind === hostKind && Object.keys(more).length === 0 ? null : { kind, ...more }
}

function* inLine(queueId: number, needIds: readonly number[], limit: number): Step<Row[]> {
  const rows = yield* each(
    headOfLanes,
    needIds.map((needId) => [queueId, needId, ...laneStart, limit]),
  )
  return rows.sort((a, b) => inQueueOrder(placeOf(a), placeOf(b))).slice(0, limit)
}

function placeOf(row: Row) {
  const id = formatId('run', row.run_id as number)
  return { priority: row.priority as number, enqueuedAt: row.enqueued_at as number, id }
}

function plannedRunOf(
  row: Row,
  needs: ReadonlyMap<number, TargetNeed | null>,
  schedules: ReadonlyMap<number, string>,
): PlannedRun {
  return {
    ...placeOf(row),
    status: statusOf(row),
    attempts: row.attempts as number,
    ...instantsOf(row),
    deadline: deadlineOf(row),
    concurrencyKey: row.concurrency_key as string | null,
    leaseExpiresAt: (row.expires_at ?? null) as number | null,
    cancelRequestedAt: (row.cancel_requested_at ?? null) as number | null,
    blockedBy: row.kind === 'overlap' ? (runTextOf(row.waits_for) ?? 'a live run of its schedule') : null,
    schedule: schedules.get(row.schedule_id as number) ?? null,
    target: needs.get(row.need_id as number) ?? null,
  }
}

function statusOf(row: Row): RunStatus {
  if (row.expires_at !== undefined) return 'leased'
  const kind = row.kind as AsideKind | undefined
  return kind === 'held' || kind === 'parked' ? kind : 'ready'
}

function instantsOf(row: Row): Pick<PlannedRun, 'nextEligibleAt' | 'notBefore'> {
  if (row.kind === undefined || row.kind === 'key' || row.kind === 'parked' || row.reason === null) return {}
  return row.reason === 'backoff' ? { nextEligibleAt: row.at as number } : { notBefore: row.at as number }
}

/** The run must not start from this instant on: its deadline, or the lateness limit until its first lease. */
function deadlineOf(row: Row): number | null {
  const deadlines = [row.deadline as number | null]
  if (row.late_after !== null && row.fence === 0) deadlines.push((row.late_after as number) + 1)
  const known = deadlines.filter((deadline) => deadline !== null)
  return known.length === 0 ? null : Math.min(...known)
}

function* recentStarts(queueId: number, rateLimit: RateLimit | undefined, now: number): Step<number[]> {
  if (rateLimit === undefined) return []
  const { startsMax, perMs } = rateLimit
  const rows = yield* all<{ at: number; starts: number }>(findStarts, queueId, now - perMs, startsMax)
  return rows.flatMap(({ at, starts }) => Array.from({ length: starts }, () => at)).slice(0, startsMax)
}

function unreadablePolicy(queue: string): BelfryError {
  return new BelfryError(
    'failure',
    `The stored policy of queue ${queue} cannot be read, so nothing is leased from it.`,
    {
      hint: 'Set the policy of the queue again.',
    },
  )
}
