import { z } from 'zod'
import type { ItemDocument } from '../../../core/corpus/commit-phase.ts'
import { BelfryError } from '../../../core/error.ts'
import { patched } from '../../../operations/fields/patch.ts'
import { absent } from '../../../operations/not-found.ts'
import { operation } from '../../../operations/operation.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { type AnswerOf, count, flag, outputOf, text } from '../../../operations/schema/output-schema.ts'
import type { Corpus } from '../corpus-row.ts'
import { deleteItem as deleteItemIn, editItem, plantItem, putStored, unreadable } from '../items/edit-item.ts'
import type { Item } from '../items/item-row.ts'
import { itemPaths, readItem } from '../items/list-items.ts'
import { seedlings, seedProblem, seedsMax } from '../tree/auto-seed.ts'
import { confined, itemPathIn, parsed, readDocument } from '../tree/document-file.ts'
import { wouldBe } from '../tree/look-item.ts'
import { rootProblem } from '../tree/root-mark.ts'
import { knownItems, lookTogether } from '../tree/scan-tree.ts'
import { type Seen, seeItem } from '../tree/see-item.ts'
import { watcherFor } from '../watcher/known-watchers.ts'
import { itemAnswer, itemSchema } from './corpus-answer.ts'
import { itemPath, pattern } from './corpus-input.ts'
import { corpusName, doors, presentIn, rootAway, seenRoot } from './present-corpus.ts'
import { showItem, showSeeded } from './show.ts'

export const subject = { name: corpusName, path: itemPath }
export const reading = {
  noun: 'corpus',
  effect: 'read',
  scope: 'read',
  takes: ['name', 'path'],
  errors: ['invalid', 'not-found'],
  doors,
} as const
export const writing = {
  ...reading,
  effect: 'write',
  scope: 'operate',
  errors: ['invalid', 'not-found', 'conflict'],
} as const

/**
 * The item at this path, for a reader; an unknown one is refused. If this process sees the item's files, the item is shown as the next look
 * will find it. Nothing is written.
 */
export async function presentItem(context: OperationContext, corpus: Corpus, path: string): Promise<Item> {
  const { known, seen } = await seenNow(context, corpus, path)
  return seen === null ? known : await context.store.look(wouldBe, corpus, seen)
}

/** The item at this path, for a write; an unknown one is refused. If this process sees the item's files, it looks at the item first. */
export async function lookedItem(context: OperationContext, corpus: Corpus, path: string): Promise<Item> {
  const { store } = context
  const { known, seen } = await seenNow(context, corpus, path)
  if (seen === null) return known
  await store.do(lookTogether, corpus.name, [seen])
  return (await store.look(readItem, corpus.id, path)) ?? known
}

/** The row of an item, and what its files say now; null if this process does not see them, or a phase is at work. */
async function seenNow(
  { store }: OperationContext,
  corpus: Corpus,
  path: string,
): Promise<{ readonly known: Item; readonly seen: Seen | null }> {
  const { root } = corpus.spec
  const isSeen = root !== null && seenRoot(corpus)
  if (isSeen) confined(root, path)
  const known = await store.look(readItem, corpus.id, path)
  if (known !== null) {
    return { known, seen: isSeen && known.runId === null ? await seeItem(corpus, known, { known }) : null }
  }
  const paths = await store.look(itemPaths, corpus.id, '', 1_000)
  throw absent('item', path, paths, `List its items with \`belfry corpus list ${corpus.name}\`.`)
}

export function documentOf(corpus: Corpus, item: Item): Readonly<Record<string, unknown>> {
  const { root } = corpus.spec
  const read = root === null ? parsed(item.document ?? '') : readDocument(root, item.path)
  if (read !== null && 'document' in read) return read.document
  // A document without its root is not torn, and no repair brings it back.
  const away = rootProblem(corpus)
  if (away !== null) throw rootAway(corpus, away)
  throw unreadable(corpus, item.path, read?.problem ?? 'is gone')
}

export const documentSchema = z.record(z.string(), z.unknown()).describe('Its document.')
export const wholeItem = z.strictObject({
  item: itemSchema.describe('Where it stands.'),
  content: z.unknown().describe('What was built last; null before the first build.'),
  document: documentSchema,
  missingRefs: z.array(z.string()).describe('References of the document that name no item.'),
})
export type WholeItem = AnswerOf<typeof wholeItem>

export async function whole(
  { store }: OperationContext,
  corpus: Corpus,
  { item, document = documentOf(corpus, item) }: { readonly item: Item; readonly document?: ItemDocument },
): Promise<WholeItem> {
  const refs = Array.isArray(document._crossRefs) ? document._crossRefs.map(String) : []
  const paths = new Map(refs.map((ref) => [ref, itemPathIn(corpus.spec.root, ref)]))
  const known = await store.look(
    knownItems,
    corpus.id,
    [...paths.values()].filter((path) => path !== null),
  )
  const missingRefs = refs.filter((ref) => !known.has(paths.get(ref) ?? ''))
  return { item: itemAnswer(corpus, item), content: document._content ?? null, document, missingRefs }
}

