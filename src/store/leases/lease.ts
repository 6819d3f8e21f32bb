import { durationMsMax } from '../../core/duration.ts'
import { forcedCalendar, toldCalendar } from '../../core/hold.ts'
import { formatId, parseId } from '../../core/id.ts'
import { isFull, slotsFree } from '../../core/queue/ceiling.ts'
import type { Policy } from '../../core/queue/policy.ts'
import { canBeName, checkInteger, checkText, invalid, keyLengthMax } from '../check.ts'
import { type HeldHead, heldAmong, nothingHeld } from '../holds/held-head.ts'
import { anyBegins, isForced, laneIsOpen, queueHold } from '../holds/hold-row.ts'
import type { Lease, LeaseAnswer, LeaseRequest } from '../port.ts'
import { readPolicy } from '../queues/queue-row.ts'
import { admit } from '../runs/admit.ts'
import { tryRegate } from '../runs/key-gate.ts'
import { capabilityLists, needServed, servedNeeds } from '../runs/lane-row.ts'
import { stretches, takeFromAside } from '../runs/ready-aside.ts'
import {
  ahead,
  all,
  both,
  clockOr,
  dialects,
  inList,
  one,
  type Request,
  type Row,
  rowsOf,
  run,
  type Statement,
  type Step,
  storeClock,
} from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { columnsOf } from '../tables.ts'
import { type Candidate, firstOfLanes, inOrder } from './head-of-line.ts'
import { type CheckedRequest, type Leased, leaseAtOnce, rememberPolicy, remembersPolicy } from './lease-at-once.ts'
import { type Contents, contentsOf, definitionColumns, type Granted, leaseOf, reservesOf } from './lease-row.ts'
import { endUnfit, tooLateReason, whyUnfit } from './lease-unfit.ts'

/**
 * The lock on the queue's row protects the ceiling. The runs in flight are counted by the *next* statement: a statement that
 * waited for the lock would count with a snapshot from before the wait, and exceed the ceiling. The next statement can check
 * whether the row was locked in its own transaction.
 */
export function queueLock(name: string, others: '' | 'skip locked'): Statement {
  const found = 'from belfry.queue where ns = $1 and name = $2'
  return dialects(name, {
    sqlite: `select 1 ${found}`,
    postgres: `select set_config('belfry_step.locked_queue', id::text, true) from (
      select id ${found} for no key update ${others}) q`,
  })
}

const lockQueue = queueLock('lease lock queue', '')
const surveyed = (texts: { now: string; lanes: string; needs: string }) => `select q.id, q.policy, c.now,
    ${reservesOf('q.ns')} as reserves, ${queueHold('c.now')} as held_by, ${anyBegins({ now: 'c.now' })} as begins,
    (select 1 from belfry.hold h where h.ns = $1 and h.scope = 'key' limit 1) as holds_keys,
    (select ${texts.lanes} from ${texts.needs} where ${laneIsOpen('c.now')}) as lanes,
    (select count(*) from belfry.lease l where l.queue_id = q.id) as in_flight,
    (select min(a.at) from belfry.aside a where a.kind = 'waiting' and a.queue_id = q.id) as waiting_at
  from (select ${texts.now} as now) c cross join belfry.queue q where q.ns = $1 and q.name = $2`
const survey = dialects('lease survey', {
  sqlite: surveyed({
    now: '$5',
    lanes: 'json_group_array(n.id)',
    needs: servedNeeds.sqlite('$3', '$4', '$1'),
  }),
  postgres: surveyed({
    now: clockOr('$5'),
    lanes: `coalesce(json_agg(n.id), '[]')::text`,
    needs: servedNeeds.postgres('$3', '$4', '$1'),
  }),
})
/** Read only for a held queue: the lanes of forced runs and of notifications of a stop, if no other hold stops the queue. */
const forcedLanes = (isServed: string) => `select n.id from belfry.queue q join belfry.need n on n.ns = q.ns
  where q.id = $1 and ${isServed} and ${laneIsOpen('$2')}
    and (n.calendar = '${forcedCalendar}' and ${isForced('$2', forcedCalendar)}
      or n.calendar = '${toldCalendar}' and ${isForced('$2', toldCalendar)})`
