import { reclaim } from '../leases/reclaim.ts'
import { settle } from '../leases/settle.ts'
import type { AuditEntry, Enqueued, Store } from '../port.ts'
import { enqueue, runsMade } from '../runs/enqueue.ts'
import { clockNow, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import type { AuditDetail, Verb } from '../verb.ts'
import { queuesOf } from '../wake.ts'
import { writeAudit } from './write-audit.ts'

/** Runs a write of the store and wakes sleepers for these queues. */
export type Write = <Args extends unknown[], Result>(
  step: (context: StoreContext, ...args: Args) => Step<Result>,
  args: Args,
  about?: (result: Result) => { readonly queues?: readonly string[] },
) => Promise<Result>

/**
 * A store that writes an audit line in the transaction of each change. Verbs that write their own line, and verbs that no person
 * calls, pass through unchanged. A step here never ends its transaction early, as a plain enqueue or settle may.
 */
export function auditedStore(store: Store, entry: AuditEntry, write: Write): Store {
  const noted = <Args extends unknown[], Result>(verb: Verb<Args, Result>, ...args: Args): Promise<Result> => {
    const { audits, wakes } = verb
    if (audits === undefined) return store.do(verb, ...args)
    const step = noting(verb, (result: Result) => audits(result, args), entry)
    return write(step, args, (result) => wakes?.(result, args) ?? {})
  }
  const audited: Partial<Store> = {
    do: noted,
    settle: (ends) => noted(settle, ends),
    reclaim: (request) => noted(reclaim, request),
    enqueue: async (runs, options = {}) => {
      if (options.transaction !== undefined) return store.enqueue(runs, options)
      // With `isLent` the enqueue never ends the transaction.
      const audits = (answers: readonly Enqueued[]) => runsMade(answers, queuesOf(runs, answers))
      const step = noting((context: StoreContext) => enqueue({ ...context, isLent: true }, runs), audits, entry)
      return write(step, [], (answers) => ({ queues: queuesOf(runs, answers) }))
    },
  }
  return new Proxy(store, {
    get: (own, name) => audited[name as keyof Store] ?? bound(own, name),
  })
}

/** A member of a store, for a proxy that stands in front of it: private fields are reachable only through the store itself. */
export function bound(store: Store, name: string | symbol): unknown {
  const value: unknown = Reflect.get(store, name, store)
  return typeof value === 'function' ? value.bind(store) : value
}

function noting<Args extends unknown[], Result>(
  step: (context: StoreContext, ...args: Args) => Step<Result>,
  audits: (result: Result) => AuditDetail,
  entry: AuditEntry,
): (context: StoreContext, ...args: Args) => Step<Result> {
  return function* (context, ...args) {
    const result = yield* step(context, ...args)
    const outcome = audits(result)
    if (outcome === null) return result
    const { subject = entry.subject } = outcome
    const detail = { ...(entry.detail as object | undefined), ...outcome.detail }
    const hasDetail = Object.keys(detail).length > 0
    yield* writeAudit(context, { ...entry, subject, ...(hasDetail && { detail }) }, yield* clockNow())
    return result
  }
}
