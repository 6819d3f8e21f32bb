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
import { type KnownAttempt, listOf, type RunLine, runOf } from './run-answer.ts'
import { attemptSchema, outputSchema, runList, runSchema } from './run-schema.ts'
import { runStatuses } from './run-statuses.ts'
import { attemptsShown, runShown, runsShown } from './show.ts'

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
  says: 'Show a run with everything that is kept of it; with wait, once it has ended or is parked.',
  request: 'a request for a run',
  input: z.strictObject({
    id: runId,
    output: z.boolean().describe('Include the output of its last attempt that has any. Default: false.').optional(),
    ...waitFields(
      'How long to wait for the run to end or park; after that time the run is shown in its current state.',
    ),
  }),
  local: waitLocal,
  output: runSchema,
  show: runShown,
  examples: [{ id: 'r-11' }, { id: 'r-11', output: true }, { id: 'r-11', wait: '30s' }],
  async judge(context, { value, problems: found }, { signal }) {
    const problems = [...found]
    const waitMs = waitMsOf(value, problems)
    refuse(subjectOf('a request for a run'), problems)
    const id = value.id as string
    if (waitMs !== undefined) await untilEnded(context, id, { timeoutMs: waitMs, signal })
    const known = await newestAttempt(context, id)
    const run = { ...runOf(await presentRun(context, id)), ...known }
    return value.output === true ? { ...run, output: await context.store.look(readOutput, id) } : run
  },
})

/** Answers when a run has ended or the time is over. It holds nothing open in the store meanwhile. */
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
  says: 'List runs, newest first, a page at a time; ended and parked ones by when they ended or parked, ready ones in the order in which they start.',
  request: 'a list of runs',
  input: z.strictObject({
    queue: name.describe('Only runs of this queue.').optional(),
    schedule: name.describe('Only runs of this schedule: its name, or the id of a deleted one.').optional(),
    status: z.enum(runStatuses).describe('Only runs with this status.').optional(),
    before: place.describe('The next of the previous page, with the same filter.').optional(),
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
      const { runs, next } = listOf(await store.look(listRuns, { limit: limitDefault, ...onlyGiven(filter) }))
      return { runs: await Promise.all(runs.map((run) => atWork(context, run))), next }
    } catch (error) {
      if (!(error instanceof BelfryError) || error.code !== 'not-found') throw error
      if (queue !== undefined && (await store.look(findQueue, queue)) === null) return throwAbsentQueue(context, queue)
      return throwAbsentSchedule(context, schedule ?? '')
    }
  },
})

async function atWork(context: OperationContext, run: RunLine): Promise<RunLine> {
  return run.lease === null ? run : { ...run, ...(await newestAttempt(context, run.id)) }
}

/** The fields of parts about the newest attempt that has any. */
async function newestAttempt(context: OperationContext, id: string): Promise<{ attempt?: KnownAttempt }> {
  const facts = await factsOf(context, id)
  const newest = Math.max(0, ...facts.keys())
  return newest === 0 ? {} : { attempt: { fence: newest, ...facts.get(newest) } }
}

const attemptMax = 2 ** 31 - 1

export const attempts = operation({
  ...looking,
  verb: 'attempts',
  says: 'List the ended attempts of a run.',
  request: 'a request for attempts',
  input: z.strictObject({ id: runId }),
  output: z.array(attemptSchema),
  show: attemptsShown,
  examples: [{ id: 'r-11' }],
  async run(context, { id }) {
    const found = await context.store.look(listAttempts, id)
    if (found.length === 0) await presentRun(context, id)
    const facts = found.length === 0 ? null : await factsOf(context, id)
    return found.map((attempt) => ({ ...attempt, ...facts?.get(attempt.fence) }))
  },
})

/** The fields of parts about the attempts of a run, by fence. */
async function factsOf(context: OperationContext, id: string): Promise<Map<number, object>> {
  const facts = new Map<number, object>()
  for (const factsBy of context.attemptFacts ?? []) {
    for (const [fence, known] of await factsBy(context, id)) facts.set(fence, { ...facts.get(fence), ...known })
  }
  return facts
}

export const output = operation({
  ...looking,
  verb: 'output',
  says: 'Show the output of a run, or of one attempt.',
  request: 'a request for output',
  input: z.strictObject({
    id: runId,
    attempt: z
      .int()
      .min(1)
      .max(attemptMax)
      .describe('The number of the attempt. Default: the last one with output.')
      .optional(),
  }),
  output: outputSchema.nullable().describe('Null: there is no output.'),
  follow: followOutput,
  // Prints the output and nothing else, because it may be piped.
  show: (found) => found?.text ?? '',
  examples: [{ id: 'r-11' }, { id: 'r-11', attempt: 2 }],
  async run(context, { id, attempt }) {
    const found = await context.store.look(readOutput, id, attempt)
    if (found === null) await presentRun(context, id)
    return found
  },
})

/** A worker writes output at most every 250 ms, so reading more often finds nothing new. */
const lookMs = 250

/** The output of a run as it is written, until the run has ended or is parked. */
async function* followOutput(
  ask: Ask,
  input: Readonly<Record<string, unknown>>,
  clock: Clock,
): AsyncGenerator<Piece, string> {
  let shown: Piece = { attempt: 0, text: '' }
  for (;;) {
    // Reads the run before the output: if the run has ended by then, the output read afterwards is
    // complete.
    const run = await ask(get, { id: input.id })
    const found = await ask(output, input)
    const now = found === null ? shown : { attempt: found.fence, text: found.text }
    // Yields even without new output, because the reader may have gone meanwhile.
    yield { ...now, text: now.text.slice(now.attempt === shown.attempt ? knownLength(shown.text, now.text) : 0) }
    shown = now
    if (run.end !== null || run.parked !== null) return `${run.id} is ${run.end?.status ?? 'parked'}`
    await pause(clock, lookMs)
  }
}

const tailLength = 1_000

/**
 * Where new text begins. Once the middle has been dropped, the new text no longer begins with the old one, so the end of the old text
 * is searched for.
 */
function knownLength(before: string, now: string): number {
  if (now.startsWith(before)) return before.length
  const tail = before.slice(-tailLength)
  const at = now.lastIndexOf(tail)
  return at < 0 ? 0 : at + tail.length
}
