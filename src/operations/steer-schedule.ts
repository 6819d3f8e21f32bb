import { z } from 'zod'
import { BelfryError } from '../core/error.ts'
import type { HintKind } from '../store/port.ts'
import { presentSchedule, throwAbsentSchedule } from './absent.ts'
import type { OperationContext } from './context.ts'
import { durationFields, durationOf, inUnits } from './duration-input.ts'
import { type HintInput, readHint } from './hint-input.ts'
import { read, readWhole } from './input.ts'
import { instant, over } from './instant.ts'
import { onlyGiven } from './only-given.ts'
import { inWordsOf, type Problem, quoted, refuse } from './problem.ts'
import { payload, reason } from './schedule-input.ts'
import { type Schedule, scheduleOf } from './schedule-view.ts'

const pauseInput = z.strictObject({ until: instant.optional(), ...durationFields('for'), reason: reason.optional() })

/** Stops a schedule for a while, until an instant, or without either until it is resumed. What is at work finishes. */
export async function pause(
  context: OperationContext,
  name: string,
  input: z.input<typeof pauseInput> = {},
): Promise<Schedule> {
  const { store, actor } = context
  const { value, problems: found } = read(pauseInput, input, 'a pause')
  const problems: Problem[] = [...found]
  const forMs = durationOf(value, 'for', problems)
  if (value.until !== undefined && forMs !== undefined) {
    problems.push({ field: 'until', problem: 'is given beside for', expected: 'only one of the two' })
  }
  const now = await store.read.now()
  const until = forMs === undefined ? value.until : now + forMs
  if (until !== undefined && until <= now) problems.push(over('until', until, now))
  refuse('The pause', problems)
  const why = value.reason ?? `asked for by ${actor.name}`
  const answer = await store.pauseSchedule(name, { ...onlyGiven({ until }), reason: why, actor })
  return answer === 'not-found' ? throwAbsentSchedule(context, name) : shown(context, name)
}

/** Ends every pause of a schedule. What passed meanwhile is not made up for. */
export async function resume(
  context: OperationContext,
  name: string,
): Promise<{ readonly resumed: boolean; readonly schedule: Schedule }> {
  const answer = await context.store.resumeSchedule(name, { actor: context.actor })
  if (answer === 'not-found') return throwAbsentSchedule(context, name)
  return { resumed: answer === 'resumed', schedule: await shown(context, name) }
}

const runNowInput = z.strictObject({ force: z.boolean().optional(), payload: payload.optional() })

/** Makes a run of a schedule now, beside its occurrences. A live run is in its way as the overlap rule says. */
export async function run(
  context: OperationContext,
  name: string,
  input: z.input<typeof runNowInput> = {},
): Promise<{ readonly id: string; readonly kept?: 'held' | 'overlap' }> {
  const value = readWhole(runNowInput, input, { subject: 'The run', noun: 'a run-now' })
  const answer = await context.store.runNow(name, onlyGiven(value))
  switch (answer.answer) {
    case 'created':
      return onlyGiven({ id: answer.id, kept: answer.kept }) as { id: string }
    case 'overlap':
      throw new BelfryError('conflict', `Run ${answer.liveRunId} of schedule ${quoted(name)} has not ended.`, {
        hint: 'Wait for it or cancel it, or insist with force: true.',
        details: { schedule: name, liveRunId: answer.liveRunId },
      })
    case 'not-found':
      return throwAbsentSchedule(context, name)
  }
}

/** Gives a schedule a hint, in place of the one of its kind. Without an instant the next run waits for another's end. */
export async function hint(
  context: OperationContext,
  name: string,
  input: HintInput,
): Promise<{ readonly nextRunAt: number | null; readonly waitsFor: string | null }> {
  const { store, actor } = context
  const given = readHint(input, { now: await store.read.now(), author: actor.name })
  const translate = (problem: Problem) => inHintWords(problem, input)
  const answer = await inWordsOf('The hint', translate, () => store.hint(name, given))
  if (answer.answer === 'not-found') return throwAbsentSchedule(context, name)
  return { nextRunAt: answer.nextRunAt, waitsFor: answer.waitsFor }
}

/** The store knows a hint by its kind, and of an interval hint the ms. */
function inHintWords({ field, problem, expected }: Problem, { every }: HintInput): Problem {
  if (field === 'kind') return { field: every === undefined ? 'everyMs' : 'every', problem: 'is given', expected }
  if (field !== 'ms') return { field, problem, expected }
  if (every === undefined) return { field: 'everyMs', problem, expected }
  return { field: 'every', problem: inUnits(problem), expected: inUnits(expected) }
}

const hintKinds = ['interval', 'oneshot'] as const
const clearInput = z.strictObject({ kinds: z.array(z.enum(hintKinds)).readonly().optional() })

/** Takes hints away; the schedule goes on as if they had never been given. */
export async function clearHints(
  context: OperationContext,
  name: string,
  input: z.input<typeof clearInput> = {},
): Promise<{ readonly cleared: readonly HintKind[] }> {
  const { kinds = hintKinds } = readWhole(clearInput, input, { subject: 'The clearing', noun: 'a clearing of hints' })
  const answer = await context.store.clearHints(name, kinds)
  return answer === 'not-found' ? throwAbsentSchedule(context, name) : { cleared: kinds }
}

async function shown(context: OperationContext, name: string): Promise<Schedule> {
  return scheduleOf(await presentSchedule(context, name))
}
