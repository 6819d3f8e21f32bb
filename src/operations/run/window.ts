import { inQueueOrder, type LeasePlan, type PlannedRun, planLeases, type SkipReason } from '../../core/plan.ts'
import { defaultPolicy } from '../../core/policy.ts'
import { isEnded } from '../../core/run-state.ts'
import { needOf } from '../../core/target.ts'
import type { Store } from '../../store/port.ts'
import type { PlanWindow, QueueView, RunView } from '../../store/view.ts'
import type { Fleet } from '../explain/fleet.ts'

/** A run among those of its queue, with the plan that the leases would follow now. */
export interface Place {
  readonly queue: QueueView | null
  readonly window: PlanWindow
  readonly own: PlannedRun
  /** Why it does not go; null when it would. */
  readonly reason: SkipReason | null
  readonly plan: LeasePlan
  /** The runs before it that can go, or will as soon as there is room. */
  readonly before: readonly PlannedRun[]
  /** There may be more before it than the window holds. */
  readonly isBeforeAtLeast: boolean
}

const windowMax = 1_000
const waitsForRoom: ReadonlySet<SkipReason> = new Set(['concurrency-ceiling', 'rate-limit', 'key-ceiling'])

/**
 * The plan that decides over a run now, made by the function that every lease asks, for all live workers together. A
 * run beyond the window is put into it: only whether it goes is asked, and nothing behind it changes that.
 */
export async function placeOf(store: Store, run: RunView, fleet: Fleet): Promise<Place> {
  const queue = await store.read.queue(run.queue)
  const isPlanned = !isEnded(run.status) && queue !== null && queue.policy !== null
  const window = isPlanned ? await store.read.planInput(run.queue, windowMax) : emptyAt(fleet.now)
  const found = window.runs.find(({ id }) => id === run.id)
  const own = found ?? plannedRunOf(run)
  const runs = found === undefined ? [...window.runs, own] : window.runs
  const plan = planLeases({ ...window, runs, can: fleet.live.map(({ can }) => can) })
  const reasons = new Map(plan.skipped.map(({ id, reason }) => [id, reason]))
  const isWaiting = ({ id }: PlannedRun) => {
    const reason = reasons.get(id)
    return reason === undefined || waitsForRoom.has(reason)
  }
  const before = runs.filter((other) => inQueueOrder(other, own) < 0 && isWaiting(other))
  const reason = reasons.get(own.id) ?? null
  return {
    queue,
    window,
    own,
    reason,
    plan,
    before,
    isBeforeAtLeast: found === undefined || before.length >= windowMax,
  }
}

/** For an ended run, and one whose queue has a policy that cannot be read: nothing but the run itself matters. */
function emptyAt(now: number): PlanWindow {
  return { now, runs: [], policy: defaultPolicy, queuePaused: false, paused: false, recentStarts: [] }
}

/** A run as the plan takes it. */
function plannedRunOf(run: RunView): PlannedRun {
  const { id, priority, enqueuedAt, status, concurrencyKey, waiting, lease } = run
  const until = waiting?.until ?? null
  const need = needOf(run.target)
  return {
    id,
    priority,
    enqueuedAt,
    status,
    concurrencyKey,
    leaseExpiresAt: lease?.expiresAt ?? null,
    cancelRequestedAt: lease?.cancelRequestedAt ?? null,
    nextEligibleAt: waiting?.reason === 'backoff' ? until : null,
    notBefore: waiting?.reason === 'backoff' ? null : until,
    deadline: lastStartOf(run),
    blockedBy: waiting?.for === 'overlap' ? (run.waitsFor ?? 'a live run of its schedule') : null,
    target: 'need' in need ? need.need : null,
  }
}

/** From this instant on it does not start: its deadline, or what lateness allows before it is leased for the first time. */
function lastStartOf({ deadline, lateAfter, fence }: RunView): number | null {
  const late = lateAfter !== null && fence === 0 ? lateAfter + 1 : null
  return deadline === null || late === null ? (deadline ?? late) : Math.min(deadline, late)
}

/** When the rate of the queue lets this run go, as far as time alone decides. */
export function rateOpensAt({ window, own, plan }: Place): number | null {
  const { rateLimit } = window.policy
  if (rateLimit === undefined || !plan.skipped.some(({ id }) => id === own.id)) return null
  const alone = planLeases({ ...window, runs: [own] })
  return alone.wakeAt ?? window.now + rateLimit.perMs
}
