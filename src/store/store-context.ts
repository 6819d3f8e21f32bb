import type { StorePart } from './part.ts'

/** What every verb knows of the store it serves. */
export interface StoreContext {
  readonly ns: number
  readonly namespace: string
  /** The ceiling that the queue `default` is created with. */
  readonly defaultMaxConcurrent: number
  /**
   * The policies of queues as they were last read, by name: a verb that uses one asks whether it is still the same. `null`
   * on SQLite: reading them again costs as little.
   */
  readonly policies: Map<string, string> | null
  /** The step takes part in a caller's own transaction, which may stay open for long and must not hold up others. */
  readonly isLent?: boolean
  /** The parts of this program. */
  readonly parts: readonly StorePart[]
}
