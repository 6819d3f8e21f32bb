import { writeAudit } from './audit.ts'
import { cancel } from './cancel.ts'
import type { StoreContext } from './context.ts'
import { enqueue } from './enqueue.ts'
import { clearHints, hint } from './hint.ts'
import { drain, leaseToHost } from './lease-to-host.ts'
import type { AuditEntry, Enqueued, LeaseName, Store } from './port.ts'
import { reclaim } from './reclaim.ts'
import { reset } from './reset.ts'
import { retry } from './retry.ts'
import { runNow } from './run-now.ts'
import { settle } from './settle.ts'
import { clockNow, type Step } from './statement.ts'
import { queuesOf } from './wake.ts'

type Verb<Args extends unknown[], Result> = (context: StoreContext, ...args: Args) => Step<Result>

/** Writes as the store writes, and tells whoever sleeps about these queues. */
export type Write = <Args extends unknown[], Result>(
  verb: Verb<Args, Result>,
  args: Args,
  about?: (result: Result) => { readonly queues?: readonly string[] },
) => Promise<Result>

/** What a change came to, where the line of the audit is to say more than was asked for; `null` where nothing was changed. */
type Came = object | null

/**
 * A store that writes down who changed something, in the transaction that changes it. Steps that write their own line, and those that no
 * person asks for, are as they are. A step here never ends its transaction early, as some do that are in a hurry.
 */
export function auditedStore(store: Store, entry: AuditEntry, write: Write): Store {
  const noted =
    <Args extends unknown[], Result>(verb: Verb<Args, Result>, came: (result: Result) => Came) =>
    (...args: Args): Promise<Result> =>
      write(noting(verb, came, entry), args)
  const audited: Partial<Store> = {
    cancel: noted(cancel, (answer) => (answer === 'cancelled' || answer === 'cancel-requested' ? { answer } : null)),
    reset: noted(reset, (answer) => (answer === 'ready' ? {} : null)),
    retry: noted(retry, (answer) => ('id' in answer && answer.answer !== 'dedupe-key' ? { answer } : null)),
    runNow: noted(runNow, (answer) => (answer.answer === 'created' ? { run: answer.id } : null)),
    hint: noted(hint, (answer) => (answer.answer === 'set' ? {} : null)),
    clearHints: noted(clearHints, (answer) => (answer === 'cleared' ? {} : null)),
    leaseToHost: noted(leaseToHost, (answer) => (answer.answer === 'leased' ? leased(answer.leases) : null)),
    drain: noted(drain, (answer) => leased(answer.leases)),
    settle: noted(settle, (answers) => leased(answers.filter(({ answer }) => answer === 'written'))),
    reclaim: noted(reclaim, leased),
    enqueue: async (runs, options = {}) => {
      if (options.transaction !== undefined) return store.enqueue(runs, options)
      // The way of a caller's own transaction, which is the one that does not end it.
      const step = noting((context: StoreContext) => enqueue({ ...context, isLent: true }, runs), made, entry)
      return write(step, [], (answers) => ({ queues: queuesOf(runs, answers) }))
    },
  }
  return new Proxy(store, {
    get: (own, name) => audited[name as keyof Store] ?? bound(own, name),
  })
}

function bound(store: Store, name: string | symbol): unknown {
  const value: unknown = Reflect.get(store, name, store)
  return typeof value === 'function' ? value.bind(store) : value
}

function noting<Args extends unknown[], Result>(
  verb: Verb<Args, Result>,
  came: (result: Result) => Came,
  entry: AuditEntry,
): Verb<Args, Result> {
  return function* (context, ...args) {
    const result = yield* verb(context, ...args)
    const outcome = came(result)
    if (outcome === null) return result
    const detail = { ...(entry.detail as object | undefined), ...outcome }
    const hasDetail = Object.keys(detail).length > 0
    yield* writeAudit(context, { ...entry, ...(hasDetail && { detail }) }, yield* clockNow())
    return result
  }
}

const namesMax = 100

function leased(leases: readonly LeaseName[]): Came {
  if (leases.length === 0) return null
  const runs = leases.slice(0, namesMax).map(({ runId, fence }) => `${runId}.${fence}`)
  return { runs, ...(leases.length > namesMax && { more: leases.length - namesMax }) }
}

function made(answers: readonly Enqueued[]): Came {
  const created = answers.filter((answer) => answer.created)
  if (created.length === 0) return null
  const runs = created.slice(0, namesMax).map(({ id }) => id)
  return { runs, ...(created.length > namesMax && { more: created.length - namesMax }) }
}
