import type { AttemptEnd, Lease } from '../store/port.ts'
import type { EngineContext } from './engine-context.ts'
import { answerOrNothing } from './execute-run.ts'
import type { Holding } from './leases/holdings.ts'
import type { EnginePart } from './part.ts'

/** The parts that want to know more when a target has succeeded. */
export type Concluders = readonly (Required<Pick<EnginePart, 'name' | 'concludes'>> &
  Pick<EnginePart, 'concludesFor'>)[]

export function concludersOf(parts: readonly EnginePart[]): Concluders {
  return parts.flatMap(({ name, concludes, concludesFor }) => {
    return concludes === undefined ? [] : [{ name, concludes, ...(concludesFor !== undefined && { concludesFor }) }]
  })
}

/** Those that want to be asked about a run. */
export function concludersFor(lease: Lease, concluders: Concluders): Concluders {
  return concluders.length === 0 ? concluders : concluders.filter(({ concludesFor }) => concludesFor?.(lease) ?? true)
}

/**
 * The end of a target that succeeded, with what the parts learned. Until they have answered the run counts as at work: a worker
 * that stops waits for them, and a forced stop aborts their signal. The success stands in any case.
 */
export async function withLearned(
  context: EngineContext,
  holding: Holding,
  concluders: Concluders,
  end: AttemptEnd,
): Promise<AttemptEnd> {
  const learned: Record<string, unknown> = {}
  for (const { name, concludes } of concluders) {
    if (holding.stopped !== null) break
    const asked = async () => concludes(holding.lease, context, holding.signal)
    const failed = (error: Error) => context.events.tell('worker.failed', { loop: name, error })
    const answer = await answerOrNothing(context, holding, asked().catch(failed))
    if (answer !== 'nothing' && answer !== undefined) learned[name] = answer
  }
  context.holdings.over(holding)
  return Object.keys(learned).length === 0 ? end : { ...end, learned }
}
