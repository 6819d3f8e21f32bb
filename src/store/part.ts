import type { Policy } from '../core/queue/policy.ts'
import type { WorkBound } from './bound-work.ts'
import type { Migration } from './migrations/migration.ts'
import type { NewRun } from './port.ts'
import type { Sweeping } from './prune/sweep.ts'
import type { Raised } from './raise.ts'
import type { EndHooks } from './runs/end-hooks.ts'
import type { RunQuota } from './runs/run-quota.ts'
import type { Steered } from './schedules/schedule-steps.ts'
import type { Statement, Step } from './statement.ts'
import type { StoreContext } from './store-context.ts'
import type { ConfiguredScope } from './tokens/token-steps.ts'

/** What a part adds to the store. Only the name is required. */
export interface StorePart extends EndHooks {
  readonly name: string
  /** Its tables. Migrations of all parts and of the kernel share one numbering. */
  readonly migrations?: readonly Migration[]
  /** The numbers of its migrations where it does not bring them: it is left out of this process, and the store may have its tables. */
  readonly versions?: readonly number[]
  /** The part's own queues with their first policies. They cannot be deleted. */
  readonly queues?: Readonly<Record<string, Policy>>
  /** The queues of runs of its kinds of targets, where these have one of their own: the store knows no kinds. */
  readonly kindQueues?: Readonly<Record<string, string>>
  /** Run sources that a retry keeps. The retry of any other run has the source `retry`. */
  readonly sourcesKept?: readonly string[]
  /** Called in the transaction that writes a schedule or the policy of a queue, with what is written: makes what the fields of the part need. */
  readonly written?: (context: StoreContext, said: object) => Step<void>
  /**
   * Called in the transaction that enqueues runs, before it writes them; it refuses runs by throwing `invalid`. Runs that only need a place in
   * line, and name no account, are enqueued without it.
   */
  readonly enqueues?: (context: StoreContext, runs: readonly NewRun[]) => Step<void>
  /** Called in the transaction that pauses, resumes or deletes a schedule on request, after the schedule itself. */
  readonly steered?: (context: StoreContext, steered: Steered) => Step<void>
  /** Called in the transaction in which another part raises something that people may want to be notified of. It must not fail. */
  readonly hears?: (context: StoreContext, raised: readonly Raised[]) => Step<void>
  /** Keeps what work of another part may use. */
  readonly bounds?: (context: StoreContext, bound: WorkBound) => Step<void>
  /** The reasons of deferrals that come with a hold: the time until the run starts again does not count against it. */
  readonly heldDeferrals?: readonly string[]
  /** Counts the runs of namespaces that have a quota of them. */
  readonly quota?: RunQuota
  /** For retention: each removes at most `rowsLeft` rows that belong to no run and no schedule, and returns how many. */
  readonly sweeps?: readonly ((sweeping: Sweeping) => Step<number>)[]
  /** Statements that remove its rows of pruned runs, made by `removeOf`. */
  readonly ofRuns?: readonly Statement[]
  /** The scope that the part sets for the token of this name, even before the token exists. */
  readonly configuredScope?: (context: StoreContext, name: string) => Step<ConfiguredScope | null>
  /** What in the part follows a calendar, which then cannot be deleted: names by noun. */
  readonly namesCalendar?: (
    context: StoreContext,
    calendar: string,
  ) => Step<Readonly<Record<string, readonly string[]>>>
  /** What in the part names a queue, which then cannot be deleted: names by noun. */
  readonly namesQueue?: (context: StoreContext, queue: string) => Step<Readonly<Record<string, readonly string[]>>>
}
