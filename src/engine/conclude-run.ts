import type { Outcome } from '../core/run/verdict.ts'
import type { AttemptEnd, Lease } from '../store/port.ts'
import type { EngineContext } from './engine-context.ts'
import { answerOrNothing, messageOf } from './execute-run.ts'
import type { Holding } from './leases/holdings.ts'
import type { EnginePart, Judged } from './part.ts'

type Concluder = Pick<EnginePart, 'name' | 'judges' | 'judgesFor' | 'concludes' | 'concludesFor'>
/** The parts with a check after a target has succeeded. */
export type Concluders = readonly Concluder[]

export function concludersOf(parts: readonly EnginePart[]): Concluders {
  return parts.filter(({ judges, concludes }) => judges !== undefined || concludes !== undefined)
}

/** Of those parts, the ones to ask about this run. */
export function concludersFor(lease: Lease, concluders: Concluders): Concluders {
  if (concluders.length === 0) return concluders
  return concluders.filter((part) => doesJudge(part, lease) || doesConclude(part, lease))
}

function doesJudge({ judges, judgesFor }: Concluder, lease: Lease): boolean {
  return judges !== undefined && judgesFor?.(lease) === true
}

function doesConclude({ concludes, concludesFor }: Concluder, lease: Lease): boolean {
  return concludes !== undefined && concludesFor?.(lease) !== false
}

/**
 * The end of a target that succeeded, as the parts judge it, with the facts they read from the answer. Until they have answered
 * the run counts as at work: a worker that stops waits for them, and a forced stop aborts their signal. What they learn changes no
 * success.
 */
export async function withLearned(
  context: EngineContext,
  holding: Holding,
  concluders: Concluders,
  end: AttemptEnd,
): Promise<AttemptEnd> {
  const judges = concluders.filter((part) => doesJudge(part, holding.lease))
  const judged = judges.length === 0 ? null : await firstRefusal(context, holding, judges, end)
  if (judged !== null) {
    context.holdings.over(holding)
    return { ...end, outcome: judged }
  }
  const learned: Record<string, unknown> = {}
  for (const part of concluders) {
    const { name, concludes } = part
    if (holding.stopped !== null) break
    if (concludes === undefined || !doesConclude(part, holding.lease)) continue
    const asked = async () => concludes(holding.lease, context, holding.signal, end)
    const failed = (error: Error) => context.events.tell('worker.failed', { loop: name, error })
    const answer = await answerOrNothing(context, holding, asked().catch(failed))
    if (answer !== 'nothing' && answer !== undefined) learned[name] = answer
  }
  context.holdings.over(holding)
  return Object.keys(learned).length === 0 ? end : { ...end, learned }
}

/** A check that was stopped did not approve the success, so the attempt ends as stopped. */
async function firstRefusal(
  context: EngineContext,
  holding: Holding,
  concluders: Concluders,
  end: AttemptEnd,
): Promise<Outcome | null> {
  for (const { name, judges } of concluders) {
    if (judges === undefined) continue
    const asked = async () => judges(holding.lease, context, holding.signal, end)
    const failed = (error: Error): Judged => ({ fail: `${name} failed: ${messageOf(error)}` })
    const answer = await answerOrNothing(context, holding, asked().catch(failed))
    if (answer === null) continue
    if (holding.stopped === 'cancelled') return null
    if (answer === 'nothing') return { kind: 'unknown', reason: `${name} did not answer` }
    if (holding.stopped === 'shutdown' || holding.stopped === 'release') return { kind: 'forced-stop' }
    const { fail, retryable } = answer
    return { kind: 'failed', reason: fail, ...(retryable === false && { retryable }) }
  }
  return null
}
