import type { Hold } from '../../core/hold.ts'
import { kernelHoldReasons } from '../../core/hold-reason.ts'
import { parseId } from '../../core/id.ts'
import type { Actor } from '../../store/audit/actor.ts'
import { awaitLeases } from '../../store/holds/await-leases.ts'
import { holdOf } from '../../store/holds/hold-row.ts'
import { liftHolds } from '../../store/holds/lift-hold.ts'
import { putHold } from '../../store/holds/put-hold.ts'
import { lockNamespaces, markEverywhere } from '../../store/holds/stops-everywhere.ts'
import { turnHolds } from '../../store/holds/turn-holds.ts'
import { cancelLeased, countLeased, releaseLeased, type Subject } from '../../store/leases/stop-leased.ts'
import { lockManaged } from '../../store/managed.ts'
import { type Raised, raise } from '../../store/raise.ts'
import { all, both, clockNow, one, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'
import { columnsOf } from '../../store/tables.ts'

const reason = kernelHoldReasons.stopped

const findStop = both(
  'stop find',
  `select ${columnsOf('hold')} from belfry.hold where ns = $1 and scope = $3 and subject = $4 and reason = '${reason.code}'
    and from_at <= $2 and until_at > $2 limit 1`,
)
const findNamespaces = both('stop find namespaces', 'select id, name from belfry.namespace order by id')

/** What is stopped or goes on, and where. */
export interface Stopping extends Subject {
  /** In all namespaces of the store, not only in the one that it was opened with. */
  readonly everywhere: boolean
}

/** The namespaces that a call is about. */
function* namespacesOf(context: StoreContext, { everywhere }: Stopping): Step<StoreContext[]> {
  if (!everywhere) return [context]
  const found = yield* all<{ id: number; name: string }>(findNamespaces)
  return found.map(({ id, name }) => ({ ...context, ns: id, namespace: name }))
}

export interface NewStop extends Stopping {
  readonly note: string | null
  readonly forMs: number | undefined
  readonly actor: Actor
}

export type StopAnswer =
  | { readonly answer: 'not-found' }
  /**
   * `namespaces` are those that were not stopped before. `hold` is the first new hold, or the existing one where there is no
   * new one.
   */
  | { readonly answer: 'stopped' | 'was-stopped'; readonly hold: Hold; readonly namespaces: readonly string[] }

/** Stops a subject, except where it is stopped already. Of two callers the second waits for the first. */
export function* stopWork(context: StoreContext, wanted: NewStop): Step<StopAnswer> {
  const { scope, subject, note, forMs, actor } = wanted
  const made: Hold[] = []
  const found: Hold[] = []
  const namespaces: string[] = []
  // A namespace that is made at this moment is among those found, or finds these stops.
  if (wanted.everywhere) yield* lockNamespaces()
  for (const each of yield* namespacesOf(context, wanted)) {
    yield* lockManaged(each)
    const now = yield* clockNow()
    const row = yield* one(findStop, each.ns, now, scope, subject)
    if (row !== undefined) {
      found.push(holdOf(row))
      continue
    }
    const until = forMs === undefined ? {} : { until: now + forMs }
    const put = yield* putHold(each, { scope, subject, reason, note, actor, ...until, verb: 'hold.stop' })
    if (put.answer === 'not-found') return put
    made.push(put.hold)
    yield* raise(each, [raisedBy(each, wanted, 'is stopped', note)])
    namespaces.push(each.namespace)
  }
  if (wanted.everywhere) yield* markEverywhere([...made, ...found].map(({ id }) => parseId('hold', id) as number))
  const hold = (made[0] ?? found[0]) as Hold
  return { answer: made.length > 0 ? 'stopped' : 'was-stopped', hold, namespaces }
}

/** Lifts the stops of a subject and returns them; an empty list where it is not stopped. */
export function* goOn(context: StoreContext, wanted: Stopping & { readonly actor: Actor }): Step<Hold[]> {
  const { scope, subject, actor } = wanted
  const lifted: Hold[] = []
  if (wanted.everywhere) yield* lockNamespaces()
  for (const each of yield* namespacesOf(context, wanted)) {
    const own = yield* liftHolds(each, { scope, subject, reason: reason.code }, { actor, verb: 'hold.go' })
    lifted.push(...own)
    if (own.length > 0) yield* raise(each, [raisedBy(each, wanted, 'goes on', null)])
  }
  return lifted
}

function raisedBy(
  { namespace }: StoreContext,
  { scope, subject, actor }: Stopping & { readonly actor: Actor },
  happened: string,
  note: string | null,
): Raised {
  const about = scope === 'namespace' ? `namespace ${namespace}` : `${scope} ${subject}`
  return { event: 'stop', about, happened, reason: `by ${actor.name}${note === null ? '' : `: ${note}`}` }
}

/** Returns when no lease is under way that has not seen the stop. */
export function* awaitStop(context: StoreContext, { scope, subject, everywhere }: Stopping): Step<void> {
  yield* awaitLeases(context, { ...(scope === 'queue' && { queue: subject }), everywhere })
}

/**
 * One step of setting runs aside and putting them back, as holds begin and end, in each namespace. Returns whether there is
 * more.
 */
export function* turnEach(context: StoreContext, stopping: Stopping, limit: number): Step<boolean> {
  let more = false
  for (const each of yield* namespacesOf(context, stopping)) more = (yield* turnHolds(each, { limit })).more || more
  return more
}

export function* countAtWork(context: StoreContext, stopping: Stopping): Step<number> {
  let count = 0
  for (const each of yield* namespacesOf(context, stopping)) count += yield* countLeased(each, stopping)
  return count
}

export interface Asking extends Stopping {
  readonly how: 'cancel' | 'release'
  readonly reason: string
  readonly limit: number
}

/**
 * Asks the holders of leased runs to stop them. Returns the runs of this step: fewer than `limit` when all holders have been
 * asked.
 */
export function* askHolders(context: StoreContext, asking: Asking): Step<string[]> {
  const ask = asking.how === 'cancel' ? cancelLeased : releaseLeased
  const asked: string[] = []
  for (const each of yield* namespacesOf(context, asking)) {
    if (asked.length < asking.limit)
      asked.push(...(yield* ask(each, { ...asking, limit: asking.limit - asked.length })))
  }
  return asked
}
askHolders.audits = cancelLeased.audits
