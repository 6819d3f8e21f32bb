import type { Change } from '../change-log.ts'

/** One call that took effect in the store: who made it, what it asked for, and what it changed. */
export interface Deed {
  readonly verb: string
  readonly args: readonly unknown[]
  readonly by: Doer
  /** The store's clock when it took effect. */
  readonly now: number
  /** The time that had really passed by then. */
  readonly at: number
  readonly changes: readonly Change[]
}

/** A process, as far as its deeds are judged. */
export interface Doer {
  readonly name: string
  readonly isGone: boolean
  /** The ids under which it is or was known to the store as a worker. */
  readonly workerIds: ReadonlySet<number>
}
