import type { AgentState } from '../core/agent/agent-state.ts'
import type { Clock } from '../core/clock.ts'
import type { EndFacts } from '../core/run/expect.ts'
import type { LastEffect } from '../core/run/last-effect.ts'
import type { Usage } from '../core/run/usage.ts'
import type { Utilisation } from '../core/run/utilisation.ts'
import type { Target } from '../core/target.ts'

/**
 * Why an attempt is told to stop before its end. It is the `reason` of the attempt's signal. After `shutdown` and `release` the run
 * returns to its queue without using an attempt.
 */
export type StopReason = 'cancelled' | 'timeout' | 'lease-lost' | 'shutdown' | 'release' | 'budget'

/** The attempt, for its executor. */
export interface Attempt {
  readonly runId: string
  /** The number of the attempt, which is the fence of its lease. */
  readonly fence: number
  /** 128 random bits of the lease: with run and fence they identify this attempt among all stores of the machine. */
  readonly claimId: string
  readonly queue: string
  readonly scheduleId: string | null
  /** The nominal instant of its occurrence; for other work, when it was due. */
  readonly plannedAt: number
  readonly source: string
  /** The account that the attempt uses, of those that its run names. */
  readonly account: string | null
  /** The caller's key or the run's id: equal for all attempts of a run. */
  readonly idempotencyKey: string
  /** W3C trace context of this attempt, to pass on. */
  readonly traceparent: string
  readonly target: Target
  readonly payload: unknown
  /** How much of the answer the caller needs uncut, where that is more than the kind normally keeps. */
  readonly answerBytesMax?: number
  /** Aborted with a `StopReason` by timeout, cancel, lost lease, forced stop and a spent budget. The executor then ends what it began. */
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Appends to the run's output, which people can read while it runs. Never waits and never throws. */
  output(text: string): void
  /** Adds to what the attempt has used. Throws where the report is wrong. */
  usage(report: Usage): void
  /** Reports how much of its account's limits is used. Throws where the report is wrong. */
  utilisation(report: Utilisation): void
  /** Reports what the attempt is doing, for people who watch. Throws where the state is unknown. */
  state(doing: AgentState): void
  /** Resolves once the pending output is small enough; a flooding source waits here. */
  drained(): Promise<void>
}

/** How an attempt ended. `outcomeOf` decides whether that is a success. */
export interface Ended {
  readonly facts: EndFacts
  readonly result?: unknown
  /** The last effect of the attempt, in the step that ends it. */
  readonly effect?: LastEffect
  /** The size up to which the result is stored uncut, where the target needs more than usual. */
  readonly resultBytesMax?: number
}

/**
 * Executes one attempt. It resolves when nothing of the attempt is left running. An error is a failure with that message. After
 * the signal was aborted both an error and an answer mean "stopped", except a success after a cancel and the end of a handler
 * whose worker or lease was ending: these ends count. A synchronous end need not be wrapped in a promise.
 */
export type Execute = (attempt: Attempt) => Ended | Promise<Ended>
