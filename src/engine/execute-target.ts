import { formatDuration } from '../core/duration.ts'
import type { EndFacts } from '../core/run/expect.ts'
import type { Target } from '../core/target.ts'
import type { Lease } from '../store/port.ts'
import type { StopReason } from '../targets/attempt.ts'
import type { EngineContext } from './engine-context.ts'
import { answerOf, answerOrNothing, type ExecutorAnswer, executorOf, messageOf } from './execute-run.ts'
import { Holding, stopHolding } from './leases/holdings.ts'
import { LeasedAttempt } from './leases/leased-attempt.ts'

/** How a target ended that was executed beside the target of a run, and the beginning of its output. */
export interface TargetEnd {
  readonly facts: EndFacts
  readonly output: string
}

export interface TargetLimits {
  readonly timeoutMs: number
  readonly outputLengthMax: number
  /** Aborted when the answer is no longer wanted. */
  readonly signal: AbortSignal
  /** The payload that the target reads, where the run itself produced it. */
  readonly payload?: unknown
}

/**
 * Executes a target for a run that this worker holds, beside the run's own: by the executor of its kind, with the same secrets,
 * address guard and process group. It does not get the run's payload, because a caller that may write payloads may not start programs. Its
 * output is not the run's. Never rejects.
 */
export async function executeTarget(
  context: EngineContext,
  lease: Lease,
  target: Target,
  { timeoutMs, outputLengthMax, signal, payload }: TargetLimits,
): Promise<TargetEnd> {
  const found = executorOf(target, context.executors)
  if (found === null) return { facts: { error: `this worker cannot execute ${nameOf(target)}` }, output: '' }
  const aside = new Holding({ ...lease, target, payload }, Number.POSITIVE_INFINITY, 0)
  const attempt = new AsideAttempt(context, aside, outputLengthMax)
  const stop = () => stopHolding(aside, signal.reason as StopReason)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  const cancelTimeout = context.clock.after(timeoutMs, () => stopHolding(aside, 'timeout'))
  const came = await answerOrNothing(context, aside, Promise.resolve(answerOf(found.execute, attempt)))
  cancelTimeout()
  signal.removeEventListener('abort', stop)
  return { facts: factsOf(came, aside, timeoutMs), output: attempt.text }
}

function nameOf(target: Target): string {
  const [kind = 'it'] = Object.keys(target)
  return typeof target[kind] === 'string' ? `the ${kind} ${target[kind]}` : `the kind ${kind}`
}

/** An answer after a stop does not count: the target was cut short. */
function factsOf(came: ExecutorAnswer, { stopped }: Holding, timeoutMs: number): EndFacts {
  if (stopped === 'timeout') return { error: `timeout after ${formatDuration(timeoutMs)}` }
  if (stopped !== null || came === 'nothing') return { error: `stopped (${stopped ?? 'no answer'})` }
  return 'threw' in came ? { error: messageOf(came.threw) } : came.ended.facts
}

/** Keeps the beginning of the output in memory. */
class AsideAttempt extends LeasedAttempt {
  readonly #lengthMax: number
  text = ''

  constructor(context: EngineContext, holding: Holding, lengthMax: number) {
    super(context, holding)
    this.#lengthMax = lengthMax
  }

  override output(text: string): void {
    this.text = (this.text + text).slice(0, this.#lengthMax)
  }
}
