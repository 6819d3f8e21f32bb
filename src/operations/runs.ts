import { z } from 'zod'
import { BelfryError } from '../core/error.ts'
import { moves, type RunStatus } from '../core/run-state.ts'
import type { CancelAnswer } from '../store/port.ts'
import type { AttemptView, OutputView, RunView } from '../store/view.ts'
import { absentRun, throwAbsentQueue, throwAbsentSchedule } from './absent.ts'
import type { OperationContext } from './context.ts'
import { durationOf } from './duration-input.ts'
import { enqueue, enqueueMany } from './enqueue.ts'
import { read, readWhole } from './input.ts'
import { onlyGiven } from './only-given.ts'
import { refuse } from './problem.ts'
import { listOf, type Run, type RunList, runOf } from './run-view.ts'
import { name, reason } from './schedule-input.ts'
import { type WaitInput, waitInput } from './wait.ts'

async function get(context: OperationContext, id: string): Promise<Run> {
  return runOf(await present(context, id))
}

async function present({ store }: OperationContext, id: string): Promise<RunView> {
  const found = await store.read.run(id)
  if (found === null) throw absentRun(id)
  return found
}

const statuses = Object.keys(moves) as [RunStatus, ...RunStatus[]]
const listInput = z.strictObject({
  queue: name.optional(),
  schedule: name.optional(),
  status: z.enum(statuses).optional(),
  before: z.string().optional(),
  limit: z.int().min(1).max(1_000).optional(),
})
const limitDefault = 100

async function list(context: OperationContext, filter: z.input<typeof listInput> = {}): Promise<RunList> {
  const value = readWhole(listInput, filter, { subject: 'The list', noun: 'a list of runs' })
  const { queue, schedule } = value
  const { read } = context.store
  try {
    return listOf(await read.runs({ limit: limitDefault, ...onlyGiven(value) }))
  } catch (error) {
    if (!(error instanceof BelfryError) || error.code !== 'not-found') throw error
    if (queue !== undefined && (await read.queue(queue)) === null) return throwAbsentQueue(context, queue)
    return throwAbsentSchedule(context, schedule ?? '')
  }
}

async function attempts(context: OperationContext, id: string): Promise<AttemptView[]> {
  const found = await context.store.read.attempts(id)
  if (found.length === 0) await present(context, id)
  return found
}

const outputInput = z.strictObject({ attempt: z.int().min(1).optional() })

async function output(
  context: OperationContext,
  id: string,
  input: z.input<typeof outputInput> = {},
): Promise<OutputView | null> {
  const { attempt } = readWhole(outputInput, input, { subject: 'The question', noun: 'a look at output' })
  const found = await context.store.read.output(id, attempt)
  if (found === null) await present(context, id)
  return found
}

async function wait(context: OperationContext, id: string, input: WaitInput = {}): Promise<Run> {
  const { value, problems: found } = read(waitInput, input, 'a wait')
  const problems = [...found]
  const timeoutMs = durationOf(value, 'timeout', problems)
  refuse('The wait', problems)
  return runOf(await context.waits.wait(id, { timeoutMs, signal: value.signal }))
}

const cancelInput = z.strictObject({ reason: reason.optional() })

async function cancel(
  context: OperationContext,
  id: string,
  input: z.input<typeof cancelInput> = {},
): Promise<{ readonly answer: Exclude<CancelAnswer, 'not-found'> }> {
  const { reason: why } = readWhole(cancelInput, input, { subject: 'The cancellation', noun: 'a cancellation' })
  const answer = await context.store.cancel(id, why ?? `asked for by ${context.actor.name}`)
  if (answer === 'not-found') throw absentRun(id)
  void context.waits.look(id)
  return { answer }
}

const retryInput = z.strictObject({ latest: z.boolean().optional() })

async function retry(
  context: OperationContext,
  id: string,
  input: z.input<typeof retryInput> = {},
): Promise<{ readonly answer: 'created' | 'reset'; readonly id: string }> {
  const value = readWhole(retryInput, input, { subject: 'The retry', noun: 'a retry' })
  const answer = await context.store.retry(id, onlyGiven(value))
  switch (answer.answer) {
    case 'created':
    case 'reset':
      return { answer: answer.answer, id: answer.id }
    case 'dedupe-key':
      throw conflict(
        id,
        `Run ${answer.id} is live and has the dedupe key of run ${id}.`,
        'Wait for it, or cancel it.',
        {
          liveRunId: answer.id,
        },
      )
    case 'still-live':
      throw conflict(id, `Run ${id} has not ended, so there is nothing to retry.`, 'Wait for it, or cancel it.')
    case 'schedule-gone':
      throw conflict(id, `The schedule of run ${id} was deleted and has no latest target.`, 'Retry it without latest.')
    case 'not-found':
      throw absentRun(id)
  }
}

async function reset(
  context: OperationContext,
  id: string,
): Promise<{ readonly id: string; readonly status: 'ready' }> {
  const answer = await context.store.reset(id)
  if (answer === 'not-found') throw absentRun(id)
  if (answer === 'ready') return { id, status: 'ready' }
  const { status } = await present(context, id)
  throw conflict(
    id,
    `Run ${id} is ${status}, not parked.`,
    'A run that has ended is retried; one that is live needs nothing.',
  )
}

function conflict(id: string, message: string, hint: string, details: object = {}): BelfryError {
  return new BelfryError('conflict', message, { hint, details: { id, ...details } })
}

/** The verbs of a run. */
export const runVerbs = {
  /** Takes work in, once for each `idempotencyKey`; with `tx`, as part of the caller's own transaction. */
  enqueue,
  /** Takes much work in at once. Each item has its own answer, in the order given. */
  enqueueMany,
  /** A run with all that was kept of it. */
  get,
  /** Runs newest first; ready ones in the order in which they will go. */
  list,
  /** How the attempts of a run ended. */
  attempts,
  /** What the run, or one attempt of it, has put out so far. */
  output,
  /** Answers with the run once it has ended or is parked. */
  wait,
  /** Ends a run that nobody has leased, and asks the worker of a leased one to end it. */
  cancel,
  /** Makes a new run of an ended one; a parked one is reset. */
  retry,
  /** Gives a parked run its whole budget back. */
  reset,
}
