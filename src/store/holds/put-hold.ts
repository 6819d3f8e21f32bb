import { type Hold, type HoldFiring, type HoldScope, holdScopes, holdSubject } from '../../core/hold.ts'
import { formatId } from '../../core/id.ts'
import type { Actor } from '../audit/actor.ts'
import { writeAudit } from '../audit/write-audit.ts'
import { checkActor, checkChoice, checkInstant, checkText, invalid, keyLengthMax } from '../check.ts'
import { reasonLengthMax } from '../runs/cancel-run.ts'
import { both, clockNow, freshIds, one, run, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { tables } from '../tables.ts'
import { endless, isNarrow } from './hold-row.ts'

/** This statement wakes sleepers: a hold has an end, and one on a schedule or key has a beginning, that they do not know. */
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
  /** Empty for the namespace. */
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
export function* writeHold({ ns }: StoreContext, hold: Whole, now: number): Step<Hold> {
  const { scope, subject, from, until, reason, note, actor } = hold
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
  const begunAt = from <= now && !isNarrow(scope) ? now : null
  yield* run(insertHold, ...tables.hold.tuple({ ...told, id, ns, until, begunAt }))
  return { ...told, id: formatId('hold', id), until: until === endless ? null : until }
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
