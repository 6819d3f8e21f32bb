import type { Policy } from '../core/queue/policy.ts'
import type { Migration } from './migrations/migration.ts'
import type { Sweeping } from './prune/sweep.ts'
import type { EndHooks } from './runs/end-hooks.ts'
import type { Step } from './statement.ts'
import type { StoreContext } from './store-context.ts'
import type { ConfiguredScope } from './tokens/token-steps.ts'

/** What a part brings to the store. Everything but its name is optional. */
export interface StorePart extends EndHooks {
  readonly name: string
  /** Its tables. Migrations of all parts and of the kernel are numbered together. */
  readonly migrations?: readonly Migration[]
  /** The queues that it has for itself, with the policies that they are created with. They cannot be deleted. */
  readonly queues?: Readonly<Record<string, Policy>>
  /** Sources of its runs that the retry of such a run keeps. The retry of any other run has the source `retry`. */
  readonly sourcesKept?: readonly string[]
  /** Called in the transaction that writes a schedule or the policy of a queue, with what is written: makes what the fields of the part need. */
  readonly written?: (context: StoreContext, said: object) => Step<void>
  /** Of retention: each removes at most `rowsLeft` rows that belong to no run and no schedule, and answers how many. */
  readonly sweeps?: readonly ((sweeping: Sweeping) => Step<number>)[]
  /** Whether the part decides what the token of this name may do, also where nobody has made it yet. */
  readonly configuredScope?: (context: StoreContext, name: string) => Step<ConfiguredScope | null>
  /** What of the part names a queue, which then cannot be deleted: by the noun, the names. */
  readonly namesQueue?: (context: StoreContext, queue: string) => Step<Readonly<Record<string, readonly string[]>>>
}
