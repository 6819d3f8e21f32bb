import type { StorePart } from './part.ts'

export interface StoreContext {
  readonly ns: number
  readonly namespace: string
  /** The ceiling of the queue `default` when it is created. */
  readonly defaultMaxConcurrent: number
  /**
   * The last read policies of queues, by name; a verb that uses one checks that it is unchanged. `null` on SQLite, where another
   * read is cheap.
   */
  readonly policies: Map<string, string> | null
  /** Whether the step runs in a caller's own transaction, which may stay open for long and must not block others. */
  readonly isLent?: boolean
  readonly parts: readonly StorePart[]
}