const findForced = dialects('lease find forced', {
  sqlite: forcedLanes(needServed.sqlite('$3', '$4')),
  postgres: forcedLanes(needServed.postgres('$3', '$4')),
})
const findWaiting = dialects('lease find waiting', {
  sqlite: `select run_id from belfry.aside where kind = 'waiting' and queue_id = $1 and at <= $2
    order by at, run_id limit $3`,
  postgres: `select run_id from belfry.aside where kind = 'waiting' and queue_id = $1 and at <= $2
    order by at, run_id limit $3 for update skip locked`,
})
const keysInFlight = both(
  'lease keys in flight',
  `select concurrency_key as key, count(*) as in_flight from belfry.lease
    where queue_id = $1 and concurrency_key is not null group by concurrency_key`,
)
const laneStretch = `queue_id = $1 and need_id = $2 and (priority, enqueued_at, run_id) >= ($3, $4, $5)
  and (priority, enqueued_at, run_id) <= ($6, $7, $8)`
const chosenOfLane = `${laneStretch} and run_id`
const leaseChosen = `insert into belfry.lease (run_id, ns, queue_id, schedule_id, concurrency_key, dedupe_key, worker_id,
    claim_id, leased_at, expires_at, fence, attempts, releases, deaths)`
/** Leases the runs and removes them from the line. They were locked when they were read, so all of them are still there. */
const moveToLease = dialects('lease move', {
  // SQLite executes a cross join in the given order: first the line, then each definition.
  sqlite: `${leaseChosen}
    select run_id, r.ns, r.queue_id, d.schedule_id, r.concurrency_key, d.dedupe_key, $10, $11, $12, $13, fence + 1,
      attempts, releases, deaths
    from (select ${columnsOf('ready')} from belfry.ready where ${chosenOfLane} ${inList.numbers('$9').sqlite}) r
    cross join belfry.run d on d.id = run_id`,
  postgres: `with gone as (
      delete from belfry.ready where ${chosenOfLane} ${inList.numbers('$9').postgres} returning ${columnsOf('ready')})
    ${leaseChosen}
    select r.run_id, r.ns, r.queue_id, d.schedule_id, r.concurrency_key, d.dedupe_key, $10, $11, $12, $13, r.fence + 1,
      r.attempts, r.releases, r.deaths
    from gone r cross join lateral (select schedule_id, dedupe_key from belfry.run where id = r.run_id offset 0) d`,
})
const plainLease = `select run_id, ns, queue_id, null, concurrency_key, null, $10, $11, $12, $13, fence + 1, attempts,
    releases, deaths from`
/** As `moveToLease`, for runs without schedule and dedupe key: their definitions need no second read. */
const movePlainly = dialects('lease move plainly', {
  sqlite: `${leaseChosen} ${plainLease} belfry.ready where ${chosenOfLane} ${inList.numbers('$9').sqlite}`,
  postgres: `with gone as (
      delete from belfry.ready where ${chosenOfLane} ${inList.numbers('$9').postgres} returning ${columnsOf('ready')})
    ${leaseChosen} ${plainLease} gone`,
})
const leaveLine = dialects('lease leave line', {
  sqlite: `delete from belfry.ready where ${chosenOfLane} ${inList.numbers('$9').sqlite}`,
  postgres: null,
})
/** Without a list to check, SQLite deletes in a third of the time. */
const leaveLineWhole = dialects('lease leave line whole', {
  sqlite: `delete from belfry.ready where ${laneStretch}`,
  postgres: null,
})
const recentStarts = both(
  'lease recent starts',
  'select coalesce(sum(starts), 0) as starts, min(at) as first_at from belfry.start where queue_id = $1 and at > $2',
)
const recordStarts = both(
  'lease record starts',
  `insert into belfry.start as s (ns, queue_id, at, claim_id, starts) values ($1, $2, $3, $4, $5)
    on conflict (queue_id, at, claim_id) do update set starts = s.starts + excluded.starts`,
)
const leasesOfClaim = both(
  'lease of claim',
  ({
    join,
  }) => `select ${columnsOf('lease', 'l')}, q.name as queue, ${reservesOf('l.ns')} as reserves, d.enqueued_at, ${definitionColumns} from belfry.lease l
    ${join.inner('run d', 'd.id = l.run_id')} join belfry.queue q on q.id = l.queue_id
    where l.claim_id = $1 and l.ns = $2 order by d.priority, d.enqueued_at, d.id`,
)

