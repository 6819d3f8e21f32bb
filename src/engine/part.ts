import type { UsageCap } from '../core/run/usage.ts'
import type { AttemptEnd, Lease } from '../store/port.ts'
import type { EngineContext } from './engine-context.ts'
import type { EventLines } from './events.ts'

/** Work that one worker does for all, repeatedly, in bounded steps. */
export interface Duty {
  readonly name: string
  /** The least time between two rounds; the worker checks every `beatMs`. */
  readonly everyMs: number
  tick(context: EngineContext): Promise<void>
}

/**
 * Whether a leased run starts. `skip` ends it without an attempt; `defer` postpones it until an instant, which uses no attempt
 * either; `fail` uses an attempt, and another one follows unless `retryable` is `false`.
 */
export type Begin =
  /**
   * `isWatched`: the part has reserved something, and its `ended` must see the end of this attempt. `account`: the one of its
   * accounts that the attempt uses. `caps`: what the attempt may use; it is stopped when it reports more.
   */
  | {
      readonly go: true
      readonly isWatched?: boolean
      readonly account?: string | undefined
      readonly caps?: readonly UsageCap[]
    }
  | { readonly skip: string }
  | { readonly defer: { readonly until: number; readonly reason: string } }
  | { readonly fail: string; readonly retryable?: boolean }

/** Why a success becomes a failure. Another attempt follows unless `retryable` is `false`. */
export interface Judged {
  readonly fail: string
  readonly retryable?: false
}

/** What a part adds to a worker. */
export interface EnginePart {
  readonly name: string
  readonly duties?: readonly Duty[]
  /**
   * Called under the lease, before the target starts. Use it only for what depends on the run itself; for everything else a hold
   * prevents the lease. Release in `ended` what you reserve here; `ended` sees the end of every attempt. `signal` aborts when
   * the answer is no longer needed.
   */
  readonly begins?: (lease: Lease, context: EngineContext, signal: AbortSignal) => Promise<Begin>
  /** Whether `begins` has anything to ask about this run. It is called for every run, and must be cheap. Default: true. */
  readonly concerns?: (lease: Lease) => boolean
  /**
   * Called under the lease when the target has succeeded, before anything else follows. A failure here makes the attempt fail.
   * It is called only for runs that `judgesFor` names.
   */
  readonly judges?: (
    lease: Lease,
    context: EngineContext,
    signal: AbortSignal,
    end: Readonly<Pick<AttemptEnd, 'result' | 'usage'>>,
  ) => Promise<Judged | null>
  readonly judgesFor?: (lease: Lease) => boolean
  /**
   * Called under the lease when the target has succeeded, before its end is written. The hooks of the part find the answer in
   * `learned` of the end. The success stands whatever happens here: an error is logged, and a stop ends the wait.
   */
  readonly concludes?: (
    lease: Lease,
    context: EngineContext,
    signal: AbortSignal,
    end: Readonly<Pick<AttemptEnd, 'result' | 'usage'>>,
  ) => Promise<unknown>
  /** Whether `concludes` has anything to ask about this run; as cheap as `concerns`. Default: true. */
  readonly concludesFor?: (lease: Lease) => boolean
  /**
   * Called before a worker fires or leases anything, to clean up after a crash. Other workers may be running. If it fails the
   * worker does not start.
   */
  readonly recovers?: (context: EngineContext, workerId: string) => Promise<void>
  /** How its events are logged. */
  readonly events?: Partial<EventLines>
}
