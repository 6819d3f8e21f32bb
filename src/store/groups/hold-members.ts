import { type GroupPause, groupPausedReason } from '../../core/schedule/group.ts'
import type { Actor } from '../audit/actor.ts'
import { endless } from '../holds/hold-row.ts'
import { liftHolds } from '../holds/lift-hold.ts'
import { writeHold } from '../holds/put-hold.ts'
import type { Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import type { GroupRow } from './group-row.ts'

/** The author of the hold that is put or lifted when a schedule joins or leaves a paused group. */
const belfry: Actor = { name: 'belfry', door: 'group' }

export function isInPause(paused: GroupPause | null, now: number): paused is GroupPause {
  return paused !== null && (paused.until === null || paused.until > now)
}

/** Puts the hold of a paused group on one member. Its note begins with the name of the group. */
export function* holdMember(context: StoreContext, group: GroupRow, schedule: string, now: number): Step<void> {
  const { until, reason, by } = group.paused as GroupPause
  yield* writeHold(
    context,
    {
      scope: 'schedule',
      subject: schedule,
      from: now,
      until: until ?? endless,
      reason: { code: groupPausedReason, firing: 'waits' },
      note: reason === null ? group.name : `${group.name}: ${reason}`,
      actor: { name: by, door: 'group' },
    },
    now,
  )
}

/** Lifts the hold of its group from one member. */
export function* freeMember(context: StoreContext, schedule: string, actor: Actor = belfry): Step<void> {
  const on = { scope: 'schedule', subject: schedule, reason: groupPausedReason } as const
  yield* liftHolds(context, on, { actor, verb: 'group.resume' })
}
