import type { StoreContext } from './context.ts'
import type { Migration } from './migrations/migration.ts'
import type { Sweeping } from './prune/sweep.ts'
import type { Step } from './statement.ts'

/** What a part brings to the store. Everything is optional. */
export interface StorePart {
  /** Its tables. Migrations of all parts and of the kernel are numbered together. */
  readonly migrations?: readonly Migration[]
  /** Of retention: each removes at most `rowsLeft` rows that belong to no run and no schedule, and answers how many. */
  readonly sweeps?: readonly ((sweeping: Sweeping) => Step<number>)[]
  /** What of the part names a queue, which then cannot be deleted: by the noun, the names. */
  readonly namesQueue?: (context: StoreContext, queue: string) => Step<Readonly<Record<string, readonly string[]>>>
}
