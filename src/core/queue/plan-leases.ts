import { type Hold, type Holdable, heldBy } from '../hold.ts'
import { isEnded, type RunStatus } from '../run/run-state.ts'
import { slotsFree } from './ceiling.ts'
import type { Policy } from './policy.ts'

/** What a run needs from its executor. A run without a target is payload only and goes to hosts. */
export interface TargetNeed {
  readonly kind: string
  /** The name of its executor, where its kind has names, as handlers have. */
  readonly name?: string | undefined
  /** The accounts that its run names, in order of preference, joined by commas. */
  readonly account?: string | undefined
  /** The calendars that its run names, joined by commas. */
  readonly calendar?: string | undefined
}

/** The kind of a lane of runs without a target, which only hosts lease. */
export const hostKind = 'none'

/** What a worker or host can execute. */
export interface Capabilities {
  /** `KIND` where the caller takes every run of a kind, `KIND/NAME` where it has the executor of that name. */
  readonly kinds: readonly string[]
  /** `handlers: ['report']` equals `handler/report` among the kinds. */
  readonly handlers?: readonly string[] | undefined
  /** Hosts also take runs without a target. */
  readonly host?: boolean | undefined
  /**
   * The queues that it works for; absent: all queues. A plan ignores this field, because each plan is for
   * one queue and its callers.
   */
  readonly queues?: readonly string[] | undefined
}

export interface PlannedRun {
  readonly id: string
  readonly priority: number
  readonly enqueuedAt: number
  readonly status: RunStatus
  /** How many attempts the run has used. Plans ignore it; displays show it. */
  readonly attempts?: number | undefined
  readonly leaseExpiresAt?: number | null | undefined
  /** When the backoff of the run ends. */
  readonly nextEligibleAt?: number | null | undefined
  readonly notBefore?: number | null | undefined
  /** The run may not start from this instant on. */
  readonly deadline?: number | null | undefined
  readonly concurrencyKey?: string | null | undefined
  readonly cancelRequestedAt?: number | null | undefined
  /** The live run of its schedule that must end before this one may start. */
  readonly blockedBy?: string | null | undefined
  /** The name of its schedule, for holds on schedules. */
  readonly schedule?: string | null | undefined
  readonly target?: TargetNeed | null | undefined
}

/** Why a run is not leased, from its own causes to shared ones. The catalogue of reasons has the words for each. */
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
  /** The holds on anything in the queue, including those that have not begun. */
  readonly holds?: readonly Hold[] | undefined
  /** The name of the queue, for holds on queues. */
  readonly queue?: string | undefined
  /** Who may lease the runs: the one caller of a lease, or every live worker when a door shows what is next. */
  readonly can?: readonly Capabilities[] | undefined
  /** The caller's free slots, when it has its own limit. */
  readonly limit?: number | undefined
  /** When the queue's latest runs started, in any order; only the newest `rateLimit.startsMax` matter. */
  readonly recentStarts?: readonly number[] | undefined
}

export interface LeasePlan {
  readonly leases: readonly { readonly id: string; readonly leaseExpiresAt: number }[]
  /** Why each of the other runs is not leased; for `held-by`, with the hold. */
  readonly skipped: readonly { readonly id: string; readonly reason: SkipReason; readonly hold?: string }[]
  readonly inFlight: number
  /** The slots this plan could fill. */
  readonly available: number
  /** The earliest instant at which time alone may change the plan. */
  readonly wakeAt: number | null
}

/**
 * Decides which runs are leased now.
 *
 * A run that is not leased gets the first reason that applies, from its own causes to shared ones: its state; a deadline that
 * has passed; a stop of the fleet or the queue; a hold; its own instants; the run before it; no executor; the ceiling; the rate
 * limit; its key. So a run with an earlier reason never uses a slot, a start or its key, and does not delay the runs behind it.
 *
 * An expired lease keeps its slot: its worker may still be executing, and that is unknown until it is reclaimed.
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

/** Whether a caller with these capabilities may execute such a target. */
export function canExecute(target: TargetNeed | null | undefined, can: Capabilities): boolean {
  if (target === null || target === undefined || target.kind === hostKind) return can.host === true
  if (can.kinds.includes(target.kind)) return true
  if (target.name === undefined) return false
  return (
    can.kinds.includes(laneText(target)) || (target.kind === handler && (can.handlers?.includes(target.name) ?? false))
  )
}

/** Handlers had names before other kinds did, so the capabilities list them separately. */
const handler = 'handler'

/** The lanes that a caller takes: a kind without a name means all lanes of the kind. */
export function lanesOf({ kinds, handlers = [] }: Pick<Capabilities, 'kinds' | 'handlers'>): TargetNeed[] {
  const lanes = kinds.map((text) => {
    const [kind = '', ...name] = text.split('/')
    return name.length === 0 ? { kind } : { kind, name: name.join('/') }
  })
  return [...lanes, ...handlers.map((name) => ({ kind: handler, name }))]
}

/** Lanes as they are stored and shown. */
export function capabilitiesOf(lanes: readonly TargetNeed[]): Pick<Capabilities, 'kinds' | 'handlers'> {
  const isHandler = ({ kind, name }: TargetNeed) => kind === handler && name !== undefined
  const others = lanes.filter((lane) => !isHandler(lane))
  return { kinds: others.map(laneText), handlers: lanes.filter(isHandler).map(({ name = '' }) => name) }
}

/** `command`, `handler/report`. */
export function laneText({ kind, name }: TargetNeed): string {
  return name === undefined ? kind : `${kind}/${name}`
}

/** The shared state of a queue while the plan is made. */
interface Lane {
  readonly inFlight: number
  readonly keyCounts: Map<string, number>
  /** The runs with a cancel request that have not ended yet. */
  readonly ending: Set<string>
  /** The starts inside the rate limit's window, including the plan's own. */
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

/** Why a run cannot start because of its own state, whatever the rest of the queue does. */
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

/** The hold that keeps a run from starting, or null. */
function holdOf(run: PlannedRun, { now, holds, queue }: PlanInput): Hold | null {
  return holds === undefined || holds.length === 0 ? null : heldBy(holds, workOf(run, queue), now)
}

/** The properties of a run that a hold can be on. */
export function workOf({ target, schedule, concurrencyKey }: PlannedRun, queue: string | undefined): Holdable {
  return { queue, ...target, schedule, key: concurrencyKey }
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

/** The earliest instant after `now` among those passed to it. */
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
