import assert from 'node:assert/strict'
import { z } from 'zod'
import { BelfryError } from '../../core/error.ts'
import type { Enqueued, NewRun } from '../../store/port.ts'
import { withAdded } from '../fields/added-fields.ts'
import { unreadBehind } from '../input/long-list.ts'
import { NameSearch } from '../input/nearest-name.ts'
import { type Reading, read } from '../input/read-input.ts'
import { inWordsOf, type Problem, problemsMax, quoted, refuse } from '../input/refuse-input.ts'
import { everyDoor, operation } from '../operation.ts'
import type { OperationContext } from '../operation-context.ts'
import { createdQueue, type QueueCreated, queueCreatedSchema } from '../queue/queue-created.ts'
import { outputOf, text } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'
import { readRun, runInput } from './run-input.ts'
import { enqueuedShown } from './show.ts'

const enqueueLocal = z.strictObject({
  tx: z.unknown().describe("The caller's own transaction: a pg client inside one, or the SQLite handle.").optional(),
})

export interface EnqueueInput {
  /** A `pg` client inside a transaction, or the SQLite handle. */
  readonly tx?: unknown
}

export type EnqueuedRun =
  | { readonly created: true; readonly id: string; readonly queueCreated?: QueueCreated }
  /** The id is that of an existing run: the same work has this idempotency key, or a live run has the dedupe key. */
  | { readonly created: false; readonly id: string; readonly because: 'idempotency-key' | 'dedupe-key' }

export type EnqueuedItem =
  | EnqueuedRun
  /** The id is that of other work with this idempotency key. */
  | { readonly created: false; readonly id: string; readonly because: 'conflict'; readonly key: string }

const taken = z.strictObject({
  created: z.literal(true).describe('It is a new run.'),
  id: text('The id of the run.'),
  queueCreated: queueCreatedSchema.describe('Its queue, where that is new.').exactOptional(),
})
const known = z.strictObject({
  created: z.literal(false).describe('It is a run that existed before.'),
  id: text('The id of that run.'),
  because: z
    .enum(['idempotency-key', 'dedupe-key'])
    .describe('The same work has this idempotency key, or a live run has the dedupe key.'),
})
const clashing = z.strictObject({
  created: z.literal(false).describe('Nothing was enqueued.'),
  id: text('The id of the run that has the key.'),
  because: z.literal('conflict').describe('Other work has this idempotency key.'),
  key: text('The idempotency key.'),
})

const enqueuedRun = noted(
  outputOf<EnqueuedRun>()(z.union([taken, known]).describe('A new run, or the one that existed before.')),
  { id: 'EnqueuedRun' },
)
const enqueuedItem = noted(
  outputOf<EnqueuedItem>()(z.union([taken, known, clashing]).describe('The result for one item of a list.')),
  { id: 'EnqueuedItem' },
)

const enqueuing = {
  noun: 'run',
  effect: 'write',
  scope: 'operate',
  adminForCommands: true,
  rehearses: true,
  local: enqueueLocal,
  errors: ['invalid', 'conflict', 'quota'],
} as const

export const enqueue = operation({
  ...enqueuing,
  verb: 'enqueue',
  method: 'POST',
  begins: true,
  fieldsAs: 'schedule.put',
  defaultTool: 'Enqueue one run without a schedule. The same idempotencyKey with the same input gives the same run.',
  aliases: [['queue', 'add']],
  says: 'Enqueue a run, once for each idempotency key; other work under a used key is a conflict.',
  request: 'a run',
  input: runInput,
  takes: [],
  output: enqueuedRun,
  doors: everyDoor,
  show: enqueuedShown,
  examples: [
    { target: { handler: 'report' }, payload: { day: 'today' }, idempotencyKey: 'report of today' },
    { queue: 'mail', target: { command: 'mail-out --all' }, notBefore: '2026-12-01T09:00+01:00', timeout: '10m' },
    { target: { handler: 'charge' }, attempts: 8, backoff: { base: '30s', cap: '1h' } },
  ],
  async judge(context, reading, { tx }) {
    const { run, problems } = readRun(reading, context)
    refuse('The run', problems)
    const [answer] = await accept(context, [run], { tx, subject: 'The run', place: () => '' })
    if (answer === undefined) throw new BelfryError('failure', 'The store enqueued no run and gave no reason.')
    if (answer.created || answer.because !== 'conflict') return answer
    const { key, id } = answer
    throw new BelfryError('conflict', `The idempotency key ${quoted(key)} belongs to run ${id}, which is other work.`, {
      hint: 'Use another key for other work.',
      details: { id, key },
    })
  },
})

