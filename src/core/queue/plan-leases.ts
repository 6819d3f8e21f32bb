import { type Hold, type Holdable, heldBy } from '../hold.ts'
import { isEnded, type RunStatus } from '../run/run-state.ts'
import { slotsFree } from './ceiling.ts'
import type { Policy } from './policy.ts'

/** What a run needs of whoever executes it. A run without a target is payload only and goes to hosts. */
export interface TargetNeed {
  readonly kind: string
  /** The name of its executor, where those of its kind have names, as handlers have. */
  readonly name?: string | undefined
}

/** What a worker or host can execute. */
export interface Capabilities {
  /** `KIND` where it takes all of a kind, `KIND/NAME` where it has the executor of that name. */
  readonly kinds: readonly string[]
  /** `handlers: ['report']` says what `handler/report` among the kinds would. */
  readonly handlers?: readonly string[] | undefined
  /** Hosts also take runs without a target. */
  readonly host?: boolean | undefined
  /** The queues it works for; absent: all. Plans do not look at it: each is made for one queue, by who asks there. */
  readonly queues?: readonly string[] | undefined
}

export interface PlannedRun {
  readonly id: string
  readonly priority: number
  readonly enqueuedAt: number
  readonly status: RunStatus
  /** How many attempts it has used. A plan does not depend on it; those who show one want to see it. */
  readonly attempts?: number | undefined
  readonly leaseExpiresAt?: number | null | undefined
  /** When its backoff ends. */
  readonly nextEligibleAt?: number | null | undefined
  readonly notBefore?: number | null | undefined
  /** From this instant on it must not start any more. */
  readonly deadline?: number | null | undefined
  readonly concurrencyKey?: string | null | undefined
  readonly cancelRequestedAt?: number | null | undefined
  /** The run of its schedule that must have ended before this one may go, while it has not. */
  readonly blockedBy?: string | null | undefined
  /** The name of its schedule. A hold on it matters; without one a plan does not ask for it. */
  readonly schedule?: string | null | undefined
  readonly target?: TargetNeed | null | undefined
}

/** Why a run does not go, from what concerns it alone to what it shares with others. The words for each are in the catalogue of reasons. */
export const skipReasons = [
  'leased',
  'lease-expired',
  'parked',
  'terminal',
  'held',
  'deadline',
  'paused',
  'queue-paused',
  'held-by',
  'backoff',
  'not-before',
  'blocked-by-cancel',
  'overlap',
  'no-worker',
  'concurrency-ceiling',
  'rate-limit',
  'key-ceiling',
] as const
export type SkipReason = (typeof skipReasons)[number]

export type PlanPolicy = Pick<Policy, 'maxConcurrent' | 'maxConcurrentPerKey' | 'leaseTtlMs' | 'rateLimit'>

export interface PlanInput {
  readonly now: number
  readonly runs: readonly PlannedRun[]
  readonly policy: PlanPolicy
  /** The whole fleet or the account is stopped. */
  readonly paused?: boolean | undefined
  readonly queuePaused?: boolean | undefined
  /** The holds on anything in the queue, also those that have not begun. */
  readonly holds?: readonly Hold[] | undefined
  /** The name of the queue, which holds on queues are compared with. */
  readonly queue?: string | undefined
  /** Those who may take the runs: the one caller of a lease, or every live worker when a door shows what is next. */
  readonly can?: readonly Capabilities[] | undefined
  /** The caller's free slots, when it has a limit of its own. */
  readonly limit?: number | undefined
  /** When the queue's latest runs started, in any order; only the newest `rateLimit.startsMax` matter. */
  readonly recentStarts?: readonly number[] | undefined
}

export interface LeasePlan {
  readonly leases: readonly { readonly id: string; readonly leaseExpiresAt: number }[]
  /** Why each of the others does not go; under `held-by`, the hold that keeps it. */
  readonly skipped: readonly { readonly id: string; readonly reason: SkipReason; readonly hold?: string }[]
  readonly inFlight: number
  /** The slots this plan could fill. */
  readonly available: number
  /** The earliest instant at which time alone may change the plan. */
  readonly wakeAt: number | null
}

