import type { Actor } from './audit/actor.ts'
import type { Step } from './statement.ts'
import type { StoreContext } from './store-context.ts'

export interface Applying {
  readonly context: StoreContext
  /** The config file: it manages what it creates. */
  readonly source: string
  readonly actor: Actor
  /** Whether it takes over entries of other content that no file manages. */
  readonly adopt: boolean
}

export interface AppliedEntry {
  readonly name: string
  /** `unchanged` and `absent` are no change. */
  readonly answer: string
}

/** How the entries of a section are written, all in the transaction that applies the file. */
export interface KeptSection<Entry extends { readonly name: string }, Applied extends AppliedEntry> {
  /** The field of the file, such as `schedules`. */
  readonly name: string
  /** The kind of rows that are locked by name before anything is written. */
  readonly locks?: 'queues' | 'schedules'
  /** Whether an entry that the file no longer names is deleted; default: it is only left unmanaged. */
  readonly deletes?: true
  /** The names of what the file manages. */
  kept(context: StoreContext, source: string): Step<readonly string[]>
  apply(applying: Applying, entry: Entry): Step<Applied>
  /** Deletes or unmanages an entry that the file no longer names; `null` where it is gone already. */
  leave(applying: Applying, name: string): Step<Applied | null>
  /** Stores data that must exist before the entry does. */
  remember?(applying: Applying, entries: readonly Entry[]): Step<void>
}
