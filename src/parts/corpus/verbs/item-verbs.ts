import { z } from 'zod'
import { BelfryError } from '../../../core/error.ts'
import { patched } from '../../../operations/fields/patch.ts'
import { absent } from '../../../operations/not-found.ts'
import { operation } from '../../../operations/operation.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { type AnswerOf, count, flag, outputOf, text } from '../../../operations/schema/output-schema.ts'
import type { Corpus } from '../corpus-row.ts'
import { deleteItem as deleteItemIn, editItem, plantItem, putStored } from '../items/edit-item.ts'
import type { Item } from '../items/item-row.ts'
import { itemPaths, readItem } from '../items/list-items.ts'
import { seedlings } from '../tree/auto-seed.ts'
import { confined, parsed, readDocument } from '../tree/document-file.ts'
import { seeItem } from '../tree/look-item.ts'
import { lookTogether } from '../tree/scan-tree.ts'
import { itemAnswer, itemSchema } from './corpus-answer.ts'
import { itemPath, pattern } from './corpus-input.ts'
import { corpusName, doors, presentIn, seenRoot } from './present-corpus.ts'
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
const writing = {
  ...reading,
  effect: 'write',
  scope: 'operate',
  errors: ['invalid', 'not-found', 'conflict'],
} as const

/** The item of this path; refuses an unknown one, and looks at it again first where its files are seen. */
export async function presentItem(context: OperationContext, corpus: Corpus, path: string): Promise<Item> {
  const { store } = context
  if (corpus.spec.root !== null && seenRoot(corpus)) {
    confined(corpus.spec.root, path)
    const known = await store.look(readItem, corpus.id, path)
    const seen = known === null ? null : await seeItem(corpus, known, { known })
    if (seen !== null && known?.runId === null) await store.do(lookTogether, corpus.name, [seen])
  }
  const item = await store.look(readItem, corpus.id, path)
  if (item !== null) return item
  const paths = await store.look(itemPaths, corpus.id, '', 1_000)
  throw absent('item', path, paths, `List its items with \`belfry corpus list ${corpus.name}\`.`)
}

export function documentOf(corpus: Corpus, item: Item): Readonly<Record<string, unknown>> {
  const { root } = corpus.spec
  const read = root === null ? parsed(item.document ?? '') : readDocument(root, item.path)
  if (read !== null && 'document' in read) return read.document
  throw new BelfryError('conflict', `The document of ${item.path} ${read?.problem ?? 'is gone'}.`, {
    hint: 'Correct it, or copy the newest file of its .meta/archive over it.',
    details: { path: item.path },
  })
}

export const documentSchema = z.record(z.string(), z.unknown()).describe('Its document.')
const wholeItem = z.strictObject({
  item: itemSchema.describe('Where it stands.'),
  content: z.unknown().describe('What was built last; null before the first build.'),
  document: documentSchema,
})
export type WholeItem = AnswerOf<typeof wholeItem>

function whole(corpus: Corpus, item: Item, document = documentOf(corpus, item)): WholeItem {
  return { item: itemAnswer(corpus, item), content: document._content ?? null, document }
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
    return whole(corpus, await presentItem(context, corpus, path))
  },
})

const ownFields = {
  steer: z.string().min(1).max(100_000).describe('What its phases are to heed.').optional(),
  emphasis: z.number().min(0).max(100).describe('The weight of its depth. Default: 1.').optional(),
  depth: z.number().min(-1_000).max(1_000).describe('Its depth, in place of the one in the tree.').optional(),
  crossRefs: z.array(itemPath).max(1_000).describe('Items whose content it reads.').optional(),
  disabled: z.boolean().describe('Whether it is left out of the ranking. Default: false.').optional(),
}
const ifRevision = z.int().min(0).describe('Refuse to change any other revision.').optional()

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
    await presentItem(context, corpus, path)
    const edited = await context.store.do(editItem, name, path, { fields: ownDocument(given), ifRevision: revision })
    if (edited.answer === 'not-found') return whole(corpus, await presentItem(context, corpus, path))
    if (edited.answer === 'other-revision') throw otherRevision(path, revision ?? 0, edited.revision)
    return whole(corpus, edited.item, edited.document)
  },
})

function otherRevision(path: string, expected: number, revision: number): BelfryError {
  return new BelfryError('conflict', `Item ${path} has revision ${revision}, not ${expected}.`, {
    hint: 'Read it again, and repeat the change.',
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
    if (put.answer === 'not-found') return whole(corpus, await presentItem(context, corpus, path))
    if (put.answer === 'other-revision') throw otherRevision(path, revision ?? 0, put.revision)
    return whole(corpus, put.item, put.document)
  },
})

/** The form of a UUID, as other programs expect it. */
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
    const found = await presentItem(context, corpus, path)
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
const seedsMax = 100

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
    // The command line has a flag of that name for verbs that can be rehearsed; this one walks the tree and writes nothing.
    dryRun: z.boolean().describe('Only say which folders would become items. Default: false.').optional(),
  }),
  output: outputOf<SeededAnswer>()(seededSchema),
  show: showSeeded,
  examples: [
    { name: 'faq', path: 'billing/refunds' },
    { name: 'faq', match: 'projects/*/README.md', dryRun: true },
  ],
  async run(context, { name, path, match, steer, crossRefs, dryRun = false }) {
    const corpus = await presentIn(context, name, { isWrite: true })
    if ((path === undefined) === (match === undefined)) {
      throw new BelfryError('invalid', 'The seed is refused: give either a path or --match.', {
        hint: `belfry corpus seed ${name} guide/install`,
      })
    }
    if (match !== undefined) {
      const found = await seedlings(context.store, corpus, [{ match, steer, crossRefs }])
      const taken = found.slice(0, seedsMax)
      if (!dryRun)
        for (const seedling of taken) await context.store.do(plantItem, name, { ...seedling, id: newId(context) })
      return { seeded: taken.map((one) => one.path), left: found.length - taken.length, dryRun }
    }
    const only = path as string
    if (dryRun) return { seeded: [only], left: 0, dryRun }
    const planted = await context.store.do(plantItem, name, { path: only, steer, crossRefs, id: newId(context) })
    if (planted.answer === 'exists') {
      throw new BelfryError('conflict', `There is an item ${only}, with revision ${planted.revision}.`, {
        hint: `Change it: \`belfry corpus update ${name} ${only}\`.`,
        details: { path: only, revision: planted.revision, expected: null },
      })
    }
    return { seeded: [only], left: 0, dryRun }
  },
})

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
