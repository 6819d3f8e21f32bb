import type { Policy } from '../core/queue/policy.ts'
import type { WorkBound } from './bound-work.ts'
import type { Migration } from './migrations/migration.ts'
import type { Lease, NewRun } from './port.ts'
import type { Sweeping } from './prune/sweep.ts'
import type { Raised } from './raise.ts'
import type { EndHooks } from './runs/end-hooks.ts'
import type { RunQuota } from './runs/run-quota.ts'
import type { Steered } from './schedules/schedule-steps.ts'
import type { Statement, Step } from './statement.ts'
import type { StoreContext } from './store-context.ts'
import type { ConfiguredScope } from './tokens/token-steps.ts'

/** Whether a run that a host has leased may start. */
export type HostStart =
  | { readonly go: true }
  | { readonly skip: string }
  | { readonly defer: { readonly until: number; readonly reason: string } }
  | { readonly fail: string }

/** The contributions of a part to the store. Only the name is required. */
export interface StorePart extends EndHooks {
  readonly name: string
  /** Its tables. Migrations of all parts and of the kernel share one numbering. */
  readonly migrations?: readonly Migration[]
  /** The numbers of its migrations, for a part that is left out of this process: the store may still have its tables. */
  readonly versions?: readonly number[]
  /** The part's own queues with their first policies. They cannot be deleted. */
  readonly queues?: Readonly<Record<string, Policy>>
  /**
   * The queues of runs of its kinds of targets, where a kind has a queue of its own; the store itself does not
   * know the kinds.
   */
  readonly kindQueues?: Readonly<Record<string, string>>
  /** Run sources that a retry keeps. The retry of any other run has the source `retry`. */
  readonly sourcesKept?: readonly string[]
  /**
   * Called in the transaction that writes a schedule or the policy of a queue, with what is written: creates the rows that the fields of
   * the part need.
   */
  readonly written?: (context: StoreContext, said: object) => Step<void>
  /**
   * Called in the transaction that enqueues runs, before it writes them; it refuses runs by throwing `invalid`. Runs that only need a place in
   * line, and name no account, are enqueued without it.
   */
  readonly enqueues?: (context: StoreContext, runs: readonly NewRun[]) => Step<void>
  /** Called in the transaction that pauses, resumes or deletes a schedule on request, or puts or lifts a hold on it, after the schedule itself. */
  readonly steered?: (context: StoreContext, steered: Steered) => Step<void>
  /** Called in the transaction in which another part raises something that people may want to be notified of. It must not fail. */
  readonly hears?: (context: StoreContext, raised: readonly Raised[]) => Step<void>
  /** Verbs of its audit lines that are events of their own in the event stream; all others are `changed`. */
  readonly streams?: readonly string[]
  /** Keeps what work of another part may use. */
  readonly bounds?: (context: StoreContext, bound: WorkBound) => Step<void>
  /** What is left in the current period of the budget that the part keeps under this name; null if there is none. */
  readonly tokensLeft?: (context: StoreContext, budget: string) => Step<number | null>
  /**
   * The reasons of deferrals that come with a hold: the time until the next start does not count towards the run's
   * deferral limit.
   */
  readonly heldDeferrals?: readonly string[]
  /**
   * Called for each run that an outside host leases, in the step of the lease: reserves what the run uses, or says why it may not start.
   * Workers ask `begins` instead.
   */
  readonly reserves?: (context: StoreContext, lease: Lease) => Step<HostStart>
  /** The least time between two occurrences of a schedule that the namespace allows; null: any. */
  readonly everyMin?: (context: StoreContext) => Step<number | null>
  /** Counts the runs of namespaces that have a quota of them. */
  readonly quota?: RunQuota
  /** For retention: each removes at most `rowsLeft` rows that belong to no run and no schedule, and returns how many. */
  readonly sweeps?: readonly ((sweeping: Sweeping) => Step<number>)[]
  /** Statements that remove its rows of pruned runs, made by `removeOf`. */
  readonly ofRuns?: readonly Statement[]
  /** The scope that the part sets for the token of this name, even before the token exists. */
  readonly configuredScope?: (context: StoreContext, name: string) => Step<ConfiguredScope | null>
  /** Entries of the part that follow a calendar, which therefore cannot be deleted: names by noun. */
  readonly namesCalendar?: (
    context: StoreContext,
    calendar: string,
  ) => Step<Readonly<Record<string, readonly string[]>>>
  /** Entries of the part that name a queue, which therefore cannot be deleted: names by noun. */
  readonly namesQueue?: (context: StoreContext, queue: string) => Step<Readonly<Record<string, readonly string[]>>>
}
