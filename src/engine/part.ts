import type { Lease } from '../store/port.ts'
import type { EngineContext } from './engine-context.ts'
import type { EventLines } from './events.ts'

/** Something that one worker of all does for all, again and again, in bounded steps. */
export interface Duty {
  readonly name: string
  /** The least time between two rounds; the worker looks every `beatMs`. */
  readonly everyMs: number
  tick(context: EngineContext): Promise<void>
}

/**
 * Whether a leased run starts. `skip` ends it without an attempt; `defer` puts it off until an instant, which uses nothing of its budget either;
 * `fail` uses an attempt, and another one follows unless `retryable` is `false`.
 */
export type Begin =
  | { readonly go: true }
  | { readonly skip: string }
  | { readonly defer: { readonly until: number; readonly reason: string } }
  | { readonly fail: string; readonly retryable?: boolean }

/** What a part brings to a worker. */
export interface EnginePart {
  readonly name: string
  readonly duties?: readonly Duty[]
  /**
   * Asked under the lease, before the target starts: only what depends on the run itself, because a hold keeps everything else from being
   * leased. What the part reserves here it gives back in `ended`, which sees the end of every attempt. `signal` says that the answer is not
   * wanted any more.
   */
  readonly begins?: (lease: Lease, context: EngineContext, signal: AbortSignal) => Promise<Begin>
  /**
   * Called before a worker fires or leases anything, for what a crash left half-made. Other workers may be at work. Where it fails the worker
   * does not start.
   */
  readonly recovers?: (context: EngineContext, workerId: string) => Promise<void>
  /** How its events are logged. */
  readonly events?: Partial<EventLines>
}
