import { type Hold, heldBy } from '../../core/hold.ts'
import {
  inQueueOrder,
  type LeasePlan,
  type PlannedRun,
  planLeases,
  type SkipReason,
  workOf,
} from '../../core/queue/plan-leases.ts'
import { defaultPolicy } from '../../core/queue/policy.ts'
import { isEnded } from '../../core/run/run-state.ts'
import { type LaneOptions, laneNeed } from '../../core/target.ts'
import { holdsOn } from '../../store/holds/list-holds.ts'
import type { Store } from '../../store/port.ts'
import { findQueue } from '../../store/reads/find-queue.ts'
import { planInput } from '../../store/reads/plan-input.ts'
import type { PlanWindow, QueueView, RunView } from '../../store/views.ts'
import { type Fleet, workersFor } from '../explain/fleet.ts'

/** A run among those of its queue, with the plan that leasing would follow now. */
export interface PlaceInLine {
  readonly queue: QueueView | null
  readonly window: PlanWindow
  readonly own: PlannedRun
  /** Why it does not start; null when it would, unless there are more runs before it than the window holds. */
  readonly reason: WaitReason | null
  /** The hold that keeps the run from starting, even if there are other reasons. */
  readonly hold: Hold | null
  readonly plan: LeasePlan
  /** The runs before it that can start now, or as soon as there is a slot. */
  readonly before: readonly PlannedRun[]
  /** There may be more runs before it than the window holds. */
  readonly isBeforeAtLeast: boolean
}

/**
 * The reasons that a plan of stored runs can give. Stops are not among them, because they are stored as holds, and
 * an ended run is described by its end.
 */
export type WaitReason = Exclude<SkipReason, 'terminal' | 'paused' | 'queue-paused'>

function waitReason(reason: SkipReason | undefined): WaitReason | null {
  return reason === undefined || reason === 'terminal' || reason === 'paused' || reason === 'queue-paused'
    ? null
    : reason
}

const windowMax = 1_000
const waitsForRoom: ReadonlySet<SkipReason> = new Set(['concurrency-ceiling', 'rate-limit', 'key-ceiling'])

/**
 * The plan that decides about a run now, computed by the function that every lease uses, for all live workers of its queue
 * together. A run beyond the window is added to the plan as its last run. What blocks the run there blocks it further back
 * too; if nothing does, it is not known whether the run would start.
 */
export async function placeInLineOf(store: Store, run: RunView, fleet: Fleet): Promise<PlaceInLine> {
  const queue = await store.look(findQueue, run.queue)
  const isPlanned = !isEnded(run.status) && queue !== null && queue.policy !== null
  const looked = isPlanned ? await store.look(planInput, run.queue, windowMax) : emptyAt(fleet.now)
  const found = looked.runs.find(({ id }) => id === run.id)
  const own = found ?? plannedRunOf(run)
  // The window includes the holds on its runs.
  const isBeyond = found === undefined && isPlanned
  const window = isBeyond ? { ...looked, holds: await store.look(holdsOn, workOf(own, run.queue)) } : looked
  const runs = found === undefined ? [...window.runs, own] : window.runs
  const plan = planLeases({ ...window, runs, can: workersFor(run.queue, fleet.live).map(({ can }) => can) })
  const reasons = new Map(plan.skipped.map(({ id, reason }) => [id, reason]))
  const isWaiting = ({ id }: PlannedRun) => {
    const reason = reasons.get(id)
    return reason === undefined || waitsForRoom.has(reason)
  }
  const before = runs.filter((other) => inQueueOrder(other, own) < 0 && isWaiting(other))
  const { now, holds } = window
  return {
    queue,
    window,
    own,
    reason: waitReason(reasons.get(own.id)),
    hold: heldBy(holds, workOf(own, run.queue), now),
    plan,
    before,
    isBeforeAtLeast: isCutBefore(own, window),
  }
}

