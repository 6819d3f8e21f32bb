import { calendarReason, type Hold, type HoldFiring, type HoldScope, holdScopes, holdSubject } from '../../core/hold.ts'
import { formatId } from '../../core/id.ts'
import type { Actor } from '../audit/actor.ts'
import { writeAudit } from '../audit/write-audit.ts'
import { checkActor, checkChoice, checkInstant, checkText, invalid, keyLengthMax } from '../check.ts'
import { reasonLengthMax } from '../runs/cancel-run.ts'
import { lockNamedSchedule } from '../schedules/schedule-row.ts'
import { callSteered } from '../schedules/steer-others.ts'
import { both, clockNow, freshIds, one, run, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { tables } from '../tables.ts'
import { endless, isNarrow } from './hold-row.ts'

/**
 * This statement wakes sleeping workers: they do not know the end of the hold, nor the beginning of a hold on a schedule or
 * key.
 */
export const insertHold = both('hold insert', tables.hold.insertOne())
const findQueue = both(
  'hold find queue',
  'select id from belfry.queue where ns = $1 and name = $2 and deleted_at is null',
)
const findSchedule = both(
  'hold find schedule',
  'select id from belfry.schedule where ns = $1 and name = $2 and deleted_at is null',
)

export interface NewHold {
  readonly scope: HoldScope
  /** Empty for a hold on the namespace. */
  readonly subject: string
  /** Absent: now. */
  readonly from?: number | undefined
  /** Absent: until it is lifted. */
  readonly until?: number | undefined
  /** From the catalogue of reasons. */
  readonly reason: { readonly code: string; readonly firing: HoldFiring }
  readonly note?: string | null | undefined
  readonly actor: Actor
  /** The verb in the audit log; default `hold.put`. */
  readonly verb?: string
}

export type PutHoldAnswer = { readonly answer: 'put'; readonly hold: Hold } | { readonly answer: 'not-found' }

/**
 * Writes a hold. On a namespace, queue or kind it applies to every lease from its first instant. For a schedule or key,
 * `turnHolds` sets the runs aside; until then leases skip them.
 */
export function* putHold(context: StoreContext, wanted: NewHold): Step<PutHoldAnswer> {
  checkHold(wanted)
  const now = yield* clockNow()
  const { note = null, actor, verb = 'hold.put', from = now, until = endless } = wanted
  if (until <= Math.max(from, now))
    throw invalid('until', `is ${until}`, `after ${Math.max(from, now)}, where it begins`)
  if (!(yield* isThere(context, wanted))) return { answer: 'not-found' }
  const hold = yield* writeHold(context, { ...wanted, note, from, until }, now)
  yield* auditHold(context, verb, hold, actor, now)
  return { answer: 'put', hold }
}

/** Writes a checked hold without an audit line. */
export function* writeHold(context: StoreContext, hold: Whole, now: number): Step<Hold> {
  const { scope, subject, from, until, reason, note, actor } = hold
  const held = isFollowed(hold.scope, reason.firing) ? yield* lockNamedSchedule(context, subject) : null
  const [id] = (yield* freshIds(1)) as [number]
  const told = {
    scope,
    subject,
    from,
    reason: reason.code,
    note,
    firing: reason.firing,
    by: actor.name,
    createdAt: now,
  }
  // A closing that is in force when it is written begins in `turnHolds`, which also finds the leases that are under way now.
  const isTurned = isNarrow(scope) || (reason.code === calendarReason && until > now)
  const begunAt = from <= now && !isTurned ? now : null
  yield* run(insertHold, ...tables.hold.tuple({ ...told, id, ns: context.ns, until, begunAt, isEverywhere: false }))
  const written = { ...told, id: formatId('hold', id), until: until === endless ? null : until }
  if (held !== null) yield* callSteered(context, { id: held.id, name: subject, how: 'held', hold: written, actor })
  return written
}

/**
 * Whether schedules that follow a held one are held with it. The held schedule is locked first: a schedule that begins to follow it
 * meanwhile would miss the hold or its end. Under holds that skip occurrences no schedule is held with another, because each has
 * reasons of its own.
 */
export function isFollowed(scope: HoldScope, firing: HoldFiring): boolean {
  return scope === 'schedule' && firing === 'waits'
}

type Whole = Omit<NewHold, 'note' | 'verb'> & {
  readonly from: number
  readonly until: number
  readonly note: string | null
}

export function* auditHold(context: StoreContext, verb: string, hold: Hold, actor: Actor, now: number): Step<void> {
  const { id, from, until, reason, note } = hold
  const detail = { on: holdSubject(hold), reason, note, from, until }
  yield* writeAudit(context, { actor, verb, subject: `hold ${id}`, detail }, now)
}

function checkHold({ scope, subject, from, until, reason, note, actor }: NewHold): void {
  checkChoice(scope, 'scope', holdScopes)
  const isOnAll = scope === 'namespace' || scope === 'occurrences'
  if (isOnAll ? subject !== '' : checkText(subject, 'subject', keyLengthMax) === '') {
    throw invalid('subject', `is ${JSON.stringify(subject)}`, 'empty for the namespace and all occurrences')
  }
  if (reason.firing === 'nothing' && isNarrow(scope))
    throw invalid('scope', `is ${scope}`, 'namespace, queue, kind, calendar or account where nothing fires')
  if (from !== undefined) checkInstant(from, 'from')
  if (until !== undefined) checkInstant(until, 'until')
  if (note !== undefined && note !== null) checkText(note, 'note', reasonLengthMax)
  checkActor(actor)
}

/** A hold on a queue or schedule that does not exist would look effective and stop nothing. */
function* isThere({ ns }: StoreContext, { scope, subject }: NewHold): Step<boolean> {
  if (scope === 'queue') return (yield* one(findQueue, ns, subject)) !== undefined
  if (scope === 'schedule') return (yield* one(findSchedule, ns, subject)) !== undefined
  return true
}
