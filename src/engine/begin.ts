import type { Outcome } from '../core/run/verdict.ts'
import type { AttemptEnd } from '../store/port.ts'
import type { EngineContext } from './engine-context.ts'
import { answerOrNothing, messageOf } from './execute-run.ts'
import type { Holding } from './leases/holdings.ts'
import type { Begin, EnginePart } from './part.ts'

/** The parts with a check before a run starts. */
export type Beginners = readonly (Required<Pick<EnginePart, 'name' | 'begins'>> & {
  readonly concerns?: EnginePart['concerns'] | undefined
})[]

/**
 * Asks the parts in order whether a leased run may start. The first refusal decides. Returns the end of the attempt, or `null`
 * where every part lets the run start and nothing stopped it meanwhile.
 */
export async function endBeforeStart(
  context: EngineContext,
  holding: Holding,
  beginners: Beginners,
): Promise<AttemptEnd | null> {
  const outcome = await answerOrNothing(context, holding, firstRefusal(context, holding, beginners))
  // A part that has not answered yet may have reserved something.
  if (outcome === 'nothing') holding.isWatched = true
  const ended = stoppedOutcome(holding) ?? (outcome === 'nothing' ? null : outcome)
  const { runId, fence, scheduleId } = holding.lease
  return ended === null ? null : { runId, fence, scheduleId, outcome: ended, isWatched: holding.isWatched }
}

async function firstRefusal(context: EngineContext, holding: Holding, beginners: Beginners): Promise<Outcome | null> {
  for (const { name, begins, concerns } of beginners) {
    if (holding.stopped !== null) return null
    if (concerns?.(holding.lease) === false) continue
    try {
      const answer = await begins(holding.lease, context, holding.signal)
      if ('go' in answer && answer.isWatched === true) holding.isWatched = true
      if ('go' in answer && answer.account !== undefined) holding.account = answer.account
      if ('go' in answer && answer.caps !== undefined) holding.caps = [...holding.caps, ...answer.caps]
      const outcome = outcomeOf(answer)
      if (outcome !== null) return outcome
    } catch (error) {
      // The commit of the part's reservation may have an unknown result.
      holding.isWatched = true
      // Nothing has begun, so another attempt does no harm, even to a run that must not repeat.
      return { kind: 'failed', reason: `${name} failed before the run: ${messageOf(error)}`, retryable: true }
    }
  }
  return null
}

function outcomeOf(answer: Begin): Outcome | null {
  if ('skip' in answer) return { kind: 'skipped', reason: answer.skip }
  if ('defer' in answer) return { kind: 'deferred', ...answer.defer }
  if ('fail' in answer) return { kind: 'failed', reason: answer.fail, retryable: answer.retryable ?? true }
  return null
}

/** Nothing has begun: a stopped run is released untouched, and a cancelled one ends. */
function stoppedOutcome({ stopped }: Holding): Outcome | null {
  if (stopped === null) return null
  return stopped === 'cancelled' ? { kind: 'cancelled' } : { kind: 'released' }
}
