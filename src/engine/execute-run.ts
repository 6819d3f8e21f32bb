import { formatDuration } from '../core/duration.ts'
import { type Capabilities, capabilitiesOf } from '../core/queue/plan-leases.ts'
import { reasonText } from '../core/reason-text.ts'
import { answeredJson, type Expectation, outcomeOf, type RateLimited } from '../core/run/expect.ts'
import { type Usage, usageSum } from '../core/run/usage.ts'
import { type UsagePaths, usageIn } from '../core/run/usage-paths.ts'
import type { Outcome } from '../core/run/verdict.ts'
import { laneNameOf } from '../core/target.ts'
import type { AttemptEnd, Lease } from '../store/port.ts'
import type { Attempt, Ended, Execute, StopReason } from '../targets/attempt.ts'
import type { KindExecutor, TargetKind } from '../targets/kind.ts'
import type { EngineContext } from './engine-context.ts'
import { type Holding, stopHolding } from './leases/holdings.ts'
import { LeasedAttempt } from './leases/leased-attempt.ts'

/** Executes the targets of a kind in this process. */
export interface Executor extends KindExecutor {
  readonly kind: Pick<TargetKind, 'timeoutMs' | 'leaseMs' | 'stopMs' | 'graceMs' | 'knowsItsEnd'>
}

/** The executors of this process, by kind. */
export type Executors = ReadonlyMap<string, Executor>

/** What these executors can execute. */
export function lanesOf(executors: Executors): Capabilities {
  const lanes = [...executors].flatMap(([kind, { execute, named = new Map<string, Execute>() }]) => [
    ...(execute === undefined ? [] : [{ kind }]),
    ...Array.from(named.keys(), (name) => ({ kind, name })),
  ])
  return capabilitiesOf(lanes)
}

/** Asks the executors again what they can execute, such as a new corpus; returns whether the answer changed. */
export async function refreshed(executors: Executors): Promise<boolean> {
  const before = JSON.stringify(lanesOf(executors))
  for (const { refresh } of executors.values()) await refresh?.()
  return JSON.stringify(lanesOf(executors)) !== before
}

/** The stored options of a run that its executor uses. */
interface RunOptions {
  readonly timeoutMs?: number
  readonly expect?: Expectation
  readonly account?: readonly string[]
  readonly usage?: UsagePaths
}

/** The result of an executor: its answer, what it threw, or nothing although it was told to stop. */
export type ExecutorAnswer = { readonly ended: Ended } | { readonly threw: unknown } | 'nothing'

/**
 * Executes one attempt to its end, whatever its target does: throw, hang, flood or ignore a stop. Returns the end to write;
 * synchronously where the target was synchronous, because a promise for each of tens of thousands of runs a second costs more
 * than the runs.
 */
export function execute(
  context: EngineContext,
  holding: Holding,
  conclude: Conclude | null = null,
): AttemptEnd | Promise<AttemptEnd> {
  const { lease } = holding
  const found = executorOf(lease.target, context.executors)
  if (found === null) return releasedEnd(lease)
  const { kind } = found
  const { timeoutMs = found.timeoutMs ?? kind.timeoutMs } = lease.options as RunOptions
  holding.stopMs = kind.stopMs ?? 0
  holding.graceMs = kind.graceMs ?? 0
  if (kind.leaseMs !== undefined && kind.leaseMs > holding.leaseMs) holding.leaseMs = kind.leaseMs
  const cancelTimeout =
    timeoutMs === undefined ? null : context.clock.after(timeoutMs, () => stopHolding(holding, 'timeout'))
  const attempt = new LeasedAttempt(context, holding)
  const over = (came: ExecutorAnswer): AttemptEnd | Promise<AttemptEnd> => {
    cancelTimeout?.()
    const end = endOf(holding, came, { context, kind, timeoutMs })
    const concludes = conclude !== null && end.outcome.kind === 'success' && holding.stopped === null
    // A later stop comes too late: the end stands.
    if (!concludes) context.holdings.over(holding)
    const isWritten = attempt.writer?.close()
    if (concludes) return Promise.resolve(isWritten).then(() => conclude(end))
    return isWritten === undefined ? end : isWritten.then(() => end)
  }
  context.signal('run.executing', lease.runId)
  const came = answerOf(found.execute, attempt)
  return came instanceof Promise ? answerOrNothing(context, holding, came).then(over) : over(came)
}

/**
 * What follows the success of a target before its end is written. It informs the holdings when it is over, and never rejects.
 */
type Conclude = (end: AttemptEnd) => Promise<AttemptEnd>

