import { setImmediate as nextTurn } from 'node:timers/promises'
import { inspect } from 'node:util'
import { BelfryError } from '../../core/error.ts'
import type { Attempt, StopReason } from '../attempt.ts'

/** What a handler is handed of the run it executes. */
export interface HandlerRun<Payload = unknown> {
  readonly id: string
  readonly payload: Payload
  /** The number of this attempt, from 1. */
  readonly attempt: number
  /** The nominal instant of its occurrence, in epoch ms; of work that has none, when it was due. */
  readonly plannedAt: number
  readonly source: string
  readonly queue: string
  readonly scheduleId: string | null
  /** Equal for all attempts of the run: what is done under this key twice is to be done once. */
  readonly idempotencyKey: string
  /** W3C trace context of this attempt, for what it calls. */
  readonly traceparent: string
  /** Aborted by timeout, cancel, a lost lease and a forced stop; the reason is the word for it. */
  readonly signal: AbortSignal
  /**
   * Lets everything else in this process go on for a turn, and throws `RunStopped` when the run has been stopped
   * meanwhile. A handler that computes for long calls it now and then: otherwise it could neither be stopped nor would
   * its lease be renewed.
   */
  heartbeat(): Promise<void>
  /** Adds a line to the run's output, which people read while it runs. */
  log(...parts: unknown[]): void
}

/**
 * A handler: what it answers is kept as the run's result, what it throws is its failure.
 *
 * It holds a slot of its worker and a place under its queue's ceiling until it has ended. To wait in it for a run that
 * needs the same slot or place is to wait for ever, unless `wait` has a `timeout` or the handler's signal. To await
 * `stop` or `close` in it is to wait for oneself, until the grace is over: call them without `await`.
 */
export type Handler<Payload = unknown, Result = unknown> = (run: HandlerRun<Payload>) => Result | Promise<Result>

/** What `heartbeat` throws. Its name is the one that aborted work has everywhere. */
export class RunStopped extends BelfryError {
  readonly reason: StopReason

  constructor(runId: string, reason: StopReason) {
    super('unavailable', `The run ${runId} has been stopped: ${reason}.`, {
      hint: 'End what was begun and throw. After a cancel, an answer is recorded as a success; after a timeout it does not count.',
    })
    this.name = 'AbortError'
    this.reason = reason
  }
}

/** The attempt as its handler sees it. What few handlers ask for is worked out when they do. */
export class AttemptRun implements HandlerRun<never> {
  readonly id: string
  readonly payload: never
  readonly attempt: number
  readonly #attempt: Attempt

  constructor(attempt: Attempt) {
    this.#attempt = attempt
    this.id = attempt.runId
    this.payload = attempt.payload as never
    this.attempt = attempt.fence
  }

  get plannedAt() {
    return this.#attempt.plannedAt
  }
  get source() {
    return this.#attempt.source
  }
  get queue() {
    return this.#attempt.queue
  }
  get scheduleId() {
    return this.#attempt.scheduleId
  }
  get idempotencyKey() {
    return this.#attempt.idempotencyKey
  }
  get traceparent() {
    return this.#attempt.traceparent
  }
  get signal() {
    return this.#attempt.signal
  }

  /** Both are bound, so that a handler may take them apart from the run. */
  get heartbeat() {
    const { id } = this
    const attempt = this.#attempt
    return async () => {
      await nextTurn()
      if (attempt.signal.aborted) throw new RunStopped(id, attempt.signal.reason as StopReason)
    }
  }

  get log() {
    const attempt = this.#attempt
    return (...parts: unknown[]) => attempt.output(`${parts.map(shown).join(' ')}\n`)
  }
}

/** A text as it is, everything else as one would look at it. Nothing that is logged can fail the run that logs it. */
function shown(part: unknown): string {
  try {
    return typeof part === 'string' ? part : inspect(part, { depth: 6, breakLength: Number.POSITIVE_INFINITY })
  } catch {
    return '[cannot be shown]'
  }
}