const runsAtOnceMax = 100_000

const listInput = z.strictObject({
  runs: z.array(runInput).max(runsAtOnceMax).readonly().describe('The runs to enqueue.'),
})

export const enqueueMany = operation({
  ...enqueuing,
  verb: 'enqueueMany',
  fieldsAs: 'enqueue',
  says: 'Enqueue many runs at once: bad input refuses all of them, a conflict only its own item.',
  request: 'a list of runs',
  input: listInput,
  takes: ['runs'],
  output: z.array(enqueuedItem),
  doors: { ...everyDoor, cli: 'A shell enqueues one run at a time; programs enqueue many.' },
  examples: [
    {
      runs: [
        { target: { handler: 'report' }, payload: { day: 'today' } },
        { target: null, queue: 'mail', payload: ['a', 'b'] },
      ],
    },
  ],
  async judge(context, reading, { tx }) {
    const { runs, problems } = readList(reading, context)
    refuse('The list of runs', problems)
    return accept(context, runs, { tx, subject: 'The list of runs', place: (index) => `runs[${index}].` })
  },
})

interface ReadRuns {
  readonly runs: readonly NewRun[]
  readonly problems: readonly Problem[]
}

/** The runs of a list. When some are invalid, each is read on its own to report all its problems, until the refusal is full. */
function readList(reading: Reading<z.output<typeof listInput>>, context: OperationContext): ReadRuns {
  const { value, given } = reading
  const listed = value.runs ?? given.runs
  const isTooLong = Array.isArray(listed) && listed.length > runsAtOnceMax
  if (!Array.isArray(listed) || isTooLong) {
    assert(reading.problems.length > 0, 'the schema refuses anything that is not a list, and a list that is too long')
    return { runs: [], problems: reading.problems }
  }
  const problems = reading.problems.filter(({ field }) => !/^runs\b/.test(field))
  const runs: NewRun[] = []
  const search = new NameSearch()
  const form = withAdded(runInput, context.fields)
  for (const [index, one] of listed.entries()) {
    const sound = value.runs === undefined ? read(form, one, 'a run', search) : { value: one, problems: [] }
    const { run, problems: own } = readRun(sound, context)
    runs.push(run)
    for (const problem of own) problems.push({ ...problem, field: `runs[${index}].${problem.field}` })
    if (problems.length < problemsMax) continue
    return { runs: [], problems: [...unreadBehind('runs', index, listed.length), ...problems] }
  }
  return { runs, problems }
}

interface Acceptance {
  readonly tx: unknown
  readonly subject: string
  /** The prefix of the fields of the run at this index. */
  readonly place: (index: string) => string
}

async function accept(
  context: OperationContext,
  runs: readonly NewRun[],
  { tx, subject, place }: Acceptance,
): Promise<EnqueuedItem[]> {
  const translate = (problem: Problem) => {
    return { ...problem, field: problem.field.replace(/^runs\[(\d+)\]\./, (_, index: string) => place(index)) }
  }
  const answers = await inWordsOf(subject, translate, () =>
    context.store.enqueue(runs, tx === undefined ? {} : { transaction: tx }),
  )
  return answers.map((answer, index) => itemOf(context, answer, runs[index]?.queue ?? 'default'))
}

function itemOf(context: OperationContext, answer: Enqueued, queue: string): EnqueuedItem {
  if (!answer.created) return answer
  const { id, queueCreated } = answer
  return { created: true, id, ...(queueCreated === true && { queueCreated: createdQueue(context, queue) }) }
}
