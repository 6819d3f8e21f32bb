import type { Wake } from './news.ts'
import type { Step } from './statement.ts'
import type { StoreContext } from './store-context.ts'

/** What a verb was asked for about one thing, by its id or name, whatever came with it. */
export type About = readonly [subject: string, ...rest: unknown[]]

/** What the line of the audit says beside what was asked for; `null` where nothing was changed. */
export type AuditDetail = { readonly detail: object; readonly subject?: string } | null

/**
 * A write that callers ask the store for by its function: `store.do(cancelRun, id, reason)`. It is one transaction, and the function
 * carries what the store must know of it.
 */
export interface Verb<Args extends unknown[], Result> {
  (context: StoreContext, ...args: Args): Step<Result>
  readonly name: string
  /** What an audited store writes down in the same transaction. Absent: it writes its own line, or no person asks for it. */
  readonly audits?: (result: NoInfer<Result>, args: NoInfer<Args>) => AuditDetail
  /** Whether it can be rehearsed: every caller of it answers from the step alone, and reads nothing that it wrote. */
  readonly rehearses?: true
  /** Which queues a wake-up after it is about. Absent: any. */
  readonly wakes?: (result: NoInfer<Result>, args: NoInfer<Args>) => Pick<Wake, 'queues'>
}

/** A read that callers ask the store for by its function: `store.look(findRun, id)`. It is one snapshot, and writes nothing. */
export interface Read<Args extends unknown[], Result> {
  (context: StoreContext, ...args: Args): Step<Result>
  readonly name: string
  /** Whether each of its statements must see what was committed before it, where a snapshot would be older than what it learns. */
  readonly seesCommits?: true
}

const namesMax = 100

/** Runs by their ids, the first hundred by name. */
export function runsNamed(ids: readonly string[]): { runs: readonly string[]; more?: number } {
  return { runs: ids.slice(0, namesMax), ...(ids.length > namesMax && { more: ids.length - namesMax }) }
}

/** Leases by run and fence, under the word for what became of them. */
export function leasesNamed(
  how: string,
  leases: readonly { readonly runId: string; readonly fence: number }[],
): AuditDetail {
  if (leases.length === 0) return null
  const runs = leases.slice(0, namesMax).map(({ runId, fence }) => `${runId}.${fence}`)
  return { detail: { [how]: runs, ...(leases.length > namesMax && { more: leases.length - namesMax }) } }
}
