import { z } from 'zod'
import { BelfryError } from '../../../core/error.ts'
import { limit } from '../../../operations/fields/basic-fields.ts'
import { quoted, refuse } from '../../../operations/input/refuse-input.ts'
import { operation } from '../../../operations/operation.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { plainText } from '../../../operations/schedule/plain-text.ts'
import { type AnswerOf, count, outputOf, text } from '../../../operations/schema/output-schema.ts'
import { deleted } from '../../../operations/show.ts'
import { type Corpus, findCorpus, listCorpora } from '../corpus-row.ts'
import { everyStatus, itemPage } from '../items/list-items.ts'
import { tickOnce } from '../phases/tick.ts'
import { markRoot, refuseForeignRoot, removeMark, rootProblem } from '../tree/root-mark.ts'
import { countItems, noCounts, type Scan, scanTree } from '../tree/scan-tree.ts'
import { watcherFor } from '../watcher/known-watchers.ts'
import { deleteCorpus, putCorpus } from '../write-corpus.ts'
import { type CorpusAnswer, corpusAnswer, corpusSchema, itemAnswer, itemSchema } from './corpus-answer.ts'
import { type CorpusGiven, corpusInput, noteBadRoot, readCorpus } from './corpus-input.ts'
import { backlogOf, type StatusAnswer, statusOf, statusSchema } from './corpus-status.ts'
import { explainOperations } from './explain-verbs.ts'
import { historyOperations } from './history-verbs.ts'
import { itemOperations } from './item-verbs.ts'
import { corpusName, doors, presentIn } from './present-corpus.ts'
import { queueOperations } from './queue-verbs.ts'
import { listShown, showCorpus, showScan, showStatus, showTicked, showWritten } from './show.ts'

const scanSchema = z.strictObject({
  items: count('Items of the corpus.'),
  looked: count('Items that were looked at.'),
  come: count('New items.'),
  gone: count('Items whose documents are gone.'),
  owed: count('Items that are owed now and were not before.'),
})

export type ScanAnswer = AnswerOf<typeof scanSchema>

function scanAnswer({ lookMs: _, ...scan }: Scan): ScanAnswer {
  return scan
}

const backlogSchema = z.strictObject({
  phases: count('Phases that are owed.'),
  everyMs: count('The time between two ticks.'),
  tickMs: count('How long one phase a tick takes for them.'),
  drainMs: count('About how long they take with drain.'),
})
const writtenSchema = z.strictObject({
  answer: z.enum(['created', 'updated', 'unchanged']).describe('The result.'),
  corpus: corpusSchema.describe('The corpus.'),
  scan: scanSchema.describe('What its first scan found.'),
  backlog: backlogSchema.describe('What is owed, and how long it takes.'),
})
export type WrittenAnswer = AnswerOf<typeof writtenSchema>

const writing = {
  noun: 'corpus',
  effect: 'write',
  scope: 'admin',
  persons: true,
  adminForCommands: true,
  takes: ['name'],
  input: corpusInput,
  output: outputOf<WrittenAnswer>()(writtenSchema),
  show: showWritten,
  errors: ['invalid', 'conflict'],
  doors,
} as const

export const create = operation({
  ...writing,
  verb: 'create',
  method: 'POST',
  begins: true,
  says: 'Create a corpus of the documents below a root, or of items in the store.',
  request: 'a corpus',
  examples: [
    { name: 'faq', target: { command: ['/srv/agent.sh'] }, drain: true, budget: { phases: 200 } },
    { name: 'faq', target: { handler: 'write' }, cron: '0 * * * *' },
  ],
  judge: (context, { value, problems }) => write(context, value, [...problems], 'create'),
})

export const put = operation({
  ...writing,
  verb: 'put',
  method: 'PUT',
  idempotent: true,
  begins: true,
  says: 'Create a corpus or replace its definition; what is not given gets its default.',
  request: 'a corpus',
  examples: [{ name: 'faq', target: { command: ['/srv/agent.sh'] }, depthWeight: 1 }],
  judge: (context, { value, problems }) => write(context, value, [...problems], 'put'),
})

