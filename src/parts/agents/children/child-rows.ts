import { childRefusal } from '../../../core/agent/child-quota.ts'
import type { RunBounds } from '../../../core/caller.ts'
import { BelfryError } from '../../../core/error.ts'
import type { ScheduleSpec } from '../../../core/schedule/schedule-spec.ts'
import { runIdOf } from '../../../store/leases/settle.ts'
import { hasWork } from '../../../store/schedules/free-name.ts'
import { pauseBeside } from '../../../store/schedules/pause-schedule.ts'
import { lockSchedules, type ScheduleRow } from '../../../store/schedules/schedule-row.ts'
import { all, both, clockNow, one, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'

/** A run without a schedule counts only the tasks that it planned itself. */
const countLive = both(
  'children count',
  `select count(*) as count from belfry.task t join belfry.schedule s on s.id = t.schedule_id
    where t.ns = $1 and (t.parent_id = $2 or (t.parent_id is null and $2 is null and t.run_id = $3))
      and t.is_open = 1 and s.deleted_at is null and (s.is_done = 0 or ${hasWork})`,
)
const findLease = both(
  'children find lease',
  'select schedule_id, expires_at from belfry.lease where run_id = $1 and fence = $2 and ns = $3',
)
const findChildren = both(
  'children find',
  `select s.name, s.id from belfry.task t join belfry.schedule s on s.id = t.schedule_id
    where t.ns = $1 and t.parent_id = $2 and s.deleted_at is null order by s.id`,
)

export interface Child {
  readonly id: number
  readonly name: string
}

/** The existing tasks that runs of a schedule have planned. */
export function* childrenOf({ ns }: StoreContext, scheduleId: number): Step<Child[]> {
  return (yield* all(findChildren, ns, scheduleId)) as unknown as Child[]
}

export interface AdmittedChild {
  /** The schedule of the run that plans the task; `null` if the run has no schedule. */
  readonly parent: ScheduleRow | null
  readonly depth: number
}

/**
 * Locks the schedule of the run that an agent acts in. Refused if the attempt no longer holds the lease: its token has ended with the
 * lease.
 */
export function* lockedParent({ ns }: StoreContext, { run, attempt }: RunBounds): Step<ScheduleRow | null> {
  const lease = yield* one<{ schedule_id: number | null; expires_at: number }>(
    findLease,
    runIdOf({ runId: run }),
    attempt,
    ns,
  )
  if (lease === undefined || lease.expires_at <= (yield* clockNow())) throw runEnded(run)
  const { schedule_id: id } = lease
  const found = id === null ? null : (yield* lockSchedules([id], { wait: true })).get(id)
  if (found === undefined || (found !== null && found.deletedAt !== null)) throw runEnded(run)
  return found
}

/**
 * Lets an agent plan a task in its run, or refuses it. The check runs in the transaction that creates the task, so two concurrent calls
 * cannot exceed the quota.
 */
export function* admitChild(
  context: StoreContext,
  { timing, expiresAt }: { readonly timing: ScheduleSpec['timing']; readonly expiresAt: number },
  bounds: RunBounds,
): Step<AdmittedChild> {
  const parent = yield* lockedParent(context, bounds)
  const [now, runId] = [yield* clockNow(), runIdOf({ runId: bounds.run })]
  const live = (yield* one<{ count: number }>(countLive, context.ns, parent?.id ?? null, runId))?.count ?? 0
  const refusal = childRefusal({ now, depth: bounds.depth, live, timing, expiresAt })
  if (refusal === null) return { parent, depth: bounds.depth + 1 }
  const { reason, says, hint } = refusal
  throw new BelfryError('not-allowed', says, { hint, details: { reason, run: bounds.run } })
}

export const withParent = (name: string) => `with its parent ${name}`

/** A child of a paused schedule starts paused. */
export function* pauseWithParent(context: StoreContext, name: string, parent: ScheduleRow): Step<void> {
  const { disabledAt, pausedUntil } = parent
  const until = disabledAt === null ? pausedUntil : undefined
  if (until === null || (until !== undefined && until <= (yield* clockNow()))) return
  yield* pauseBeside(context, name, { reason: withParent(parent.name), author: `schedule ${parent.name}`, until })
}

export function runEnded(run: string): BelfryError {
  return new BelfryError('not-allowed', `Run ${run} has ended, and its agent plans nothing more.`, {
    hint: 'Ask a person.',
    details: { reason: 'run-ended', run },
  })
}
