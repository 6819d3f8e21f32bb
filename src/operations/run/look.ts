import { z } from 'zod'
import { BelfryError } from '../../core/error.ts'
import { isRunPlace, runPlaceExpected } from '../../core/page-place.ts'
import { listAttempts } from '../../store/reads/attempts.ts'
import { readOutput } from '../../store/reads/output.ts'
import { findQueue } from '../../store/reads/queue.ts'
import { listRuns } from '../../store/reads/runs.ts'
import { presentRun, throwAbsentQueue, throwAbsentSchedule } from '../absent.ts'
import type { OperationContext } from '../context.ts'
import { limit, limitDefault, name, runId } from '../fields.ts'
import { noted } from '../note.ts'
import { onlyGiven } from '../only-given.ts'
import { everyDoor, operation, subjectOf } from '../operation.ts'
import { refuse } from '../problem.ts'
import { waitFields, waitLocal, waitMsOf } from '../wait-input.ts'
import { attemptSaid, outputSaid, runList, runSaid } from './output.ts'
import { runStatuses } from './status.ts'
import { listOf, runOf } from './view.ts'

/** What all that look at a run have in common. */
const looking = {
  noun: 'run',
  effect: 'read',
  scope: 'read',
  takes: ['id'],
  errors: ['invalid', 'not-found'],
  doors: everyDoor,
} as const

export const get = operation({
  ...looking,
  verb: 'get',
  command: ['run', 'show'],
  says: 'Shows a run with all that was kept of it; with wait once it has ended or is parked.',
  request: 'a look at a run',
  input: z.strictObject({
    id: runId,
    output: z
      .boolean()
      .describe('Whether the output of its last attempt that has any is shown too. Default: false.')
      .optional(),
    ...waitFields('How long to wait for the run to end or park; it is shown as it stands when the time is over.'),
  }),
  local: waitLocal,
  output: runSaid,
  examples: [{ id: 'r-11' }, { id: 'r-11', output: true }, { id: 'r-11', wait: '30s' }],
  async judge(context, { value, problems: found }, { signal }) {
    const problems = [...found]
    const waitMs = waitMsOf(value, problems)
    refuse(subjectOf('a look at a run'), problems)
    const id = value.id as string
    if (waitMs !== undefined) await untilEnded(context, id, { timeoutMs: waitMs, signal })
    const run = runOf(await presentRun(context, id))
    return value.output === true ? { ...run, output: await context.store.look(readOutput, id) } : run
  },
})

/** Answers when a run has ended, or when the time is over. Nothing is held open in the store meanwhile. */
async function untilEnded(
  { waits, actor }: OperationContext,
  id: string,
  how: { readonly timeoutMs: number; readonly signal: AbortSignal | undefined },
): Promise<void> {
  const leave = waits.seats.take(actor)
  try {
    await waits.wait(id, how)
  } catch (error) {
    if (!(error instanceof BelfryError) || error.details?.timeoutMs === undefined) throw error
  } finally {
    leave()
  }
}

const place = noted(z.string().refine(isRunPlace), { expected: runPlaceExpected })

export const list = operation({
  ...looking,
  verb: 'list',
  says: 'Lists runs by when they were made, newest first, a page at a time; ended and parked ones by when they ended or were parked, ready ones in the order in which they start.',
  request: 'a list of runs',
  input: z.strictObject({
    queue: name.describe('Only those of this queue.').optional(),
    schedule: name.describe('Only those of this schedule: its name, or the id of a deleted one.').optional(),
    status: z.enum(runStatuses).describe('Only those that stand so.').optional(),
    before: place.describe('The next of the page before, with the same filter.').optional(),
    limit: limit.optional(),
  }),
  takes: [],
  output: runList,
  examples: [{}, { schedule: 'nightly', status: 'failed', limit: 20 }],
  nextPage: ({ next }) => (next === null ? null : { before: next }),
  async run(context, filter) {
    const { queue, schedule } = filter
    const { store } = context
    try {
      return listOf(await store.look(listRuns, { limit: limitDefault, ...onlyGiven(filter) }))
    } catch (error) {
      if (!(error instanceof BelfryError) || error.code !== 'not-found') throw error
      if (queue !== undefined && (await store.look(findQueue, queue)) === null) return throwAbsentQueue(context, queue)
      return throwAbsentSchedule(context, schedule ?? '')
    }
  },
})

const attemptMax = 2 ** 31 - 1

export const attempts = operation({
  ...looking,
  verb: 'attempts',
  says: 'Tells how the attempts of a run ended.',
  request: 'a look at attempts',
  input: z.strictObject({ id: runId }),
  output: z.array(attemptSaid),
  examples: [{ id: 'r-11' }],
  async run(context, { id }) {
    const found = await context.store.look(listAttempts, id)
    if (found.length === 0) await presentRun(context, id)
    return found
  },
})

export const output = operation({
  ...looking,
  verb: 'output',
  says: 'Shows what a run, or one attempt of it, has put out so far.',
  request: 'a look at output',
  input: z.strictObject({
    id: runId,
    attempt: z
      .int()
      .min(1)
      .max(attemptMax)
      .describe('The number of the attempt. Default: the last that has put something out.')
      .optional(),
  }),
  output: outputSaid.nullable().describe('Null where nothing was put out.'),
  examples: [{ id: 'r-11' }, { id: 'r-11', attempt: 2 }],
  async run(context, { id, attempt }) {
    const found = await context.store.look(readOutput, id, attempt)
    if (found === null) await presentRun(context, id)
    return found
  },
})