/** Nothing has begun, so the run is released untouched. */
export function releasedEnd({ runId, fence, scheduleId }: Lease): AttemptEnd {
  return { runId, fence, scheduleId, outcome: { kind: 'released' } }
}

interface Found extends Pick<Executor, 'kind'> {
  readonly execute: Execute
  readonly timeoutMs: number | undefined
}

export function executorOf(target: Lease['target'], executors: Executors): Found | null {
  if (target === null) return null
  const name = Object.keys(target).find((field) => executors.has(field)) ?? ''
  const found = executors.get(name)
  const execute = found?.named?.get(laneNameOf(name, target) as string) ?? found?.execute
  if (found === undefined || execute === undefined) return null
  return { kind: found.kind, execute, timeoutMs: found.timeoutMsOf?.(target) }
}

export function answerOf(run: Execute, attempt: Attempt): ExecutorAnswer | Promise<ExecutorAnswer> {
  try {
    const ended = run(attempt)
    return ended instanceof Promise ? ended.then(endedNow, threwNow) : { ended }
  } catch (threw) {
    return { threw }
  }
}

function endedNow(ended: Ended): ExecutorAnswer {
  return { ended }
}

function threwNow(threw: unknown): ExecutorAnswer {
  return { threw }
}

/** An executor that ignores a stop is abandoned after a while: its slot is worth more than its answer. */
export function answerOrNothing<Answer>(
  context: EngineContext,
  holding: Holding,
  answer: Promise<Answer>,
): Promise<Answer | 'nothing'> {
  const { clock, settings } = context
  return new Promise((resolve) => {
    let cancel: (() => void) | null = null
    const leaveBehind = () => {
      cancel = clock.after(settings.leaveAfterMs + holding.stopMs, () => resolve('nothing'))
    }
    if (holding.stopped === null) holding.whenStopped = leaveBehind
    else leaveBehind()
    answer.then((came) => {
      holding.whenStopped = null
      cancel?.()
      resolve(came)
    })
  })
}

type Ending = Pick<After, 'kind' | 'timeoutMs'> & { readonly context: EngineContext }

function endOf(holding: Holding, came: ExecutorAnswer, { context, ...how }: Ending): AttemptEnd {
  const { lease, stopped } = holding
  const { runId, fence, scheduleId } = lease
  const { expect, account } = lease.options as RunOptions
  const ended = came !== 'nothing' && 'ended' in came ? came.ended : undefined
  const refused = stopped === null ? ended?.facts.rateLimited : undefined
  const limit = account !== undefined || refused?.defersAlways === true ? refused : undefined
  const outcome =
    limit === undefined
      ? outcomeAfter({ came, stopped, expect, overCap: holding.overCap, ...how })
      : deferredBy(limit, account !== undefined && holding.isWatched, context.clock.now())
  const result = ended?.result
  const plain =
    result === undefined ? { runId, fence, scheduleId, outcome } : { runId, fence, scheduleId, outcome, result }
  const end = withRareFacts(plain, ended)
  const usage = reportedUsage(holding, ended) ?? (isCounted(holding, outcome) ? unreported : undefined)
  const utilisation = reportedUtilisation(holding, ended)
  // Nearly every end is plain, and one object for each is enough.
  if (usage === undefined && utilisation === undefined && limit === undefined && !holding.isWatched) return end
  return { ...end, usage, utilisation, rateLimited: limit, isWatched: holding.isWatched }
}

/** Fields that few attempts end with; the other attempts keep one plain object. */
function withRareFacts(end: AttemptEnd, { effect, resultBytesMax }: Partial<Ended> = {}): AttemptEnd {
  return effect === undefined && resultBytesMax === undefined ? end : { ...end, effect, resultBytesMax }
}

/** A run under a limit without a known reset is tried again after a minute. */
const limitUnknownMs = 60_000

/**
 * The provider refused by its limit, through no fault of the run. The part that keeps accounts holds its account until the limit
 * opens; the run itself may go on at once with another account, or once a person unblocks this one.
 */
function deferredBy({ resetAt, hasBegun = true }: RateLimited, isOfAccount: boolean, now: number): Outcome {
  const until = isOfAccount ? now : (resetAt ?? now + limitUnknownMs)
  return { kind: 'deferred', until, reason: 'rate-limited', hasBegun }
}