export const item = operation({
  ...reading,
  verb: 'item',
  says: 'Show an item with its document.',
  request: 'a request for an item',
  input: z.strictObject(subject),
  output: outputOf<WholeItem>()(wholeItem),
  show: showItem,
  examples: [{ name: 'faq', path: 'billing/refunds' }],
  async run(context, { name, path }) {
    const corpus = await presentIn(context, name)
    return whole(context, corpus, { item: await presentItem(context, corpus, path) })
  },
})

/** What a person sets of an item. */
export const ownFields = {
  steer: z.string().min(1).max(100_000).describe('What its phases are to heed.').optional(),
  emphasis: z.number().min(0).max(100).describe('The weight of its depth. Default: 1.').optional(),
  depth: z.number().min(-1_000).max(1_000).describe('Its depth, in place of the one in the tree.').optional(),
  crossRefs: z.array(itemPath).max(1_000).describe('Items whose content it reads.').optional(),
  disabled: z.boolean().describe('Whether it is left out of the ranking. Default: false.').optional(),
}
export const ifRevision = z.int().min(0).describe('Refuse to change any other revision.').optional()

/** The fields of a document that a person sets; null removes one. */
function ownDocument(given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const names = ['steer', 'emphasis', 'depth', 'crossRefs', 'disabled'].filter((name) => given[name] !== undefined)
  return Object.fromEntries(names.map((name) => [`_${name}`, given[name] === null ? undefined : given[name]]))
}

export const update = operation({
  ...writing,
  verb: 'update',
  says: 'Change what a person sets of an item; what is not given stays.',
  request: 'a change of an item',
  input: z.strictObject({ ...subject, ...patched(ownFields), ifRevision }),
  output: outputOf<WholeItem>()(wholeItem),
  show: showItem,
  examples: [{ name: 'faq', path: 'billing/refunds', steer: 'Shorter, for operators.', emphasis: 2 }],
  async run(context, { name, path, ifRevision: revision, ...given }) {
    const corpus = await presentIn(context, name, { isWrite: true })
    await lookedItem(context, corpus, path)
    const edited = await context.store.do(editItem, name, path, { fields: ownDocument(given), ifRevision: revision })
    if (edited.answer === 'not-found') return whole(context, corpus, { item: await presentItem(context, corpus, path) })
    if (edited.answer === 'other-revision') throw otherRevision(path, revision ?? 0, edited.revision)
    return whole(context, corpus, edited)
  },
})

export function otherRevision(path: string, expected: number, revision: number | null): BelfryError {
  const what =
    revision === null ? `There is no item ${path} of revision ${expected}` : `Item ${path} has revision ${revision}`
  return new BelfryError('conflict', revision === null ? `${what} yet.` : `${what}, not ${expected}.`, {
    hint: revision === null ? 'Create it without a revision.' : 'Read it again, and repeat the change.',
    details: { path, expected, revision },
  })
}

export const putItem = operation({
  ...writing,
  verb: 'putItem',
  idempotent: true,
  says: 'Create an item of a corpus without a root, or replace its sources.',
  request: 'an item',
  input: z.strictObject({
    ...subject,
    sources: z.record(z.string(), z.string()).describe('Its texts by name, in place of files.').optional(),
    ...ownFields,
    ifRevision,
  }),
  output: outputOf<WholeItem>()(wholeItem),
  show: showItem,
  examples: [{ name: 'faq', path: 'billing/refunds', sources: { ticket: 'How long does a refund take?' } }],
  async run(context, { name, path, sources, ifRevision: revision, ...given }) {
    const corpus = await presentIn(context, name)
    if (corpus.spec.root !== null) throw hasRoot(corpus, `belfry corpus seed ${name} ${path}`)
    const fields = ownDocument(given)
    const put = await context.store.do(putStored, name, {
      path,
      sources,
      fields,
      ifRevision: revision,
      id: newId(context),
    })
    if (put.answer === 'not-found') return whole(context, corpus, { item: await presentItem(context, corpus, path) })
    if (put.answer === 'other-revision') throw otherRevision(path, revision ?? 0, put.revision)
    return whole(context, corpus, put)
  },
})

