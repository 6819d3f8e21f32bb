import { BelfryError } from '../../core/error.ts'
import { calendarReason, type Hold, type HoldScope, isInForce } from '../../core/hold.ts'
import { parseId } from '../../core/id.ts'
import type { Actor } from '../audit/actor.ts'
import { checkActor } from '../check.ts'
import { lockNamedSchedule } from '../schedules/schedule-row.ts'
import { callSteered } from '../schedules/steer-others.ts'
import { all, both, clockNow, dialects, one, type Row, run, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { columnsOf } from '../tables.ts'
import { endsInSteps, holdOf } from './hold-row.ts'
import { findHold } from './list-holds.ts'
import { auditHold, isFollowed } from './put-hold.ts'
import { writeSpan } from './stopped-schedules.ts'

const found = `select ${columnsOf('hold')} from belfry.hold where ns = $1 and until_at > $3`
const lockHold = dialects('hold lock', {
  sqlite: `${found} and id = $2`,
  postgres: `${found} and id = $2 for update`,
})
const lockOfReason = dialects('hold lock of reason', {
  sqlite: `${found} and scope = $2 and subject = $4 and reason = $5 order by id`,
  postgres: `${found} and scope = $2 and subject = $4 and reason = $5 order by id for update`,
})
export const deleteHold = both('hold delete', 'delete from belfry.hold where id = $1')
/** The row of such a hold is deleted later, after its runs are released or its schedules are due again. */
export const endHold = both('hold end', 'update belfry.hold set until_at = $2 where id = $1')

const deleteOf = both('hold delete of', 'delete from belfry.hold where ns = $1 and scope = $2 and subject = $3')

/** Deletes the holds on a deleted queue or schedule: a new one of the same name is not held. */
export function* forgetHolds({ ns }: StoreContext, scope: 'queue' | 'schedule', subject: string): Step<void> {
  yield* run(deleteOf, ns, scope, subject)
}

/** Ends a hold now. Held runs may start at once; `turnHolds` returns the runs of a schedule or key to the line. */
export function* liftHold(context: StoreContext, id: string, { actor }: { readonly actor: Actor }): Step<Hold | null> {
  checkActor(actor)
  const number = parseId('hold', id)
  const now = yield* clockNow()
  const known = yield* findHold(context, id)
  if (known?.scope === 'schedule') yield* lockNamedSchedule(context, known.subject)
  const row = number === null ? undefined : yield* one(lockHold, context.ns, number, now)
  if (row?.reason === calendarReason) throw closing(id)
  return row === undefined ? null : yield* lift(context, row, { actor, verb: 'hold.lift' }, now)
}

/** If such a hold were lifted by hand, Belfry would write it again at an instant that no person chose. */
function closing(id: string): BelfryError {
  return new BelfryError('conflict', `Hold ${id} is a closing of a calendar, and follows its hours.`, {
    hint: 'Give the calendar other hours: `belfry calendar put`. Or run one schedule now: `belfry schedule run NAME --force`.',
    details: { id },
  })
}

export interface LiftedOf {
  readonly scope: HoldScope
  readonly subject: string
  readonly reason: string
  /** Absent: holds with any note. */
  readonly note?: string
}

/** Ends all holds on a subject that have one reason. Returns those that were in force. */
export function* liftHolds(
  context: StoreContext,
  { scope, subject, reason, note }: LiftedOf,
  { actor, verb = 'hold.lift' }: { readonly actor: Actor; readonly verb?: string },
): Step<Hold[]> {
  checkActor(actor)
  const now = yield* clockNow()
  const lifted: Hold[] = []
  if (scope === 'schedule') yield* lockNamedSchedule(context, subject)
  for (const row of yield* all(lockOfReason, context.ns, scope, now, subject, reason)) {
    if (note === undefined || row.note === note) lifted.push(yield* lift(context, row, { actor, verb }, now))
  }
  return lifted.filter((hold) => isInForce(hold, now))
}

function* lift(context: StoreContext, row: Row, { actor, verb }: Lifting, now: number): Step<Hold> {
  const hold = holdOf(row)
  // Includes a hold that has not begun: before the clock was set back it may have been in force, and then its runs must
  // be released.
  if (endsInSteps(hold)) yield* run(endHold, row.id as number, now)
  else {
    if (hold.firing === 'nothing') yield* writeSpan(context.ns, hold, now)
    yield* run(deleteHold, row.id as number)
  }
  yield* auditHold(context, verb, hold, actor, now)
  const { scope, subject, firing } = hold
  const held = isFollowed(scope, firing) ? yield* lockNamedSchedule(context, subject) : null
  if (held !== null) yield* callSteered(context, { id: held.id, name: subject, how: 'released', hold, actor })
  return hold
}

interface Lifting {
  readonly actor: Actor
  /** The verb in the audit log. */
  readonly verb: string
}