/**
 * Decides who goes now.
 *
 * A run that cannot go gets the first reason that fits, from what concerns it alone to what it shares with others: its
 * own state; a deadline that is over; a stop of everything, of the queue; a hold; its own instants; the run before it; nobody
 * who can execute it; the ceiling; the rate; its key. A run with an earlier reason therefore never uses a slot, a start
 * or its key, and does not hold up the runs behind it.
 *
 * An expired lease keeps its slot: its holder may still be at work, and until it is reclaimed nobody knows otherwise.
 */
export function planLeases(input: PlanInput): LeasePlan {
  const { now, policy } = input
  const lane = openLane(input)
  const available = slotsFree(policy, lane.inFlight, input.limit ?? Number.POSITIVE_INFINITY)
  const leases: LeasePlan['leases'][number][] = []
  const skipped: LeasePlan['skipped'][number][] = []
  const wake = new Earliest(now)

  for (const run of input.runs.toSorted(inQueueOrder)) {
    const reason = ownReason(run, input, lane) ?? sharedReason(run, lane, available - leases.length, policy)
    if (reason === null) {
      take(run, lane, now)
      leases.push({ id: run.id, leaseExpiresAt: now + policy.leaseTtlMs })
      continue
    }
    const hold = reason === 'held-by' ? holdOf(run, input) : null
    skipped.push({ id: run.id, reason, ...(hold !== null && { hold: hold.id }) })
    wake.consider(hold?.until)
    if (reason === 'leased') wake.consider(run.leaseExpiresAt)
    if (reason === 'backoff' || reason === 'not-before') wake.consider(eligibleAt(run))
    if (reason === 'rate-limit') wake.consider(rateOpensAt(lane, policy))
  }
  return { leases, skipped, inFlight: lane.inFlight, available, wakeAt: wake.at }
}

/** Queue order: the smaller priority, then the earlier enqueue, then the id by code units. */
export function inQueueOrder(a: QueueOrder, b: QueueOrder): number {
  return a.priority - b.priority || a.enqueuedAt - b.enqueuedAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
}

export type QueueOrder = Pick<PlannedRun, 'priority' | 'enqueuedAt' | 'id'>

/** Says whether a caller with these capabilities may execute such a target. */
export function canExecute(target: TargetNeed | null | undefined, can: Capabilities): boolean {
  if (target === null || target === undefined) return can.host === true
  if (can.kinds.includes(target.kind)) return true
  if (target.name === undefined) return false
  return (
    can.kinds.includes(laneText(target)) || (target.kind === handler && (can.handlers?.includes(target.name) ?? false))
  )
}

/** Handlers had names before other kinds had: what a caller takes of them stands in a list of its own. */
const handler = 'handler'

/** What a caller takes, as lanes: a kind alone is all of its lanes. */
export function lanesOf({ kinds, handlers = [] }: Pick<Capabilities, 'kinds' | 'handlers'>): TargetNeed[] {
  const lanes = kinds.map((text) => {
    const [kind = '', ...name] = text.split('/')
    return name.length === 0 ? { kind } : { kind, name: name.join('/') }
  })
  return [...lanes, ...handlers.map((name) => ({ kind: handler, name }))]
}

/** The same as it is stored and shown. */
export function capabilitiesOf(lanes: readonly TargetNeed[]): Pick<Capabilities, 'kinds' | 'handlers'> {
  const isHandler = ({ kind, name }: TargetNeed) => kind === handler && name !== undefined
  const others = lanes.filter((lane) => !isHandler(lane))
  return { kinds: others.map(laneText), handlers: lanes.filter(isHandler).map(({ name = '' }) => name) }
}

/** `command`, `handler/report`. */
export function laneText({ kind, name }: TargetNeed): string {
  return name === undefined ? kind : `${kind}/${name}`
}

/** What is shared by the runs of a queue, as it stands while the plan is made. */
interface Lane {
  readonly inFlight: number
  readonly keyCounts: Map<string, number>
  /** The runs that are asked to end and have not ended yet. */
  readonly ending: Set<string>
  /** The starts inside the window of the rate, the plan's own included. */
  readonly starts: number[]
}

