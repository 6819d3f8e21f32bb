import { apply } from './apply.ts'
import { writeAudit } from './audit.ts'
import { backfill } from './backfill.ts'
import type { StoreContext } from './context.ts'
import { fireRoutine } from './fire-routine.ts'
import { drain, leaseToHost } from './lease-to-host.ts'
import { reclaim } from './leases/reclaim.ts'
import { settle } from './leases/settle.ts'
import type { AuditEntry, Enqueued, LeaseName, Store } from './port.ts'
import { cancel } from './runs/cancel-run.ts'
import { enqueue } from './runs/enqueue.ts'
import { reset } from './runs/reset-run.ts'
import { retry } from './runs/retry-run.ts'
import { runNow } from './schedules/run-now.ts'
import { clearHints, hint } from './schedules/set-hint.ts'
import { clockNow, type Step } from './statement.ts'
import { testNotices } from './test-notice.ts'
import { queuesOf } from './wake.ts'

type Verb<Args extends unknown[], Result> = (context: StoreContext, ...args: Args) => Step<Result>

/** Writes as the store writes, and tells whoever sleeps about these queues. */
export type Write = <Args extends unknown[], Result>(
  verb: Verb<Args, Result>,
  args: Args,
  about?: (result: Result) => { readonly queues?: readonly string[] },
) => Promise<Result>

/** What the line of the audit says beside what was asked for; `null` where nothing was changed. */
type Came = { readonly detail: object; readonly subject?: string } | null

/**
 * A store that writes down who changed something, in the transaction that changes it. Steps that write their own line, and those that no
 * person asks for, are as they are. A step here never ends its transaction early, as some do that are in a hurry.
 */
export function auditedStore(store: Store, entry: AuditEntry, write: Write): Store {
  const noted =
    <Args extends unknown[], Result>(verb: Verb<Args, Result>, came: (result: Result, ...args: Args) => Came) =>
    (...args: Args): Promise<Result> =>
      write(
        noting(verb, (result) => came(result, ...args), entry),
        args,
      )
  const audited: Partial<Store> = {
    cancel: noted(cancel, (answer, id) => {
      return answer === 'cancelled' || answer === 'cancel-requested' ? ofRun(id, { answer }) : null
    }),
    reset: noted(reset, (answer, id) => (answer === 'ready' ? ofRun(id, {}) : null)),
    retry: noted(retry, (answer, id) =>
      'id' in answer && answer.answer !== 'dedupe-key' ? ofRun(id, { answer }) : null,
    ),
    runNow: noted(runNow, (answer) => (answer.answer === 'created' ? { detail: { run: answer.id } } : null)),
    testNotices: noted(testNotices, (answer) => {
      return answer.answer === 'sent' && answer.sent.length > 0
        ? { detail: runsNamed(answer.sent.map(({ run }) => run)) }
        : null
    }),
    // What it made nothing of stands among its events.
    fireRoutine: noted(fireRoutine, (answer) => {
      return answer.answer === 'fired' ? { detail: { run: answer.runId, delivery: answer.deliveryId } } : null
    }),
    backfill: noted(backfill, (answer) => {
      return answer.answer === 'made' && answer.made.length > 0
        ? { detail: runsNamed(answer.made.map(({ runId }) => runId)) }
        : null
    }),
    hint: noted(hint, (answer) => (answer.answer === 'set' ? { detail: {} } : null)),
    clearHints: noted(clearHints, (answer) => (answer === 'cleared' ? { detail: {} } : null)),
    // Whoever hears again what he was granted before has changed nothing.
    leaseToHost: noted(leaseToHost, (answer) => {
      return answer.answer === 'leased' && answer.repeated === undefined ? named('leased', answer.leases) : null
    }),
    drain: noted(drain, (answer) => named('drained', answer.leases)),
    settle: noted(settle, (answers) =>
      named(
        'ended',
        answers.filter(({ answer }) => answer === 'written'),
      ),
    ),
    // Schedules and queues write their own lines; of the runs this one tells.
    apply: noted(apply, (answers) =>
      made(
        answers.flatMap((changed) => (changed.kind === 'runs' ? changed.answers : [])),
        [],
      ),
    ),
    reclaim: noted(reclaim, (taken) => named('reclaimed', taken)),
    enqueue: async (runs, options = {}) => {
      if (options.transaction !== undefined) return store.enqueue(runs, options)
      // The way of a caller's own transaction, which is the one that does not end it.
      const came = (answers: readonly Enqueued[]) => made(answers, queuesOf(runs, answers))
      const step = noting((context: StoreContext) => enqueue({ ...context, isLent: true }, runs), came, entry)
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
    const { subject = entry.subject } = outcome
    const detail = { ...(entry.detail as object | undefined), ...outcome.detail }
    const hasDetail = Object.keys(detail).length > 0
    yield* writeAudit(context, { ...entry, subject, ...(hasDetail && { detail }) }, yield* clockNow())
    return result
  }
}

const namesMax = 100

function ofRun(id: string, detail: object): Came {
  return { detail, subject: `run ${id}` }
}

function named(how: string, leases: readonly LeaseName[]): Came {
  if (leases.length === 0) return null
  const runs = leases.slice(0, namesMax).map(({ runId, fence }) => `${runId}.${fence}`)
  return { detail: { [how]: runs, ...(leases.length > namesMax && { more: leases.length - namesMax }) } }
}

function runsNamed(ids: readonly string[]): { runs: readonly string[]; more?: number } {
  return { runs: ids.slice(0, namesMax), ...(ids.length > namesMax && { more: ids.length - namesMax }) }
}

function made(answers: readonly Enqueued[], queues: readonly string[]): Came {
  const created = answers.filter((answer) => answer.created)
  if (created.length === 0) return null
  const detail = runsNamed(created.map(({ id }) => id))
  // Work for several queues is told with the first of them, and names them all.
  return {
    ...(queues[0] !== undefined && { subject: `queue ${queues[0]}` }),
    detail: { ...detail, ...(queues.length > 1 && { queues }) },
  }
}
