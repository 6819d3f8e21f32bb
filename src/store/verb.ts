import type { Wake } from './news.ts'
import type { Step } from './statement.ts'
import type { StoreContext } from './store-context.ts'

/** Arguments that begin with the id or name of one subject. */
export type About = readonly [subject: string, ...rest: unknown[]]

/** The detail of an audit line; `null` where nothing was changed. */
export type AuditDetail = { readonly detail: object; readonly subject?: string } | null

/**
 * A write that callers run by its function: `store.do(cancelRun, id, reason)`. It is one transaction; the properties of the
 * function say what the store must know about it.
 */
export interface Verb<Args extends unknown[], Result> {
  (context: StoreContext, ...args: Args): Step<Result>
  readonly name: string
  /** The audit line, written in the same transaction. Absent: the verb writes its own line, or no person calls it. */
  readonly audits?: (result: NoInfer<Result>, args: NoInfer<Args>) => AuditDetail
  /**
   * Whether it can be rehearsed: its callers must answer from the step's result alone, and must not read what the step
   * wrote.
   */
  readonly rehearses?: true
  /** Whether it writes even in a rehearsal, because it records something that has really happened. */
  readonly isReal?: true
  /** The queues to wake after it. Absent: any. */
  readonly wakes?: (result: NoInfer<Result>, args: NoInfer<Args>) => Pick<Wake, 'queues'>
}

/** A read that callers run by its function: `store.look(findRun, id)`. It is one snapshot, and writes nothing. */
export interface Read<Args extends unknown[], Result> {
  (context: StoreContext, ...args: Args): Step<Result>
  readonly name: string
  /** Whether each of its statements must see what was committed before it, where one snapshot would be too old. */
  readonly seesCommits?: true
}

const namesMax = 100

/** Run ids for an audit line, the first hundred by name. */
export function runsNamed(ids: readonly string[]): { runs: readonly string[]; more?: number } {
  return { runs: ids.slice(0, namesMax), ...(ids.length > namesMax && { more: ids.length - namesMax }) }
}

/** Leases by run and fence, grouped by the word for their outcome. */
export function leasesNamed(
  how: string,
  leases: readonly { readonly runId: string; readonly fence: number }[],
): AuditDetail {
  if (leases.length === 0) return null
  const runs = leases.slice(0, namesMax).map(({ runId, fence }) => `${runId}.${fence}`)
  return { detail: { [how]: runs, ...(leases.length > namesMax && { more: leases.length - namesMax }) } }
}