function reportedUsage({ usage, lease }: Holding, ended: Ended | undefined): Usage | undefined {
  const { usage: paths } = lease.options as RunOptions
  const read = paths === undefined || ended === undefined ? null : answeredJson(ended.facts)
  const answered = paths === undefined || read === null ? ended?.facts.usage : usageIn(paths, read.value)
  return usage === null || answered === undefined ? (usage ?? answered) : usageSum(usage, answered)
}

/** Nothing was reported: what the attempt used is unknown, and it is counted all the same. */
const unreported: Usage = {}

/**
 * Whether the cost counts an attempt that reported nothing: its answer should have said what it used, or it is judged whether
 * it found something to do. Without these attempts the share of no-ops would be that of the expensive runs alone.
 */
function isCounted({ lease }: Holding, { kind }: Outcome): boolean {
  const { usage, expect } = lease.options as RunOptions
  return (kind === 'success' || kind === 'failed') && (usage !== undefined || expect?.noop !== undefined)
}

function reportedUtilisation({ utilisation }: Holding, ended: Ended | undefined): AttemptEnd['utilisation'] {
  const answered = ended?.facts.utilisation
  return utilisation === null || answered === undefined ? (utilisation ?? answered) : [...utilisation, ...answered]
}

interface After {
  readonly kind: Executor['kind']
  readonly came: ExecutorAnswer
  readonly stopped: StopReason | null
  readonly expect: Expectation | undefined
  readonly timeoutMs: number | undefined
  /** How the attempt exceeded its caps. */
  readonly overCap: string | null
}

/**
 * The recorded outcome of an attempt. A stopped attempt counts as stopped, with two exceptions. A success stands although a
 * cancel was requested: recorded as cancelled, a retry would repeat it. And a handler that finished while the worker or the lease
 * was ending has done its work, and knows it.
 */
function outcomeAfter({ kind, came, stopped, expect, timeoutMs, overCap: exceeded }: After): Outcome {
  const own = ownOutcome(came, expect)
  if (stopped === null || standsAfter(stopped, own, { kind, came })) return own
  const stayed = came === 'nothing' ? ', and it did not stop' : ''
  switch (stopped) {
    case 'cancelled':
      // The cancel request has its own reason; only what happened since then is added here.
      return came === 'nothing' ? { kind: 'cancelled', reason: `cancelled${stayed}` } : { kind: 'cancelled' }
    case 'timeout':
      return { kind: 'failed', reason: `timeout after ${formatDuration(timeoutMs ?? 0)}${stayed}` }
    case 'budget':
      return { kind: 'failed', reason: `${exceeded}${stayed}`, retryable: false }
    case 'lease-lost':
      return { kind: 'unknown', reason: `stopped because its lease could not be renewed in time${stayed}` }
    case 'shutdown':
    case 'release':
      return { kind: 'forced-stop' }
  }
}

/** The outcome of the target itself, whether or not it was told to stop. */
function ownOutcome(came: ExecutorAnswer, expect: Expectation | undefined): Outcome {
  if (came === 'nothing') return { kind: 'unknown', reason: 'its executor did not answer' }
  if ('threw' in came) return { kind: 'failed', reason: messageOf(came.threw) }
  return outcomeOf({ facts: came.ended.facts, expect })
}

function standsAfter(stopped: StopReason, own: Outcome, { kind, came }: Pick<After, 'kind' | 'came'>): boolean {
  if (stopped === 'cancelled' || stopped === 'budget') return own.kind === 'success'
  if (stopped === 'timeout' || kind.knowsItsEnd !== true || came === 'nothing') return false
  return 'ended' in came && came.ended.facts.error === undefined
}

/** Anything can be thrown, even values that cannot be turned into text. */
export function messageOf(threw: unknown): string {
  try {
    const text = reasonText(threw instanceof Error ? threw.message : String(threw))
    return text === '' ? 'its executor threw an error without a message' : text
  } catch {
    return 'its executor threw something that cannot be shown'
  }
}

/** Reports the delay: since it was due, and since it was enqueued. */
export function tellStarted({ events }: EngineContext, lease: Lease): void {
  const { runId, fence, queue, scheduleId, source, leasedAt, occurrenceAt, dueAt, enqueuedAt } = lease
  // A run that is no occurrence may be made for a past instant, and is not late for that.
  const wantedAt = occurrenceAt === null ? Math.max(dueAt ?? enqueuedAt, enqueuedAt) : (dueAt ?? enqueuedAt)
  const latenessMs = Math.max(0, leasedAt - wantedAt)
  const queueAgeMs = Math.max(0, leasedAt - enqueuedAt)
  events.tell('run.started', { runId, fence, queue, scheduleId, source, latenessMs, queueAgeMs })
}
