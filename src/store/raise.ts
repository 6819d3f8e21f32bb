import type { Target } from '../core/target.ts'
import type { Step } from './statement.ts'
import type { StoreContext } from './store-context.ts'

/** Something that people may want a notification about. */
export interface Raised {
  /** Its event, one of those of the part `notices`: `budget`. */
  readonly event: string
  /** The schedule that it is about, whose receivers come first. */
  readonly scheduleId?: number
  /** The subject, if it is not a schedule: `budget claude-day`. */
  readonly about?: string
  readonly runId?: number
  /** What happened, as words after the subject, if the event alone does not say it: `is used to 80 %`. */
  readonly happened?: string
  readonly reason: string
  /**
   * Its text in a notification about several: subjects of one event that are raised together reach a receiver as one
   * notification.
   */
  readonly paragraph?: string
  /** The receiver where none is named. */
  readonly otherwise?: Target
}

/**
 * Passes it to the parts that listen, in the transaction in which it happened. The namespace is that of the
 * context.
 */
export function* raise(context: StoreContext, raised: readonly Raised[]): Step<void> {
  if (raised.length === 0) return
  for (const { hears } of context.parts) if (hears !== undefined) yield* hears(context, raised)
}
