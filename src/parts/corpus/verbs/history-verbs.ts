import { z } from 'zod'
import type { ItemDocument } from '../../../core/corpus/commit-phase.ts'
import { BelfryError } from '../../../core/error.ts'
import { fieldChange, fieldChanges } from '../../../operations/fields/field-changes.ts'
import { absent } from '../../../operations/not-found.ts'
import { operation } from '../../../operations/operation.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { type AnswerOf, count, instantOutput, outputOf, text } from '../../../operations/schema/output-schema.ts'
import type { Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import type { Corpus } from '../corpus-row.ts'
import { itemPage } from '../items/list-items.ts'
import { repairItem, restoreItem } from '../items/restore-item.ts'
import { bare, copyNames, readCopy } from '../items/snapshots.ts'
import { instantIn } from '../tree/look-item.ts'
import { itemPath } from './corpus-input.ts'
import {
  documentOf,
  ifRevision,
  lookedItem,
  otherRevision,
  presentItem,
  reading,
  subject,
  type WholeItem,
  whole,
  wholeItem,
  writing,
} from './item-verbs.ts'
import { corpusName, presentIn } from './present-corpus.ts'
import { showItem } from './show.ts'
import { showDiff, showHistory, showRepaired } from './show-history.ts'

const snapshotName = z.string().describe('The name of a snapshot, as corpus history lists it.')

const historySchema = z.strictObject({
  path: text('The item.'),
  snapshots: z
    .array(
      z.strictObject({
        snapshot: text('Its name.'),
        at: instantOutput('When it was kept.').nullable(),
        kind: z
          .enum(['cycle', 'rejected', 'replaced', 'unreadable'])
          .describe('Why it was kept: the end of a cycle, a rejected result, or a text that a restore replaced.'),
        bytes: count('The size of its document.'),
      }),
    )
    .describe('Its snapshots, newest first.'),
})
export type HistoryAnswer = AnswerOf<typeof historySchema>
const snapshotsMax = 100

export const history = operation({
  ...reading,
  verb: 'history',
  says: 'List the snapshots of an item, newest first.',
  request: 'a request for the history of an item',
  input: z.strictObject({
    ...subject,
    limit: z.int().min(1).max(snapshotsMax).describe('How many. Default: 20.').optional(),
  }),
  output: outputOf<HistoryAnswer>()(historySchema),
  show: showHistory,
  examples: [{ name: 'faq', path: 'billing/refunds' }],
  async run(context, { name, path, limit = 20 }) {
    const corpus = await presentIn(context, name)
    await presentItem(context, corpus, path)
    return { path, snapshots: await context.store.look(snapshotsOf, corpus, path, limit) }
  },
})

function* snapshotsOf(_: StoreContext, corpus: Corpus, path: string, limit: number) {
  const found: HistoryAnswer['snapshots'][number][] = []
  for (const snapshot of (yield* copyNames(corpus, path)).slice(0, limit)) {
    const copy = yield* readCopy(corpus, path, snapshot)
    const bytes = copy === null ? 0 : Buffer.byteLength(JSON.stringify(copy))
    found.push({ snapshot, at: instantIn(copy?._archivedAt), kind: kindOf(snapshot, copy), bytes })
  }
  return found
}

function kindOf(name: string, copy: ItemDocument | null): HistoryAnswer['snapshots'][number]['kind'] {
  if (copy === null) return 'unreadable'
  if (copy._rejected === true) return 'rejected'
  return name.endsWith('.replaced') ? 'replaced' : 'cycle'
}

/** The document of a snapshot. An unknown snapshot is refused, and so is one that cannot be read. */
async function presentCopy(
  { store }: OperationContext,
  corpus: Corpus,
  path: string,
  name: string,
): Promise<ItemDocument> {
  const { names, copy } = await store.look(copyNamed, corpus, path, name)
  if (!names.includes(name)) {
    throw absent('snapshot', name, names, `List them with \`belfry corpus history ${corpus.name} ${path}\`.`)
  }
  if (copy !== null) return bare(copy)
  throw new BelfryError('conflict', `The snapshot ${name} of ${path} cannot be read.`, {
    hint: `Choose another one: \`belfry corpus history ${corpus.name} ${path}\`.`,
    details: { path, snapshot: name },
  })
}

function* copyNamed(
  _: StoreContext,
  corpus: Corpus,
  path: string,
  name: string,
): Step<{ names: string[]; copy: ItemDocument | null }> {
  const names = yield* copyNames(corpus, path)
  return { names, copy: names.includes(name) ? yield* readCopy(corpus, path, name) : null }
}

const diffSchema = z.strictObject({
  path: text('The item.'),
  from: text('The earlier snapshot.'),
  to: text('The later snapshot; null: what is there now.').nullable(),
  changes: z.array(fieldChange).describe('The fields that differ; what Belfry keeps for itself is left out.'),
})
export type DiffAnswer = AnswerOf<typeof diffSchema>

/** The bookkeeping fields of Belfry and of the original program. */
const books =
  /^_(archived|archivedAt|rejected|phaseState|revision|commit|inputs|structureHash|synthesisCount|generatedAt|\w+Tokens(Avg)?)$/

function written(document: ItemDocument): ItemDocument {
  return Object.fromEntries(Object.entries(document).filter(([name]) => !books.test(name)))
}

export const diff = operation({
  ...reading,
  verb: 'diff',
  says: 'Show what differs between two snapshots of an item, or between one and now.',
  request: 'a comparison of snapshots',
  errors: ['invalid', 'not-found', 'conflict'],
  input: z.strictObject({
    ...subject,
    from: snapshotName.describe('The earlier snapshot. Default: the newest.').optional(),
    to: snapshotName.describe('The later snapshot. Default: none, and it is compared with now.').optional(),
  }),
  output: outputOf<DiffAnswer>()(diffSchema),
  show: showDiff,
  examples: [{ name: 'faq', path: 'billing/refunds' }],
  async run(context, { name, path, from, to }) {
    const corpus = await presentIn(context, name)
    const item = await presentItem(context, corpus, path)
    const first = from ?? (await context.store.look(copyNamed, corpus, path, '')).names[0]
    if (first === undefined) {
      throw new BelfryError('not-found', `The item ${path} has no snapshot yet.`, {
        hint: 'The end of each full cycle keeps one.',
        details: { path },
      })
    }
    const before = await presentCopy(context, corpus, path, first)
    const after = to === undefined ? documentOf(corpus, item) : await presentCopy(context, corpus, path, to)
    return { path, from: first, to: to ?? null, changes: fieldChanges(written(before), written(after)) }
  },
})

export const restore = operation({
  ...writing,
  verb: 'restore',
  takes: ['name', 'path', 'snapshot'],
  says: 'Restore what phases wrote from a snapshot, as an edit; what is there now is kept as a snapshot first.',
  request: 'a restore of an item',
  input: z.strictObject({ ...subject, snapshot: snapshotName, ifRevision }),
  output: outputOf<WholeItem>()(wholeItem),
  show: showItem,
  examples: [{ name: 'faq', path: 'billing/refunds', snapshot: '2026-01-04T09-00-00-000Z' }],
  async run(context, { name, path, snapshot, ifRevision: revision }) {
    const corpus = await presentIn(context, name, { isWrite: true })
    await lookedItem(context, corpus, path)
    await presentCopy(context, corpus, path, snapshot)
    const edited = await context.store.do(restoreItem, name, path, { snapshot, ifRevision: revision })
    if (edited.answer === 'not-found') return whole(context, corpus, { item: await presentItem(context, corpus, path) })
    if (edited.answer === 'other-revision') throw otherRevision(path, revision ?? 0, edited.revision)
    return whole(context, corpus, edited)
  },
})

const repairSchema = z.strictObject({
  repaired: z
    .array(
      z.strictObject({
        path: text('The item.'),
        snapshot: text('The snapshot that took its place.'),
        kept: text('The file below the item with the bytes that could not be read.'),
      }),
    )
    .describe('The documents that can be read again.'),
  left: z
    .array(z.strictObject({ path: text('The item.'), problem: text('Why it could not be repaired.') }))
    .describe('Those that still cannot.'),
})
export type RepairAnswer = AnswerOf<typeof repairSchema>
const repairsMax = 10_000

export const repair = operation({
  ...writing,
  verb: 'repair',
  says: 'Put the newest snapshot in the place of a document that cannot be read, whose bytes are kept.',
  request: 'a repair',
  input: z.strictObject({
    name: corpusName,
    path: itemPath.optional(),
    all: z.boolean().describe('Every unreadable document. Default: false.').optional(),
  }),
  output: outputOf<RepairAnswer>()(repairSchema),
  show: showRepaired,
  examples: [
    { name: 'faq', path: 'billing/refunds' },
    { name: 'faq', all: true },
  ],
  async run(context, { name, path, all = false }) {
    const { store } = context
    const corpus = await presentIn(context, name, { isWrite: true })
    if ((path === undefined) !== all) {
      throw new BelfryError('invalid', 'The repair is refused: give either a path or --all.', {
        hint: `belfry corpus repair ${name} --all`,
      })
    }
    if (path !== undefined) await lookedItem(context, corpus, path)
    const listed = { statuses: ['unreadable'], limit: repairsMax } as const
    const paths = path === undefined ? (await store.look(itemPage, corpus.id, listed)).map((one) => one.path) : [path]
    const answer: { repaired: RepairAnswer['repaired'][number][]; left: RepairAnswer['left'][number][] } = {
      repaired: [],
      left: [],
    }
    for (const one of paths) {
      const done = await store.do(repairItem, name, one)
      if (done.answer === 'repaired') answer.repaired.push({ path: one, snapshot: done.snapshot, kept: done.kept })
      if (done.answer === 'left') answer.left.push({ path: one, problem: done.problem })
    }
    return answer
  },
})

export const historyOperations = {
  /** List the snapshots of an item, newest first. */
  history,
  /** Show what differs between two snapshots of an item, or between one and now. */
  diff,
  /** Restore what phases wrote from a snapshot, as an edit; what is there now is kept as a snapshot first. */
  restore,
  /** Put the newest snapshot in the place of a document that cannot be read, whose bytes are kept. */
  repair,
}
