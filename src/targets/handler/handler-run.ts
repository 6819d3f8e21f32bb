import { setImmediate as nextTurn } from 'node:timers/promises'
import { inspect } from 'node:util'
import type { AgentState } from '../../core/agent/agent-state.ts'
import { BelfryError } from '../../core/error.ts'
import type { Usage } from '../../core/run/usage.ts'
import type { Utilisation } from '../../core/run/utilisation.ts'
import type { Attempt, StopReason } from '../attempt.ts'

/** The run, for its handler. */
export interface HandlerRun<Payload = unknown> {
  readonly id: string
  readonly payload: Payload
  /** The number of this attempt, from 1. */
  readonly attempt: number
  /** The nominal instant of its occurrence, in epoch ms; for other work, when it was due. */
  readonly plannedAt: number
  readonly source: string
  readonly queue: string
  readonly scheduleId: string | null
  /** The account that this attempt uses, where the run names accounts. */
  readonly account: string | null
  /** Equal for all attempts of the run: use it to do the work only once. */
  readonly idempotencyKey: string
  /** W3C trace context of this attempt, for its calls. */
  readonly traceparent: string
  /** Aborted by timeout, cancel, a lost lease, a forced stop and a spent budget; the reason says which. */
  readonly signal: AbortSignal
  /**
   * Yields to the event loop, and throws `RunStopped` when the run has been stopped meanwhile. Call it now and then in a long
   * computation: otherwise the handler cannot be stopped and its lease cannot be renewed. `state` says what it is doing, for people who
   * watch: `run list` shows it.
   */
  heartbeat(report?: { readonly state?: AgentState }): Promise<void>
  /** Appends a line to the run's output, which people can read while it runs. */
  log(...parts: unknown[]): void
  /** Adds to what this attempt has used: tokens, and money in millionths of a unit. */
  usage(report: Usage): void
  /** Reports how much of a limit of its account is used, with the instant at which the limit resets. */
  utilisation(report: Utilisation): void
}

/**
 * A handler: its return value is stored as the run's result, an error is its failure.
 *
 * It holds a slot of its worker and of its queue's ceiling until it has ended. If it waits for a run that needs the same slot, it
 * waits for ever, unless `wait` has a `timeout` or the handler's signal. Awaiting `stop` or `close` in it waits for the handler
 * itself, until the grace period is over: call them without `await`.
 */
export type Handler<Payload = unknown, Result = unknown> = (run: HandlerRun<Payload>) => Result | Promise<Result>

/** Thrown by `heartbeat`. Its name is the usual one for aborted work. */
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

/** The attempt as its handler sees it. Fields that few handlers use are computed lazily. */
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
  get account() {
    return this.#attempt.account
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

  /** These are bound, so that a handler may destructure the run. */
  get heartbeat() {
    const { id } = this
    const attempt = this.#attempt
    return async ({ state }: { readonly state?: AgentState } = {}) => {
      if (state !== undefined) attempt.state(state)
      await nextTurn()
      if (attempt.signal.aborted) throw new RunStopped(id, attempt.signal.reason as StopReason)
    }
  }

  get usage() {
    const attempt = this.#attempt
    return (report: Usage) => attempt.usage(report)
  }

  get utilisation() {
    const attempt = this.#attempt
    return (report: Utilisation) => attempt.utilisation(report)
  }

  get log() {
    const attempt = this.#attempt
    return (...parts: unknown[]) => attempt.output(`${parts.map(shown).join(' ')}\n`)
  }
}

/** Logs text unchanged and everything else as Node inspects it. A logged value can never fail the run. */
function shown(part: unknown): string {
  try {
    return typeof part === 'string' ? part : inspect(part, { depth: 6, breakLength: Number.POSITIVE_INFINITY })
  } catch {
    return '[cannot be shown]'
  }
}
