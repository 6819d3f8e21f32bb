import { type AgentState, agentStates } from '../../core/agent/agent-state.ts'
import { BelfryError } from '../../core/error.ts'
import { overCap, type Usage, usageProblem, usageSum } from '../../core/run/usage.ts'
import { type Utilisation, utilisationProblem } from '../../core/run/utilisation.ts'
import { traceparentOf } from '../../core/trace.ts'
import type { Attempt } from '../../targets/attempt.ts'
import type { EngineContext } from '../engine-context.ts'
import { OutputWriter } from '../output-writer.ts'
import { type Holding, renewedBy, stopHolding } from './holdings.ts'

/** An attempt may report often; the newest reports count. */
const utilisationsMax = 20

/** The attempt as its executor sees it; fields that few executors use are computed lazily. */
export class LeasedAttempt implements Attempt {
  readonly #context: EngineContext
  readonly #holding: Holding
  /** Set once the attempt has written output. */
  writer: OutputWriter | null = null
  /** A renewal that carries a state is under way; a newer state goes with the next. */
  #isReporting = false

  constructor(context: EngineContext, holding: Holding) {
    this.#context = context
    this.#holding = holding
  }

  get runId() {
    return this.#holding.lease.runId
  }
  get fence() {
    return this.#holding.lease.fence
  }
  get claimId() {
    return this.#holding.lease.claimId
  }
  get queue() {
    return this.#holding.lease.queue
  }
  get scheduleId() {
    return this.#holding.lease.scheduleId
  }
  get plannedAt() {
    const { occurrenceAt, dueAt, enqueuedAt } = this.#holding.lease
    return occurrenceAt ?? dueAt ?? enqueuedAt
  }
  get source() {
    return this.#holding.lease.source
  }
  get account() {
    return this.#holding.account
  }
  get idempotencyKey() {
    return this.#holding.lease.idempotencyKey ?? this.runId
  }
  get traceparent() {
    const { claimId, options } = this.#holding.lease
    const given = (options as { readonly traceparent?: string }).traceparent
    return traceparentOf({ given, seed: `${claimId} ${this.runId} ${this.fence}` })
  }
  get target() {
    return this.#holding.lease.target ?? {}
  }
  get payload() {
    return this.#holding.lease.payload
  }
  get signal() {
    return this.#holding.signal
  }
  get clock() {
    return this.#context.clock
  }

  /** Output after the end of the attempt is dropped. */
  output(text: string): void {
    if (this.#holding.isOver) return
    this.writer ??= new OutputWriter(this.#context, this.#holding)
    this.writer.write(text)
  }

  usage(report: Usage): void {
    const holding = this.#holding
    const problem = usageProblem(report, holding.usage ?? {})
    if (problem !== null) {
      throw new BelfryError('invalid', `The usage that run ${this.runId} reports is wrong: ${problem}.`)
    }
    if (holding.isOver) return
    holding.usage = usageSum(holding.usage ?? {}, report)
    holding.overCap ??= overCap(holding.usage, holding.caps)
    if (holding.overCap !== null) stopHolding(holding, 'budget')
  }

  utilisation(report: Utilisation): void {
    const holding = this.#holding
    const problem = utilisationProblem(report)
    if (problem !== null) {
      throw new BelfryError('invalid', `The utilisation that run ${this.runId} reports is wrong: ${problem}.`)
    }
    if (!holding.isOver) holding.utilisation = [...(holding.utilisation ?? []), report].slice(-utilisationsMax)
  }

  /** Only a change to or from waiting is written at once; any other goes with the next renewal, so that a busy handler writes no more. */
  state(doing: AgentState): void {
    const holding = this.#holding
    if (!agentStates.includes(doing)) {
      const known = agentStates.join(', ')
      throw new BelfryError(
        'invalid',
        `The state that run ${this.runId} reports is ${String(doing)}; it must be one of ${known}.`,
      )
    }
    if (holding.isOver || holding.state === doing) return
    const isRemarkable = [holding.state, doing].some((each) => each === 'question' || each === 'waiting')
    holding.state = doing
    // What runs beside the attempt, such as its guard, has no lease of its own to renew.
    if (!isRemarkable || this.#isReporting || holding.leaseMs <= 0) return
    this.#isReporting = true
    const written = () => {
      this.#isReporting = false
    }
    this.#context.store.renew([renewedBy(holding)]).then(written, written)
  }

  async drained(): Promise<void> {
    await this.writer?.drained()
  }
}
