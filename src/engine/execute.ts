import { formatDuration } from '../core/duration.ts'
import { type Expectation, outcomeOf } from '../core/expect.ts'
import { reasonText } from '../core/reason.ts'
import { traceparentOf } from '../core/trace.ts'
import type { Outcome } from '../core/verdict.ts'
import type { AttemptEnd, Lease } from '../store/port.ts'
import type { Attempt, Ended, Execute, StopReason } from '../targets/executor.ts'
import { attemptName, type EngineContext } from './context.ts'
import { type Holding, stopHolding } from './holdings.ts'
import { OutputWriter } from './output.ts'

/** What can be executed here: handlers by name, and kinds of targets. */
export interface Executors {
  readonly handlers: ReadonlyMap<string, Execute>
  readonly kinds: ReadonlyMap<string, Execute>
}

/** How long an attempt may take where its run does not say; a handler may take as long as it likes. */
const timeoutMsDefault: Readonly<Record<string, number>> = { command: 3_600_000, http: 30_000 }

/** What was stored with the run for its executor. */
interface RunOptions {
  readonly timeoutMs?: number
  readonly expect?: Expectation
  readonly traceparent?: string
}

/** What came of an executor: its answer, what it threw, or nothing at all though it was told to stop. */
type Came = { readonly ended: Ended } | { readonly threw: unknown } | 'nothing'

/**
 * Carries out one attempt to its end, whatever its target does: throw, hang, flood or ignore that it was stopped. The
 * answer is what is to be written of it.
 */
export async function execute(context: EngineContext, holding: Holding, executors: Executors): Promise<AttemptEnd> {
  const { lease } = holding
  const { runId, fence, scheduleId } = lease
  const found = executorOf(lease, executors)
  if (found === null) return { runId, fence, scheduleId, outcome: { kind: 'released' } }
  const output = new OutputWriter(context, holding)
  const options = lease.options as RunOptions
  const timeoutMs = options.timeoutMs ?? timeoutMsDefault[found.kind]
  const cancelTimeout =
    timeoutMs === undefined ? null : context.clock.after(timeoutMs, () => stopHolding(holding, 'timeout'))
  const came = await resultOf(context, holding, found.execute, new LeasedAttempt(context, holding, output))
  cancelTimeout?.()
  // What tells it to stop from here on comes too late: an end that was first stands.
  context.holdings.over(holding)
  await output.close()
  const outcome = outcomeAfter({ came, stopped: holding.stopped, expect: options.expect, timeoutMs })
  const result = came !== 'nothing' && 'ended' in came ? came.ended.result : undefined
  return { runId, fence, scheduleId, outcome, ...(result === undefined ? {} : { result }) }
}

function executorOf({ target }: Lease, { handlers, kinds }: Executors): { kind: string; execute: Execute } | null {
  if (target === null) return null
  const kind = Object.keys(target).find((name) => name === 'handler' || kinds.has(name))
  if (kind === undefined) return null
  const execute = kind === 'handler' ? handlers.get(target.handler as string) : kinds.get(kind)
  return execute === undefined ? null : { kind, execute }
}

/** An executor that does not stop when it is told to is left behind after a while: its slot is worth more than its word. */
function resultOf(context: EngineContext, { controller }: Holding, run: Execute, attempt: Attempt): Promise<Came> {
  const { signal } = controller
  const { clock, settings } = context
  return new Promise((resolve) => {
    let cancel = (): void => undefined
    const answered = (came: Came) => {
      cancel()
      signal.removeEventListener('abort', leaveBehind)
      resolve(came)
    }
    const leaveBehind = () => {
      cancel = clock.after(settings.leaveAfterMs, () => answered('nothing'))
    }
    if (signal.aborted) leaveBehind()
    else signal.addEventListener('abort', leaveBehind, { once: true })
    context.signal('run.executing', attempt.runId)
    answerOf(run, attempt).then(answered)
  })
}

async function answerOf(run: Execute, attempt: Attempt): Promise<Came> {
  try {
    return { ended: await run(attempt) }
  } catch (threw) {
    return { threw }
  }
}

interface After {
  readonly came: Came
  readonly stopped: StopReason | null
  readonly expect: Expectation | undefined
  readonly timeoutMs: number | undefined
}

/**
 * What is told of an attempt. One that was stopped counts as stopped, whatever it still says, with one exception: a
 * handler that came to its end although the worker or the lease was ending has done its work, and knows it.
 */
function outcomeAfter({ came, stopped, expect, timeoutMs }: After): Outcome {
  if (stopped === null || (cameToItsEnd(came) && (stopped === 'shutdown' || stopped === 'lease-lost'))) {
    if (came === 'nothing') return { kind: 'unknown', reason: 'its executor did not answer' }
    if ('threw' in came) return { kind: 'failed', reason: messageOf(came.threw) }
    return outcomeOf({ facts: came.ended.facts, expect })
  }
  const stayed = came === 'nothing' ? ', and it did not stop' : ''
  switch (stopped) {
    case 'cancelled':
      // Why it was asked for stands with the request; only what happened since then is added here.
      return came === 'nothing' ? { kind: 'cancelled', reason: `cancelled${stayed}` } : { kind: 'cancelled' }
    case 'timeout':
      return { kind: 'failed', reason: `timeout after ${formatDuration(timeoutMs ?? 0)}${stayed}` }
    case 'lease-lost':
      return { kind: 'unknown', reason: `stopped because its lease could not be renewed in time${stayed}` }
    case 'shutdown':
      return { kind: 'forced-stop' }
  }
}

function cameToItsEnd(came: Came): boolean {
  return (
    came !== 'nothing' && 'ended' in came && came.ended.facts.kind === 'handler' && came.ended.facts.error === undefined
  )
}

/** Anything can be thrown, also what cannot be turned into text. */
function messageOf(threw: unknown): string {
  try {
    const text = reasonText(threw instanceof Error ? threw.message : String(threw))
    return text === '' ? 'its executor threw an error without a message' : text
  } catch {
    return 'its executor threw something that cannot be shown'
  }
}

/** The attempt as its executor sees it; what few executors ask for is worked out when they do. */
class LeasedAttempt implements Attempt {
  readonly #context: EngineContext
  readonly #holding: Holding
  readonly #output: OutputWriter

  constructor(context: EngineContext, holding: Holding, output: OutputWriter) {
    this.#context = context
    this.#holding = holding
    this.#output = output
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
  get idempotencyKey() {
    return this.#holding.lease.idempotencyKey ?? this.runId
  }
  get traceparent() {
    const { claimId, options } = this.#holding.lease
    const given = (options as RunOptions).traceparent
    return traceparentOf({ given, seed: `${claimId} ${this.runId} ${this.fence}` })
  }
  get target() {
    return this.#holding.lease.target ?? {}
  }
  get payload() {
    return this.#holding.lease.payload
  }
  get signal() {
    return this.#holding.controller.signal
  }
  get clock() {
    return this.#context.clock
  }

  output(text: string): void {
    this.#output.write(text)
  }

  drained(): Promise<void> {
    return this.#output.drained()
  }
}

/** How long it was on its way: from when it was due, and from when it came into the queue. */
export function tellStarted({ events }: EngineContext, lease: Lease): void {
  events.tell('run.started', {
    ...attemptName(lease),
    source: lease.source,
    latenessMs: Math.max(0, lease.leasedAt - (lease.dueAt ?? lease.enqueuedAt)),
    queueAgeMs: Math.max(0, lease.leasedAt - lease.enqueuedAt),
  })
}