async function write(
  context: OperationContext,
  given: CorpusGiven,
  problems: Parameters<typeof readCorpus>[2],
  mode: 'create' | 'put',
): Promise<WrittenAnswer> {
  const spec = readCorpus(given, context, problems)
  noteBadRoot(spec, problems)
  refuse('The corpus', problems)
  const { store, actor } = context
  const found = await store.look(findCorpus, spec.name)
  const rootId = found?.rootId ?? context.randomHex(16)
  refuseForeignRoot(spec, rootId)
  const { answer, corpus } = await store.do(putCorpus, spec, { actor, mode, rootId })
  if (answer === 'exists') throw existing(corpus)
  markRoot(corpus)
  // A tick asks an external watcher, and repeats the question until the watcher answers.
  const scan = scanAnswer(
    spec.watcher === undefined
      ? await scanTree(store, corpus)
      : { items: await store.look(countItems, corpus.id), ...noCounts },
  )
  return { answer, corpus: corpusAnswer(corpus), scan, backlog: await store.look(backlogOf, corpus.id) }
}

function existing({ name }: Corpus): BelfryError {
  return new BelfryError('conflict', `Corpus ${quoted(name)} exists with another definition.`, {
    hint: `Change it with \`belfry corpus put ${name}\`, or choose another name.`,
    details: { corpus: name },
  })
}

const reading = {
  noun: 'corpus',
  effect: 'read',
  scope: 'read',
  takes: ['name'],
  errors: ['invalid', 'not-found'],
  doors,
} as const

export const get = operation({
  ...reading,
  verb: 'get',
  method: 'GET',
  command: ['corpus', 'show'],
  says: 'Show the definition of a corpus.',
  request: 'a request for a corpus',
  input: z.strictObject({ name: corpusName }),
  output: outputOf<CorpusAnswer>()(corpusSchema),
  show: showCorpus,
  examples: [{ name: 'faq' }],
  run: async (context, { name }) => corpusAnswer(await presentIn(context, name)),
})

export const status = operation({
  ...reading,
  verb: 'status',
  says: 'Show how fresh a corpus is, what it does now, and what comes next.',
  request: 'a request for the state of a corpus',
  input: z.strictObject({ name: corpusName }),
  output: outputOf<StatusAnswer>()(statusSchema),
  show: showStatus,
  examples: [{ name: 'faq' }],
  run: async (context, { name }) => statusOf(context, await presentIn(context, name)),
})

const listSchema = z.strictObject({
  corpora: z
    .array(
      z.strictObject({
        name: text('Its name.'),
        root: text('Its folder.').nullable(),
        items: count('Its items.'),
        owed: count('Owed phases.'),
      }),
    )
    .describe('The corpora, where none was named.')
    .exactOptional(),
  items: z.array(itemSchema).describe('The items of the named corpus.').exactOptional(),
})
export type ListAnswer = AnswerOf<typeof listSchema>

export const list = operation({
  ...reading,
  verb: 'list',
  method: 'GET',
  says: 'List corpora, or the items of one by path, a page at a time.',
  request: 'a list of corpora or items',
  takes: ['corpus'],
  input: z.strictObject({
    corpus: corpusName.describe('The corpus whose items are listed. Default: none, and corpora are listed.').optional(),
    owed: z.boolean().describe('Only items with work left. Default: false.').optional(),
    parked: z.boolean().describe('Only items that are parked or unreadable. Default: false.').optional(),
    after: z.string().describe('The last path of the previous page.').optional(),
    limit: limit.optional(),
  }),
  output: outputOf<ListAnswer>()(listSchema),
  show: listShown,
  examples: [{}, { corpus: 'faq', owed: true, limit: 20 }],
  nextPage: ({ items }, { limit: asked = 100 }) => {
    const last = items?.at(-1)
    return items === undefined || last === undefined || items.length < (asked as number) ? null : { after: last.path }
  },
  async run(context, { corpus: name, owed, parked, after, limit: most = 100 }) {
    const { store } = context
    if (name === undefined) {
      const corpora = await store.look(listCorpora)
      const rows = corpora.map(async (one) => {
        const { phases } = await store.look(backlogOf, one.id)
        return { name: one.name, root: one.spec.root, items: await countOf(context, one), owed: phases }
      })
      return { corpora: await Promise.all(rows) }
    }
    const corpus = await presentIn(context, name)
    const statuses = owed === true ? owedStatuses : parked === true ? brokenStatuses : everyStatus
    const items = await store.look(itemPage, corpus.id, { statuses, after, limit: most })
    return { items: items.map((item) => itemAnswer(corpus, item)) }
  },
})
const owedStatuses = ['pending', 'running', 'failed'] as const
const brokenStatuses = ['parked', 'unreadable'] as const