/** An id in the form of a UUID, which other programs expect. */
function newId({ randomHex }: OperationContext): string {
  return randomHex(16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

function hasRoot({ name, spec }: Corpus, command: string): BelfryError {
  return new BelfryError('conflict', `The items of corpus ${name} are files below ${spec.root}.`, {
    hint: `Make an item of a folder there: \`${command}\`.`,
    details: { corpus: name },
  })
}

export const deleteItem = operation({
  ...writing,
  verb: 'deleteItem',
  effect: 'destructive',
  asksFirst: true,
  idempotent: true,
  says: 'Delete an item with its snapshots; its files stay, and no rule seeds it again.',
  request: 'a deletion of an item',
  input: z.strictObject(subject),
  output: z.strictObject({ path: text('Its path.'), deleted: z.literal(true).describe('Always true.') }),
  show: ({ path }) => `deleted ${path}`,
  examples: [{ name: 'faq', path: 'billing/refunds' }],
  async run(context, { name, path }) {
    const corpus = await presentIn(context, name, { isWrite: true })
    const found = await lookedItem(context, corpus, path)
    const answer = await context.store.do(deleteItemIn, name, path)
    if (answer === 'running') {
      throw new BelfryError('conflict', `A phase of ${path} is at work.`, {
        hint: `Wait for it, or \`belfry corpus abort ${name}\`.`,
        details: { run: itemAnswer(corpus, found).run },
      })
    }
    return { path, deleted: true as const }
  },
})

const seededSchema = z.strictObject({
  seeded: z.array(z.string()).describe('The new items.'),
  left: count('Folders that match beyond the limit of one call.'),
  dryRun: flag('Whether nothing was written.'),
})
export type SeededAnswer = AnswerOf<typeof seededSchema>

export const seed = operation({
  ...writing,
  verb: 'seed',
  says: 'Make items of folders: of one, or of those whose files match.',
  request: 'a seed',
  input: z.strictObject({
    name: corpusName,
    path: itemPath.describe('The folder that becomes an item.').optional(),
    match: pattern.describe('The folders of files that match become items.').optional(),
    steer: ownFields.steer,
    crossRefs: ownFields.crossRefs,
    create: z.boolean().describe('Make the folder too, if it does not exist. Default: false.').optional(),
    // On the command line, verbs that can be rehearsed have a flag of this name. This verb has a field instead, with which it walks the
    // tree and writes nothing.
    dryRun: z.boolean().describe('Only say which folders would become items. Default: false.').optional(),
  }),
  output: outputOf<SeededAnswer>()(seededSchema),
  show: showSeeded,
  examples: [
    { name: 'faq', path: 'billing/refunds' },
    { name: 'faq', match: 'projects/*/README.md', dryRun: true },
  ],
  async run(context, { name, path, match, steer, crossRefs, create = false, dryRun = false }) {
    const corpus = await presentIn(context, name, { isWrite: true })
    if ((path === undefined) === (match === undefined)) {
      throw new BelfryError('invalid', 'The seed is refused: give either a path or --match.', {
        hint: `belfry corpus seed ${name} guide/install`,
      })
    }
    if (match !== undefined) {
      const listed = await (await watcherFor(context, corpus))?.walk()
      const found = await seedlings(context.store, corpus, [{ match, steer, crossRefs }], listed)
      const taken = found.slice(0, seedsMax)
      if (!dryRun)
        for (const seedling of taken) await context.store.do(plantItem, name, { ...seedling, id: newId(context) })
      return { seeded: taken.map((one) => one.path), left: found.length - taken.length, dryRun }
    }
    const only = path as string
    await refuseFolder(corpus, only, create)
    if (dryRun) {
      const there = await context.store.look(readItem, corpus.id, only)
      const { root } = corpus.spec
      if (there !== null || (root !== null && readDocument(root, only) !== null))
        throw isThere(name, only, there?.revision ?? 0)
      return { seeded: [only], left: 0, dryRun }
    }
    const planted = await context.store.do(plantItem, name, { path: only, steer, crossRefs, id: newId(context) })
    if (planted.answer === 'exists') throw isThere(name, only, planted.revision)
    return { seeded: [only], left: 0, dryRun }
  },
})

async function refuseFolder(corpus: Corpus, path: string, isMade: boolean): Promise<void> {
  const { root } = corpus.spec
  if (root !== null) confined(root, path)
  const problem = await seedProblem(corpus, path)
  if (problem === null || (problem === 'does not exist' && isMade)) return
  const said = `is ${path}, which ${problem}`
  throw new BelfryError('invalid', `The seed is refused: path ${said}.`, {
    hint: 'Name a folder of the root that the corpus does not ignore; `--create` makes one that does not exist.',
    details: { problems: [{ field: 'path', problem: said, expected: 'a folder that the corpus does not ignore' }] },
  })
}

function isThere(name: string, path: string, revision: number): BelfryError {
  return new BelfryError('conflict', `There is an item ${path}, with revision ${revision}.`, {
    hint: `Change it: \`belfry corpus update ${name} ${path}\`.`,
    details: { path, revision, expected: null },
  })
}

export const itemOperations = {
  /** Show an item with its document. */
  item,
  /** Change what a person sets of an item; what is not given stays. */
  update,
  /** Create an item of a corpus without a root, or replace its sources. */
  putItem,
  /** Delete an item with its snapshots; its files stay, and no rule seeds it again. */
  deleteItem,
  /** Make items of folders: of one, or of those whose files match. */
  seed,
}