/**
 * Whether the window may lack runs that are before this one. The window holds the first runs in line in queue order, but takes runs that
 * wait for a key, and runs whose wait is over, in other orders.
 */
function isCutBefore(own: PlannedRun, { now, runs }: PlanWindow): boolean {
  const isPast = (at: number | null | undefined) => at == null || at <= now
  const ready = runs.filter(({ status, nextEligibleAt, notBefore, blockedBy }) => {
    return status === 'ready' && isPast(nextEligibleAt) && isPast(notBefore) && blockedBy == null
  })
  const sets = [
    ready.filter((other) => inQueueOrder(other, own) < 0),
    ready.filter(({ concurrencyKey }) => concurrencyKey != null),
    ready.filter(({ nextEligibleAt, notBefore }) => nextEligibleAt != null || notBefore != null),
  ]
  return sets.some(({ length }) => length >= windowMax)
}

/** The place of an ended run, or of a run whose queue has an unreadable policy: only the run itself matters. */
function emptyAt(now: number): PlanWindow {
  return { now, runs: [], policy: defaultPolicy, queue: '', holds: [], recentStarts: [] }
}

function plannedRunOf(run: RunView): PlannedRun {
  const { id, priority, enqueuedAt, status, concurrencyKey, waiting, lease, schedule } = run
  const until = waiting?.until ?? null
  const need = laneNeed(run.target, run.options as LaneOptions)
  return {
    id,
    priority,
    enqueuedAt,
    status,
    concurrencyKey,
    schedule,
    leaseExpiresAt: lease?.expiresAt ?? null,
    cancelRequestedAt: lease?.cancelRequestedAt ?? null,
    nextEligibleAt: waiting?.reason === 'backoff' ? until : null,
    notBefore: waiting?.reason === 'backoff' ? null : until,
    deadline: lastStartOf(run),
    blockedBy: waiting?.for === 'overlap' ? (run.waitsFor ?? 'a live run of its schedule') : null,
    target: 'need' in need ? need.need : null,
  }
}

/** The instant from which it does not start: its deadline, or the end of its allowed lateness before the first lease. */
function lastStartOf({ deadline, lateAfter, fence }: RunView): number | null {
  const late = lateAfter !== null && fence === 0 ? lateAfter + 1 : null
  return deadline === null || late === null ? (deadline ?? late) : Math.min(deadline, late)
}

/** When the queue's rate limit lets a run start at its place, if nothing else delays the runs before it: each uses one start. Runs that their own key or deadline keeps from starting are not counted. */
export function rateOpensAt(place: PlaceInLine): number | null {
  const { window, plan } = place
  const { rateLimit } = window.policy
  if (rateLimit === undefined) return null
  const { startsMax, perMs } = rateLimit
  const starts = [...window.recentStarts, ...plan.leases.map(() => window.now)].sort((a, b) => a - b)
  const opensAt = () => Math.max(window.now, (starts.at(-startsMax) ?? Number.NEGATIVE_INFINITY) + perMs)
  for (const { deadline } of rateUsersBefore(place)) {
    const at = opensAt()
    if (deadline == null || deadline > at) starts.push(at)
  }
  return opensAt()
}

/** The runs before it that wait only for the rate limit, in queue order. */
function rateUsersBefore({ window, plan, before }: PlaceInLine): PlannedRun[] {
  const waits = new Set(plan.skipped.filter(({ reason }) => reason === 'rate-limit').map(({ id }) => id))
  const goes = new Set(plan.leases.map(({ id }) => id))
  const runs = window.runs.filter(({ id, status }) => status === 'leased' || goes.has(id) || waits.has(id))
  const policy = { ...window.policy, rateLimit: undefined, maxConcurrent: Number.MAX_SAFE_INTEGER }
  const unrated = new Set(planLeases({ ...window, runs, policy }).leases.map(({ id }) => id))
  return before.filter(({ id }) => waits.has(id) && unrated.has(id)).sort(inQueueOrder)
}
