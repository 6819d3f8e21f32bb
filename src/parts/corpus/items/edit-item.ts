import { type ItemDocument, withFields } from '../../../core/corpus/commit-phase.ts'
import { BelfryError } from '../../../core/error.ts'
import { canonicalJson, jsonText } from '../../../store/check.ts'
import { clockNow, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { type Corpus, lockCorpus, saveCorpusCounts } from '../corpus-row.ts'
import { firstDocument, forgetGone, noteGone, plant, type Seedling } from '../tree/auto-seed.ts'
import {
  confined,
  discardDocument,
  discardLeftovers,
  documentText,
  hashOf,
  parsed,
  readDocument,
  renameIntoPlace,
  writeBeside,
} from '../tree/document-file.ts'
import { lookAt } from '../tree/look-item.ts'
import { type Seen, seenInStore } from '../tree/see-item.ts'
import { foldersAbove, placeInTree } from '../tree/walk-tree.ts'
import { findItem, findItems, type Item, markItems, removeItems, saveItems } from './item-row.ts'
import { itemsUnder } from './list-items.ts'
import { keepReplaced, removeCopies } from './snapshots.ts'

export type Edited =
  | { readonly answer: 'updated' | 'unchanged'; readonly item: Item; readonly document: ItemDocument }
  | { readonly answer: 'not-found' }
  /** Null: the item does not exist yet, so it has no revision. */
  | { readonly answer: 'other-revision'; readonly revision: number | null }

export interface ItemEdit {
  /** Undefined removes a field. */
  readonly fields: Readonly<Record<string, unknown>>
  /** The texts of an item in the store. Default: the stored texts. */
  readonly sources?: Readonly<Record<string, string>> | undefined
  readonly ifRevision?: number | undefined
  /** The snapshot that the edit restores. The current document is first kept as another snapshot. */
  readonly snapshot?: string | undefined
}

/** Changes a document under the lock of its corpus. Every edit and every end of a phase takes this lock. */
export function* editItem(context: StoreContext, name: string, path: string, edit: ItemEdit): Step<Edited> {
  const corpus = yield* lockCorpus(context, name)
  const item = corpus === null ? null : yield* findItem(corpus.id, path)
  if (corpus === null || item === null) return { answer: 'not-found' }
  const { root } = corpus.spec
  const read = root === null ? { text: item.document ?? '', ...parsed(item.document ?? '') } : readDocument(root, path)
  if (read === null || 'problem' in read) throw unreadable(corpus, path, read?.problem ?? 'is gone')
  const revision = typeof read.document._revision === 'number' ? read.document._revision : 0
  if (edit.ifRevision !== undefined && edit.ifRevision !== revision) return { answer: 'other-revision', revision }
  const changed = withFields(read.document, edit.fields)
  const stored = item.facts.sources ?? {}
  const { sources = stored } = edit
  // Sources are not fields of the document, but the revision guards them too.
  const isSame = canonicalJson([changed, sources]) === canonicalJson([read.document, stored])
  if (isSame) return { answer: 'unchanged', item, document: read.document }
  const document = withFields(changed, { _revision: revision + 1 })
  const text = documentText(document, read.text)
  let stat = ''
  if (root !== null) confined(root, path)
  const { snapshot } = edit
  if (snapshot !== undefined) {
    yield* keepReplaced(corpus, { path, document: read.document }, { at: yield* clockNow(), spares: snapshot })
  }
  if (root !== null) {
    const mark = `edit.${process.pid}`
    // A worker may freeze between the check of its fence and its rename, and wake after its transaction was rolled back. Without its file
    // it cannot rename over this edit. A worker that still has its lease writes the file again.
    discardLeftovers(root, path, mark)
    stat = renameIntoPlace(root, path, writeBeside(root, path, text, mark))
  }
  const standing = root === null ? { ...item, document: text, facts: { ...item.facts, sources } } : item
  const seen = root === null ? seenInStore(standing) : seenAs(item, { document, text, stat })
  if (root === null) yield* saveItems([{ before: item, after: standing }])
  yield* lookAt(corpus, [seen])
  yield* saveCorpusCounts({ ...corpus, idle: 1 })
  return { answer: 'updated', item: (yield* findItem(corpus.id, path)) as Item, document }
}

type AsWritten = Pick<Seen, 'stat'> & { readonly document: ItemDocument; readonly text: string }

/** The item of a document on disk, as it was just written. */
export function seenAs({ path, parent, depth, facts, lookedAt }: Item, { document, text, stat }: AsWritten): Seen {
  const place = { path, parent, depth, files: facts.files ?? {} }
  return { ...place, document, stat, hash: hashOf(text), problem: null, text: null, raw: text, knownAt: lookedAt }
}

/** The error for a document that cannot be read. */
export function unreadable({ name }: Pick<Corpus, 'name'>, path: string, problem: string): BelfryError {
  return new BelfryError('conflict', `The document of ${path} ${problem}.`, {
    hint: `Correct it, or \`belfry corpus repair ${name} ${path}\` takes the newest snapshot.`,
    details: { path },
  })
}

export type Planted =
  | { readonly answer: 'created'; readonly item: Item }
  | { readonly answer: 'exists'; readonly revision: number }
  | { readonly answer: 'not-found' }

/** Creates an item: its document on disk, or its row in the store. */
export function* plantItem(context: StoreContext, name: string, seedling: Seedling): Step<Planted> {
  const corpus = yield* lockCorpus(context, name)
  if (corpus === null) return { answer: 'not-found' }
  const { path } = seedling
  const { root } = corpus.spec
  const found = yield* findItem(corpus.id, path)
  const standing = root === null ? found : readDocument(root, path)
  if (standing !== null) return { answer: 'exists', revision: found?.revision ?? 0 }
  if (root !== null) confined(root, path)
  const document = root === null ? firstDocument(seedling) : plant(corpus, seedling)
  yield* forgetGone(corpus.id, path)
  return {
    answer: 'created',
    item: yield* addItem(corpus, path, { document, sources: root === null ? {} : undefined }),
  }
}

interface NewItem {
  readonly document: ItemDocument
  /** The texts of an item in the store. */
  readonly sources: Readonly<Record<string, string>> | undefined
}

/** Adds an item to the tree of the index. The item may become the parent of items below it. */
function* addItem(corpus: Corpus, path: string, { document, sources }: NewItem): Step<Item> {
  const known = yield* findItems(corpus.id, foldersAbove(path))
  const place = placeInTree(path, (one) => known.has(one))
  const text = documentText(document)
  const isStored = sources !== undefined
  const blank = {
    corpusId: corpus.id,
    path,
    ...place,
    emphasis: 1,
    status: 'pending',
    phase: '',
    generatedAt: null,
    state: {},
  } as const
  const rest = {
    attempts: 0,
    nextAt: null,
    reason: null,
    runId: null,
    revision: 0,
    hash: null,
    isDirty: true,
    lookedAt: null,
  } as const
  const item: Item = { ...blank, ...rest, facts: isStored ? { sources } : {}, document: isStored ? text : null }
  if (isStored) yield* saveItems([{ before: yield* findItem(corpus.id, path), after: item }])
  yield* lookAt(corpus, [isStored ? seenInStore(item) : seenAs(item, { document, text, stat: '' })])
  const below = path === '.' ? [] : (yield* itemsUnder(corpus.id, path)).filter(({ parent }) => parent === place.parent)
  yield* saveItems(below.map((before) => ({ before, after: { ...before, parent: path, isDirty: true } })))
  yield* markItems(corpus.id, place.parent === null ? [path] : [path, place.parent])
  yield* saveCorpusCounts({ ...corpus, idle: 1 })
  return (yield* findItem(corpus.id, path)) as Item
}

const documentBytesMax = 10 * 1024 * 1024

/** Creates an item in the store, or replaces its sources and its own fields. */
export function* putStored(
  context: StoreContext,
  name: string,
  { path, id, ...edit }: StoredItem,
): Step<Edited | { readonly answer: 'created'; readonly item: Item; readonly document: ItemDocument }> {
  const corpus = yield* lockCorpus(context, name)
  if (corpus === null) return { answer: 'not-found' }
  const { fields, sources = {}, ifRevision } = edit
  if ((yield* findItem(corpus.id, path)) !== null) return yield* editItem(context, name, path, edit)
  if (ifRevision !== undefined) return { answer: 'other-revision', revision: null }
  const document = withFields(firstDocument({ id }), fields)
  jsonText(document, 'document', documentBytesMax)
  return { answer: 'created', item: yield* addItem(corpus, path, { document, sources }), document }
}

interface StoredItem extends ItemEdit {
  readonly path: string
  /** The id for a new item. */
  readonly id: string
}

/** Removes an item, its document and its snapshots. Its files stay, and no rule seeds the item again. */
export function* deleteItem(
  context: StoreContext,
  name: string,
  path: string,
): Step<'deleted' | 'not-found' | 'running'> {
  const corpus = yield* lockCorpus(context, name)
  const item = corpus === null ? null : yield* findItem(corpus.id, path)
  if (corpus === null || item === null) return 'not-found'
  if (item.runId !== null) return 'running'
  const { root } = corpus.spec
  if (root !== null) {
    confined(root, path)
    discardDocument(root, path)
  }
  yield* removeItems([item])
  yield* removeCopies(corpus.id, path)
  yield* noteGone(corpus.id, path)
  const orphans = (yield* itemsUnder(corpus.id, path)).filter(({ parent }) => parent === path)
  yield* saveItems(orphans.map((before) => ({ before, after: { ...before, parent: item.parent, isDirty: true } })))
  yield* markItems(corpus.id, item.parent === null ? [] : [item.parent])
  return 'deleted'
}