const promotedMax = 1_000
const looksMax = 8
const looksFurther = 100
const looksFurtherMax = 1_000

interface Lane {
  readonly context: StoreContext
  readonly request: LeaseRequest
  readonly workerId: number
  readonly queueId: number
  readonly policy: Policy
  readonly needIds: readonly number[]
  readonly now: number
  /** The reservations of every run of the namespace before it starts. */
  readonly reserves: number
  /** Whether single runs in line may be held: by their keys, or by holds that have just begun on their schedules. */
  readonly mayBeHeld: boolean
}

/** Leases the best-ranked runs that the caller can execute, up to its limit and the queue's ceilings. */
export function* lease(context: StoreContext, request: LeaseRequest): Step<Leased> {
  const checked = checkRequest(request)
  if (!canBeName(request.queue)) return nothing('no-queue')
  if (remembersPolicy(context, request.queue)) {
    yield* run(lockQueue, context.ns, request.queue)
    const answer = yield* leaseAtOnce(context, checked, { isJoined: false })
    if (answer !== null) return answer
  }
  return yield* leaseAtLength(context, checked, yield* ahead(lockQueue, context.ns, request.queue))
}

/**
 * Leases in a step that has other writes, and that tried to lock the queue with the request `tried`. `null` where nothing was
 * leased because another transaction holds the lock, or because the lease needs a step of its own.
 */
export function* leaseTried(context: StoreContext, request: LeaseRequest, tried: Request): Step<Leased | null> {
  const checked = checkRequest(request)
  if (remembersPolicy(context, request.queue)) return yield* leaseAtOnce(context, checked, { isJoined: true })
  const answer = yield* leaseAtLength(context, checked, tried)
  return (yield* rowsOf(tried)).length > 0 ? answer : null
}

/** Leases in a step that has already written, so the lease must not end the transaction. */
export function* leaseInStep(context: StoreContext, request: LeaseRequest): Step<LeaseAnswer> {
  const checked = checkRequest(request)
  if (!canBeName(request.queue)) return nothing('no-queue')
  return yield* leaseAtLength(context, checked, yield* ahead(lockQueue, context.ns, request.queue))
}

function checkRequest(request: LeaseRequest): CheckedRequest {
  const workerNumber = parseId('worker', request.workerId)
  if (workerNumber === null)
    throw invalid('workerId', `is ${JSON.stringify(request.workerId)}`, 'the id of a registered worker')
  checkText(request.claimId, 'claimId', keyLengthMax)
  checkInteger(request.limit, 'limit', 0, 1_000_000)
  if (request.leaseMs !== undefined) checkInteger(request.leaseMs, 'leaseMs', 1, durationMsMax)
  return { ...request, workerNumber, lists: capabilityLists(request.can) }
}

/** `locking` is the request that locks the queue. */
function* leaseAtLength(context: StoreContext, request: CheckedRequest, locking: Request): Step<LeaseAnswer> {
  const { lists, workerNumber: workerId } = request
  const queue = yield* one(survey, context.ns, request.queue, lists.kinds, lists.lanes, storeClock)
  // A queue created after the lock request is not locked: other transactions may be counting in it now.
  if (queue === undefined || (yield* rowsOf(locking)).length === 0) return nothing('no-queue')
  const isHeld = queue.held_by !== null
  const forced = isHeld ? yield* all(findForced, queue.id as number, queue.now as number, lists.kinds, lists.lanes) : []
  if (isHeld && forced.length === 0) {
    return { ...nothing('held-by'), hold: formatId('hold', queue.held_by as number) }
  }
  const policy = readPolicy(queue.policy as string)
  if (policy === null) return nothing('policy-unreadable')
  rememberPolicy(context, request.queue, queue.policy as string, policy)

  const queueId = queue.id as number
  const [now, inFlight] = [queue.now as number, queue.in_flight as number]
  const needIds = isHeld ? forced.map(({ id }) => id as number) : (JSON.parse(queue.lanes as string) as number[])
  const mayBeHeld = queue.holds_keys !== null || queue.begins !== null
  const reserves = queue.reserves as number
  const lane = { context, request, workerId, queueId, policy, now, needIds, mayBeHeld, reserves }
  const promoted = isDue(queue.waiting_at, now) ? yield* promote(lane) : 0
  const available = slotsFree(policy, inFlight, request.limit)
  const starts = yield* startsLeft(lane)
  const taken = yield* take(lane, Math.min(available, starts.most))
  const full = isFull(policy, inFlight + taken.leases.length)
  const keyed = policy.maxConcurrentPerKey !== undefined
  const answer = { ...taken, inFlight, available, full, keyed, more: taken.more || promoted === promotedMax }
  return taken.leases.length < starts.most ? answer : { ...answer, restMs: starts.restMs }
}