async function countOf(context: OperationContext, corpus: Corpus): Promise<number> {
  return (await statusOf(context, corpus)).items
}

export const remove = operation({
  noun: 'corpus',
  verb: 'delete',
  method: 'DELETE',
  effect: 'destructive',
  scope: 'admin',
  persons: true,
  asksFirst: true,
  idempotent: true,
  takes: ['name'],
  says: 'Delete a corpus and its tick; documents in its root stay where they are.',
  request: 'a deletion of a corpus',
  input: z.strictObject({ name: corpusName }),
  output: z.strictObject({ name: text('The freed name.'), deleted: z.literal(true).describe('Always true.') }),
  show: ({ name }, sheet) => deleted(`corpus ${plainText(name)}`, sheet),
  errors: ['invalid', 'not-found', 'conflict'],
  doors,
  examples: [{ name: 'faq' }],
  async run(context, { name }) {
    const corpus = await presentIn(context, name)
    await context.store.do(deleteCorpus, corpus.name, { actor: context.actor })
    if (rootProblem(corpus) === null) removeMark(corpus.spec.root)
    return { name, deleted: true as const }
  },
})

const acting = {
  noun: 'corpus',
  effect: 'write',
  scope: 'operate',
  takes: ['name'],
  errors: ['invalid', 'not-found'],
  doors,
} as const

export const scan = operation({
  ...acting,
  verb: 'scan',
  says: 'Look at the items of a corpus now.',
  request: 'a scan of a corpus',
  input: z.strictObject({
    name: corpusName,
    full: z.boolean().describe('Build the whole index anew from the documents. Default: false.').optional(),
  }),
  output: scanSchema,
  show: showScan,
  examples: [{ name: 'faq' }, { name: 'faq', full: true }],
  async run(context, { name, full }) {
    const corpus = await presentIn(context, name, { isWrite: true })
    const listed = await (await watcherFor(context, corpus))?.walk()
    return scanAnswer(await scanTree(context.store, corpus, { isFull: full === true, listed }))
  },
})

const tickSchema = z.strictObject({
  stages: z.array(z.looseObject({ stage: text('Its name.'), ms: count('How long it took.') })).describe('The stages.'),
  picked: z
    .strictObject({ path: text('The item.'), phase: text('Its phase.'), run: text('The run.') })
    .nullable()
    .describe('What was enqueued.'),
  next: z.array(z.strictObject({ path: text('The item.'), phase: text('Its phase.') })).describe('Who came after it.'),
  says: text('Why it was picked before the second, or why nothing was.'),
})
export type TickAnswer = AnswerOf<typeof tickSchema>

export const tick = operation({
  ...acting,
  verb: 'tick',
  says: 'Do now what the tick of a corpus does: seed, discover, invalidate, retry, select, enqueue.',
  request: 'a tick of a corpus',
  input: z.strictObject({ name: corpusName }),
  output: outputOf<TickAnswer>()(tickSchema),
  show: showTicked,
  examples: [{ name: 'faq' }],
  async run(context, { name }) {
    const corpus = await presentIn(context, name, { isWrite: true })
    const outside = await watcherFor(context, corpus)
    return (await tickOnce(context.store, corpus, context.clock, { outside })) as unknown as TickAnswer
  },
})

export const corpusOperations = {
  /** Create a corpus of the documents below a root, or of items in the store. */
  create,
  /** Create a corpus or replace its definition; what is not given gets its default. */
  put,
  /** Show the definition of a corpus. */
  get,
  /** Show how fresh a corpus is, what it does now, and what comes next. */
  status,
  /** List corpora, or the items of one by path, a page at a time. */
  list,
  /** Delete a corpus and its tick; documents in its root stay where they are. */
  delete: remove,
  /** Look at the items of a corpus now. */
  scan,
  /** Do now what the tick of a corpus does: seed, discover, invalidate, retry, select, enqueue. */
  tick,
  ...itemOperations,
  ...explainOperations,
  ...historyOperations,
  ...queueOperations,
}
