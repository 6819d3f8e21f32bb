import type { Target } from '../core/target.ts'
import type { Step } from './statement.ts'
import type { StoreContext } from './store-context.ts'

/** Something that people may want to be notified of. */
export interface Raised {
  /** Its event, of those in the part of notifications: `budget`. */
  readonly event: string
  /** The schedule that it is about, whose receivers come first. */
  readonly scheduleId?: number
  /** Where it is about something else: `budget claude-day`. */
  readonly about?: string
  readonly runId?: number
  /** What happened, after the subject, where the event alone does not say it: `is used to 80 %`. */
  readonly happened?: string
  readonly reason: string
  /** What is said of it in a notification of several: those of one event that are raised together reach a receiver as one. */
  readonly paragraph?: string
  /** The receiver where none is named. */
  readonly otherwise?: Target
}

/** Tells the parts that listen, in the transaction in which it happened. The namespace is that of the context. */
export function* raise(context: StoreContext, raised: readonly Raised[]): Step<void> {
  if (raised.length === 0) return
  for (const { hears } of context.parts) if (hears !== undefined) yield* hears(context, raised)
}
