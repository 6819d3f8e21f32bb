import { type ItemDocument, withFields } from '../../../core/corpus/commit-phase.ts'
import { BelfryError } from '../../../core/error.ts'
import { canonicalJson, jsonText } from '../../../store/check.ts'
import type { Step } from '../../../store/statement.ts'
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
import { lookAt, type Seen, seenInStore } from '../tree/look-item.ts'
import { placeInTree } from '../tree/walk-tree.ts'
import { findItem, findItems, type Item, markItems, removeItems, saveItems } from './item-row.ts'
import { itemsUnder } from './list-items.ts'

export type Edited =
  | { readonly answer: 'updated' | 'unchanged'; readonly item: Item; readonly document: ItemDocument }
  | { readonly answer: 'not-found' }
  | { readonly answer: 'other-revision'; readonly revision: number }

export interface ItemEdit {
  /** Undefined removes a field. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly ifRevision?: number | undefined
}

/** Changes a document under the lock of its corpus, which every edit and every end of a phase takes. */
export function* editItem(context: StoreContext, name: string, path: string, edit: ItemEdit): Step<Edited> {
  const corpus = yield* lockCorpus(context, name)
  const item = corpus === null ? null : yield* findItem(corpus.id, path)
  if (corpus === null || item === null) return { answer: 'not-found' }
  const { root } = corpus.spec
  const read = root === null ? { text: item.document ?? '', ...parsed(item.document ?? '') } : readDocument(root, path)
  if (read === null || 'problem' in read) throw unreadable(path, read?.problem ?? 'is gone')
  const revision = typeof read.document._revision === 'number' ? read.document._revision : 0
  if (edit.ifRevision !== undefined && edit.ifRevision !== revision) return { answer: 'other-revision', revision }
  const changed = withFields(read.document, edit.fields)
  if (canonicalJson(changed) === canonicalJson(read.document))
    return { answer: 'unchanged', item, document: read.document }
  const document = withFields(changed, { _revision: revision + 1 })
  const text = documentText(document, read.text)
  let stat = ''
  if (root !== null) {
    confined(root, path)
    const mark = `edit.${process.pid}`
    // A worker that was frozen between the check of its fence and its rename may wake after its transaction was given up: without
    // its file it cannot rename over this edit. One that is well writes the file again.
    discardLeftovers(root, path, mark)
    stat = renameIntoPlace(root, path, writeBeside(root, path, text, mark))
  }
  const seen = seenAs(item, { document, text, stat, isStored: root === null })
  if (root === null) yield* saveItems([{ before: item, after: { ...item, document: text } }])
  yield* lookAt(corpus, [seen])
  yield* saveCorpusCounts({ ...corpus, idle: 1 })
  return { answer: 'updated', item: (yield* findItem(corpus.id, path)) as Item, document }
}

interface AsWritten {
  readonly document: ItemDocument
  readonly text: string
  readonly stat: string
  readonly isStored: boolean
}

function seenAs(item: Item, { document, text, stat, isStored }: AsWritten): Seen {
  const { path, parent, depth, facts } = item
  const files = isStored ? seenInStore(item).files : (facts.files ?? {})
  return {
    path,
    parent,
    depth,
    hash: hashOf(text),
    stat,
    document,
    problem: null,
    files,
    text: isStored ? text : null,
    raw: text,
  }
}

function unreadable(path: string, problem: string): BelfryError {
  return new BelfryError('conflict', `The document of ${path} ${problem}.`, {
    hint: 'Correct it, or copy the newest file of its .meta/archive over it.',
    details: { path },
  })
}

export type Planted =
  | { readonly answer: 'created'; readonly item: Item }
  | { readonly answer: 'exists'; readonly revision: number }
  | { readonly answer: 'not-found' }

/** Makes a new item: its document beside its files, or in the store. */
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

/** Puts an item into the tree of the index: those below it may get it as their parent. */
function* addItem(corpus: Corpus, path: string, { document, sources }: NewItem): Step<Item> {
  const names = path.split('/')
  const above = ['.', ...names.slice(0, -1).map((_, index) => names.slice(0, index + 1).join('/'))]
  const known = yield* findItems(corpus.id, above)
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
  yield* lookAt(corpus, [isStored ? seenInStore(item) : seenAs(item, { document, text, stat: '', isStored })])
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
  {
    path,
    sources,
    fields,
    ifRevision,
    id,
  }: ItemEdit & {
    /** Of a new item. */
    readonly id: string
    readonly path: string
    readonly sources?: Readonly<Record<string, string>> | undefined
  },
): Step<Edited | { readonly answer: 'created'; readonly item: Item; readonly document: ItemDocument }> {
  const corpus = yield* lockCorpus(context, name)
  if (corpus === null) return { answer: 'not-found' }
  const found = yield* findItem(corpus.id, path)
  if (found === null) {
    const document = withFields(firstDocument({ id }), fields)
    jsonText(document, 'document', documentBytesMax)
    return { answer: 'created', item: yield* addItem(corpus, path, { document, sources: sources ?? {} }), document }
  }
  const edited = yield* editItem(context, name, path, { fields, ifRevision })
  const isSame = sources === undefined || canonicalJson(sources) === canonicalJson(found.facts.sources ?? {})
  if (isSame || !('item' in edited)) return edited
  const after = { ...edited.item, facts: { ...edited.item.facts, sources } }
  yield* saveItems([{ before: edited.item, after }])
  yield* lookAt(corpus, [seenInStore(after)])
  return { ...edited, answer: 'updated', item: (yield* findItem(corpus.id, path)) as Item }
}

/** Removes an item. Its files stay, its document and snapshots go, and no rule seeds it again. */
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
  yield* noteGone(corpus.id, path)
  const orphans = (yield* itemsUnder(corpus.id, path)).filter(({ parent }) => parent === path)
  yield* saveItems(orphans.map((before) => ({ before, after: { ...before, parent: item.parent, isDirty: true } })))
  yield* markItems(corpus.id, item.parent === null ? [] : [item.parent])
  return 'deleted'
}
