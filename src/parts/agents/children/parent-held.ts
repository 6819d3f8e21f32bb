import type { Hold } from '../../../core/hold.ts'
import type { HoldReason } from '../../../core/hold-reason.ts'
import type { Actor } from '../../../store/audit/actor.ts'
import { endless } from '../../../store/holds/hold-row.ts'
import { liftHolds } from '../../../store/holds/lift-hold.ts'
import { holdsOn } from '../../../store/holds/list-holds.ts'
import { isFollowed, writeHold } from '../../../store/holds/put-hold.ts'
import type { ScheduleRow } from '../../../store/schedules/schedule-row.ts'
import { clockNow, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'

/**
 * Each hold on a parent is copied to each of its children, with the same start and end. The note of the copy begins with the id of the
 * parent's hold.
 */
export const parentHeld: HoldReason = {
  code: 'parent-held',
  firing: 'waits',
  says: 'The schedule whose run planned the task is held: runs are made, and wait.',
  unblocks: 'The hold on that schedule ends, or is lifted: `belfry hold lift`.',
  sentence: ({ note }) => `Held with its parent by ${(note ?? '').replace(/[.\s]+$/, '')}.`,
  lift: ({ note }) => ({
    what: 'Lift the hold on its parent.',
    words: ['hold', 'lift', (note ?? '').split(' ')[0] as string],
  }),
}

function noteOf({ id, subject, note }: Hold): string {
  return `${id} on ${subject}${note === null ? '' : `: ${note}`}`
}

/** Copies a hold of the parent to a child. */
export function* holdBeside(context: StoreContext, child: string, hold: Hold): Step<void> {
  const { from, until, by } = hold
  const on = { scope: 'schedule', subject: child, from, until: until ?? endless } as const
  const now = yield* clockNow()
  yield* writeHold(
    context,
    { ...on, reason: parentHeld, note: noteOf(hold), actor: { name: by, door: 'schedule' } },
    now,
  )
}

/** Lifts the copy that a child has of a hold on its parent. */
export function* liftBeside(context: StoreContext, child: string, hold: Hold, actor: Actor): Step<void> {
  const on = { scope: 'schedule', subject: child, reason: parentHeld.code, note: noteOf(hold) } as const
  yield* liftHolds(context, on, { actor })
}

/** A child of a held schedule starts held. The lock on the parent keeps the parent's holds unchanged. */
export function* holdWithParent(context: StoreContext, child: string, parent: ScheduleRow): Step<void> {
  for (const hold of yield* holdsOn(context, { schedule: parent.name })) {
    if (isFollowed(hold.scope, hold.firing)) yield* holdBeside(context, child, hold)
  }
}
