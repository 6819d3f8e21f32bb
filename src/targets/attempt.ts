import type { Clock } from '../core/clock.ts'
import type { EndFacts } from '../core/run/expect.ts'
import type { Target } from '../core/target.ts'

/** Why an attempt is told to stop before it has come to its end. It is the `reason` of the attempt's signal. */
export type StopReason = 'cancelled' | 'timeout' | 'lease-lost' | 'shutdown'

/** What an executor is handed of the attempt it makes. */
export interface Attempt {
  readonly runId: string
  /** The number of the attempt, which is the fence of its lease. */
  readonly fence: number
  /** 128 random bits of the lease: with run and fence they name this attempt among all stores of the machine. */
  readonly claimId: string
  readonly queue: string
  readonly scheduleId: string | null
  /** The nominal instant of its occurrence; of work that has none, when it was due. */
  readonly plannedAt: number
  readonly source: string
  /** The caller's key or the run's id: equal for all attempts of a run. */
  readonly idempotencyKey: string
  /** W3C trace context of this attempt, to be handed on. */
  readonly traceparent: string
  readonly target: Target
  readonly payload: unknown
  /** Aborted with a `StopReason` by timeout, cancel, lost lease and forced stop. The executor ends what it began. */
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Adds to the run's output, which people read while it runs. Never waits and never throws. */
  output(text: string): void
  /** Resolves once what was output so far is small enough to go on; a flooding source waits here. */
  drained(): Promise<void>
}

/** How an attempt came to its end. Whether that is a success is judged by `outcomeOf`. */
export interface Ended {
  readonly facts: EndFacts
  /** What is kept as the run's result. */
  readonly result?: unknown
}

/**
 * Carries out one attempt. It answers when nothing of the attempt is left running. What it throws counts as a failure
 * with that message; after the signal was aborted it means "stopped", and so does what it answers, except a success after a
 * cancel and the end of a handler whose worker or lease was ending: those stand. What has ended when it
 * returns need not be wrapped in a promise.
 */
export type Execute = (attempt: Attempt) => Ended | Promise<Ended>