export function* leasesOf(context: StoreContext, claimId: string): Step<Lease[]> {
  if (!canBeName(claimId)) return []
  return (yield* all(leasesOfClaim, claimId, context.ns)).flatMap((row) => {
    const contents = contentsOf(row)
    // A run damaged since the lease was granted is not executed: its lease expires, and the next lease parks it.
    return 'unreadable' in contents ? [] : [leaseOf(row, grantedIn(row), contents)]
  })
}

function grantedIn(row: Row): Granted {
  return {
    fence: row.fence as number,
    queue: row.queue as string,
    claimId: row.claim_id as string,
    leasedAt: row.leased_at as number,
    expiresAt: row.expires_at as number,
    reserves: row.reserves as number,
  }
}

function nothing(stopped: NonNullable<LeaseAnswer['stopped']>): LeaseAnswer {
  return {
    leases: [],
    skipped: [],
    broken: [],
    inFlight: 0,
    available: 0,
    full: false,
    keyed: false,
    more: false,
    stopped,
  }
}

function isDue(at: Row[string] | undefined, now: number): boolean {
  return typeof at === 'number' && at <= now
}

/** Moves waiting runs whose instant has passed into the line, before runs are chosen. */
function* promote({ queueId, policy, now }: Lane): Step<number> {
  const ids = (yield* all(findWaiting, queueId, now, promotedMax)).map((row) => row.run_id as number)
  const arrived = yield* takeFromAside(ids)
  const keyLimit = policy.maxConcurrentPerKey ?? null
  yield* admit(
    now,
    arrived.map(({ standing }) => ({ standing, eligible: null, kept: null, keyLimit })),
  )
  return ids.length
}

/** How many starts the queue's rate limit leaves, and when the next one is free. */
function* startsLeft({ queueId, policy: { rateLimit }, now }: Lane): Step<{ most: number; restMs: number }> {
  if (rateLimit === undefined) return { most: Number.POSITIVE_INFINITY, restMs: 0 }
  const recent = yield* one<{ starts: number; first_at: number | null }>(recentStarts, queueId, now - rateLimit.perMs)
  const most = Math.max(0, rateLimit.startsMax - Number(recent?.starts ?? 0))
  return { most, restMs: (recent?.first_at ?? now) + rateLimit.perMs - now }
}

type Taken = Pick<LeaseAnswer, 'leases' | 'skipped' | 'broken' | 'more'>

/**
 * Reads the head of the line until the free slots are filled. Runs that are too late or unreadable leave the line first, because
 * that may let better-ranked runs of their keys in. Runs of a full key leave it too, so that the next read reaches further. Each
 * read is bounded, and so is their number.
 */
