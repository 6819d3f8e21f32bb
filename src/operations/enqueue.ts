import { z } from 'zod'
import { BelfryError } from '../core/error.ts'
import type { Enqueued, NewRun } from '../store/port.ts'
import type { OperationContext } from './context.ts'
import { readWhole } from './input.ts'
import { inWordsOf, type Problem, quoted, refuse } from './problem.ts'
import { checkedList, type ReadRun, type RunInput, readRun } from './run-input.ts'

const enqueueInput = z.strictObject({ tx: z.unknown().optional() })

export interface EnqueueInput {
  /** The caller's own transaction: a `pg` client inside one, or the SQLite handle. */
  readonly tx?: unknown
}

/** A queue that nobody had named before, and the ceiling that it got. */
export interface QueueCreated {
  readonly name: string
  readonly maxConcurrent: number
}

export type EnqueuedRun =
  | { readonly created: true; readonly id: string; readonly queueCreated?: QueueCreated }
  /** The same work came before with this key, or a live run has the dedupe key: the run is that one. */
  | { readonly created: false; readonly id: string; readonly because: 'idempotency-key' | 'dedupe-key' }

export type EnqueuedItem =
  | EnqueuedRun
  /** Other work came before with this idempotency key: the run is that of the other work. */
  | { readonly created: false; readonly id: string; readonly because: 'conflict'; readonly key: string }

/** Takes work in. Other work under an idempotency key that was used is a conflict. */
export async function enqueue(
  context: OperationContext,
  input: RunInput,
  options: EnqueueInput = {},
): Promise<EnqueuedRun> {
  const reading = readRun(input, context)
  refuse('The run', reading.problems)
  const [answer] = await accept(context, [reading.run], options, { subject: 'The run', place: () => '' })
  if (answer === undefined) throw new BelfryError('failure', 'The store took no run in, and said nothing of it.')
  if (answer.created || answer.because !== 'conflict') return answer
  const { key, id } = answer
  throw new BelfryError('conflict', `The idempotency key ${quoted(key)} belongs to run ${id}, which is other work.`, {
    hint: 'Give other work another key.',
    details: { id, key },
  })
}

/** Takes much work in, in one transaction: bad input refuses all of it, a conflict only its own item. */
export async function enqueueMany(
  context: OperationContext,
  inputs: readonly RunInput[],
  options: EnqueueInput = {},
): Promise<EnqueuedItem[]> {
  const readings = checkedList(inputs).map((input) => readRun(input, context))
  refuse('The list of runs', readings.flatMap(placed))
  const runs = readings.map(({ run }) => run)
  return accept(context, runs, options, { subject: 'The list of runs', place: (index) => `[${index}].` })
}

function placed({ problems }: ReadRun, index: number): Problem[] {
  return problems.map((problem) => ({ ...problem, field: `[${index}].${problem.field}` }))
}

interface Words {
  readonly subject: string
  /** What stands before a field of the run that has this place. */
  readonly place: (index: string) => string
}

async function accept(
  context: OperationContext,
  runs: readonly NewRun[],
  options: EnqueueInput,
  { subject, place }: Words,
): Promise<EnqueuedItem[]> {
  const { tx } = readWhole(enqueueInput, options, { subject, noun: 'the options of an enqueue' })
  const translate = (problem: Problem) => {
    return { ...problem, field: problem.field.replace(/^runs\[(\d+)\]\./, (_, index: string) => place(index)) }
  }
  const answers = await inWordsOf(subject, translate, () =>
    context.store.enqueue(runs, tx === undefined ? {} : { transaction: tx }),
  )
  return answers.map((answer, index) => itemOf(context, answer, runs[index]?.queue ?? 'default'))
}

/** A queue that work names by chance gets the smallest ceiling, and whoever named it is told so. */
function itemOf({ defaultMaxConcurrent }: OperationContext, answer: Enqueued, queue: string): EnqueuedItem {
  if (!answer.created) return answer
  const { id, queueCreated } = answer
  if (queueCreated !== true) return { created: true, id }
  return {
    created: true,
    id,
    queueCreated: { name: queue, maxConcurrent: queue === 'default' ? defaultMaxConcurrent : 1 },
  }
}
