import { z } from 'zod'
import { type Clock, pause } from '../../core/clock.ts'
import { BelfryError } from '../../core/error.ts'
import { isRunCursor, runCursorExpected } from '../../core/page-cursor.ts'
import { findQueue } from '../../store/reads/find-queue.ts'
import { listAttempts } from '../../store/reads/list-attempts.ts'
import { listRuns } from '../../store/reads/list-runs.ts'
import { readOutput } from '../../store/reads/read-output.ts'
import type { Ask, Piece } from '../door-facts.ts'
import { limit, limitDefault, name, runId } from '../fields/basic-fields.ts'
import { onlyGiven } from '../fields/only-given.ts'
import { refuse } from '../input/refuse-input.ts'
import { waitFields, waitLocal, waitMsOf } from '../input/wait-input.ts'
import { presentRun, throwAbsentQueue, throwAbsentSchedule } from '../not-found.ts'
import { everyDoor, operation, subjectOf } from '../operation.ts'
import type { OperationContext } from '../operation-context.ts'
import { noted } from '../schema/schema-note.ts'
import { listOf, runOf } from './run-answer.ts'
import { attemptSchema, outputSchema, runList, runSchema } from './run-schema.ts'
import { runStatuses } from './run-statuses.ts'
import { attemptsShown, runShown, runsShown } from './show.ts'

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
  method: 'GET',
  defaultTool: 'Show one run: status, payload, result, and with output: true what its last attempt printed.',
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
  output: runSchema,
  show: runShown,
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

const place = noted(z.string().refine(isRunCursor), { expected: runCursorExpected })

export const list = operation({
  ...looking,
  verb: 'list',
  method: 'GET',
  defaultTool:
    'List runs, newest first: status, schedule, and why a run waits or failed. Filter by schedule, queue, status.',
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
  show: runsShown,
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
  output: z.array(attemptSchema),
  show: attemptsShown,
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
  output: outputSchema.nullable().describe('Null where nothing was put out.'),
  follow: followOutput,
  // As it was put out, and nothing else: it may be piped somewhere.
  show: (found) => found?.text ?? '',
  examples: [{ id: 'r-11' }, { id: 'r-11', attempt: 2 }],
  async run(context, { id, attempt }) {
    const found = await context.store.look(readOutput, id, attempt)
    if (found === null) await presentRun(context, id)
    return found
  },
})

/** A worker writes what is put out every 250 ms at most, so that looking more often finds nothing new. */
const lookMs = 250

/** What a run puts out, as it comes, until the run has ended or is parked. */
async function* followOutput(
  ask: Ask,
  input: Readonly<Record<string, unknown>>,
  clock: Clock,
): AsyncGenerator<Piece, string> {
  let shown: Piece = { attempt: 0, text: '' }
  for (;;) {
    // The run first: what it put out before it ended is then in the output that is read behind it.
    const run = await ask(get, { id: input.id })
    const found = await ask(output, input)
    const now = found === null ? shown : { attempt: found.fence, text: found.text }
    // Also where nothing is new: the reader may have gone meanwhile.
    yield { ...now, text: now.text.slice(now.attempt === shown.attempt ? knownLength(shown.text, now.text) : 0) }
    shown = now
    if (run.end !== null || run.parked !== null) return `${run.id} is ${run.end?.status ?? 'parked'}`
    await pause(clock, lookMs)
  }
}

const tailLength = 1_000

/** Where what is new begins. Once the middle is dropped the text is not a longer one any more; its end is looked for. */
function knownLength(before: string, now: string): number {
  if (now.startsWith(before)) return before.length
  const tail = before.slice(-tailLength)
  const at = now.lastIndexOf(tail)
  return at < 0 ? 0 : at + tail.length
}