function* take(lane: Lane, room: number): Step<Taken> {
  const leases: Lease[] = []
  const skipped: LeaseAnswer['skipped'] = []
  const broken: LeaseAnswer['broken'] = []
  const inFlight = yield* countKeys(lane)
  let inTheWay = 0
  // Late runs come in groups, so a read that follows one reaches much further.
  let further = 0
  for (let looks = 1; leases.length < room && lane.needIds.length > 0; looks++) {
    if (looks > looksMax) return { leases, skipped, broken, more: true }
    const left = room - leases.length
    const most = left + inTheWay + further
    const head = inOrder(yield* firstOfLanes(lane, most), most)
    const unfit = head.filter((run) => whyUnfit(run, lane.now) !== null)
    const ended = yield* endUnfit(lane, unfit)
    skipped.push(...ended.skipped)
    broken.push(...ended.broken)
    further = unfit.length === 0 ? 0 : Math.min(looksFurtherMax, looksFurther + 4 * further)
    if (ended.skipped.length + ended.broken.length > 0) continue
    const { going, gated, passed } = sorted(head, left, lane, inFlight, yield* heldIn(lane, head))
    const blocked = unfit.length + gated.length + passed
    leases.push(...(yield* grant(lane, going, { isWhole: blocked === 0 })))
    for (const key of new Set(gated.map(({ standing }) => standing.key as string))) yield* tryRegate(gateOf(lane, key))
    if (blocked === 0 || (going.length === 0 && blocked <= inTheWay)) break
    inTheWay = blocked
  }
  return { leases, skipped, broken, more: false }
}

interface Sorted {
  readonly going: (Candidate & { readonly contents: Contents })[]
  readonly gated: Candidate[]
  /** Runs about to be set aside, because a hold on their schedule has just begun. */
  passed: number
}

function* heldIn({ context: { ns }, now, mayBeHeld }: Lane, head: readonly Candidate[]): Step<HeldHead> {
  return mayBeHeld ? yield* heldAmong(ns, now, head) : nothingHeld
}

function sorted(
  head: readonly Candidate[],
  room: number,
  { policy, now }: Lane,
  inFlight: Map<string, number>,
  held: HeldHead,
): Sorted {
  const { maxConcurrentPerKey = Number.POSITIVE_INFINITY } = policy
  const found: Sorted = { going: [], gated: [], passed: 0 }
  for (const { row, standing, contents } of head) {
    const { key } = standing
    const ofKey = key === null ? 0 : (inFlight.get(key) ?? 0)
    if (found.going.length === room) break
    if ('unreadable' in contents || tooLateReason(row, now) !== null) continue
    if (held.scheduleIds.has(row.schedule_id as number)) found.passed++
    else if (key !== null && (ofKey >= maxConcurrentPerKey || held.keys.has(key))) {
      found.gated.push({ row, standing, contents })
    } else {
      found.going.push({ row, standing, contents })
      if (key !== null) inFlight.set(key, ofKey + 1)
    }
  }
  return found
}

function* countKeys({ queueId, policy }: Lane): Step<Map<string, number>> {
  if (policy.maxConcurrentPerKey === undefined) return new Map()
  const rows = yield* all<{ key: string; in_flight: number }>(keysInFlight, queueId)
  return new Map(rows.map((row) => [row.key, row.in_flight]))
}

function gateOf({ context: { ns }, queueId, policy }: Lane, key: string) {
  return { ns, queueId, key, limit: policy.maxConcurrentPerKey ?? null }
}

/** `isWhole`: the runs are the whole head of the line, with no other run between them. */
function* grant(lane: Lane, going: Sorted['going'], { isWhole }: { isWhole: boolean }): Step<Lease[]> {
  if (going.length === 0) return []
  const { context, request, workerId, queueId, policy, now, reserves } = lane
  const { queue, claimId, leaseMs = policy.leaseTtlMs } = request
  const expiresAt = now + leaseMs
  const arePlain = going.every(({ row }) => row.schedule_id === null && row.dedupe_key === null)
  for (const { between, runIds } of stretches(going.map(({ standing }) => standing))) {
    const chosen = JSON.stringify(runIds)
    yield* run(arePlain ? movePlainly : moveToLease, ...between, chosen, workerId, claimId, now, expiresAt)
    if (isWhole) yield* run(leaveLineWhole, ...between)
    else yield* run(leaveLine, ...between, chosen)
  }
  if (policy.rateLimit !== undefined) yield* run(recordStarts, context.ns, queueId, now, claimId, going.length)
  return going.map(({ row, standing, contents }) =>
    leaseOf(row, { fence: standing.fence + 1, queue, claimId, leasedAt: now, expiresAt, reserves }, contents),
  )
}