function openLane({ now, runs, policy, recentStarts = [] }: PlanInput): Lane {
  const windowFrom = now - (policy.rateLimit?.perMs ?? 0)
  const lane: Lane = {
    inFlight: runs.reduce((count, run) => (run.status === 'leased' ? count + 1 : count), 0),
    keyCounts: new Map(),
    ending: new Set(runs.filter((run) => isSet(run.cancelRequestedAt)).map((run) => run.id)),
    starts: recentStarts.filter((startedAt) => startedAt > windowFrom),
  }
  for (const run of runs) if (run.status === 'leased') occupyKey(run, lane)
  return lane
}

function take(run: PlannedRun, lane: Lane, now: number): void {
  occupyKey(run, lane)
  lane.starts.push(now)
}

function occupyKey({ concurrencyKey }: PlannedRun, { keyCounts }: Lane): void {
  if (isSet(concurrencyKey)) keyCounts.set(concurrencyKey, (keyCounts.get(concurrencyKey) ?? 0) + 1)
}

/** What keeps a run back by its state, whatever the rest of the queue does. */
function stateReason(run: PlannedRun, input: PlanInput): SkipReason | null {
  const { now, paused, queuePaused } = input
  if (run.status === 'leased')
    return isSet(run.leaseExpiresAt) && run.leaseExpiresAt <= now ? 'lease-expired' : 'leased'
  if (run.status === 'parked') return 'parked'
  if (isEnded(run.status)) return 'terminal'
  if (run.status === 'held') return holdOf(run, input) === null ? 'held' : 'held-by'
  if (isSet(run.deadline) && run.deadline <= now) return 'deadline'
  if (paused === true) return 'paused'
  if (queuePaused === true) return 'queue-paused'
  return holdOf(run, input) === null ? null : 'held-by'
}

/** The hold that keeps a run from starting, where one does. */
function holdOf(run: PlannedRun, { now, holds, queue }: PlanInput): Hold | null {
  return holds === undefined || holds.length === 0 ? null : heldBy(holds, workOf(run, queue), now)
}

/** A run by all that a hold can be on. */
export function workOf({ target, schedule, concurrencyKey }: PlannedRun, queue: string | undefined): Holdable {
  return { queue, kind: target?.kind, name: target?.name, schedule, key: concurrencyKey }
}

function ownReason(run: PlannedRun, input: PlanInput, lane: Lane): SkipReason | null {
  const ofState = stateReason(run, input)
  if (ofState !== null) return ofState
  const { now, can } = input
  if (isSet(run.nextEligibleAt) && run.nextEligibleAt > now) return 'backoff'
  if (isSet(run.notBefore) && run.notBefore > now) return 'not-before'
  if (isSet(run.blockedBy)) return lane.ending.has(run.blockedBy) ? 'blocked-by-cancel' : 'overlap'
  if (can !== undefined && !can.some((taker) => canExecute(run.target, taker))) return 'no-worker'
  return null
}

function sharedReason(run: PlannedRun, lane: Lane, free: number, policy: PlanPolicy): SkipReason | null {
  if (free <= 0) return 'concurrency-ceiling'
  if (policy.rateLimit !== undefined && lane.starts.length >= policy.rateLimit.startsMax) return 'rate-limit'
  const { maxConcurrentPerKey } = policy
  if (maxConcurrentPerKey === undefined || !isSet(run.concurrencyKey)) return null
  return (lane.keyCounts.get(run.concurrencyKey) ?? 0) >= maxConcurrentPerKey ? 'key-ceiling' : null
}

function eligibleAt(run: PlannedRun): number {
  return Math.max(run.nextEligibleAt ?? 0, run.notBefore ?? 0)
}

/** The rate allows another start when the oldest of the newest `startsMax` leaves the window. */
function rateOpensAt({ starts }: Lane, { rateLimit }: PlanPolicy): number | null {
  if (rateLimit === undefined) return null
  const oldestThatCounts = starts.toSorted((a, b) => b - a)[rateLimit.startsMax - 1]
  return oldestThatCounts === undefined ? null : oldestThatCounts + rateLimit.perMs
}

/** The earliest of the instants after `now` it was shown. */
class Earliest {
  at: number | null = null
  readonly #now: number

  constructor(now: number) {
    this.#now = now
  }

  consider(instant: number | null | undefined): void {
    if (!isSet(instant) || instant <= this.#now) return
    if (this.at === null || instant < this.at) this.at = instant
  }
}

function isSet<Value>(value: Value | null | undefined): value is Value {
  return value !== null && value !== undefined
}
