import { type ItemDocument, withFields } from '../../../core/corpus/commit-phase.ts'
import { clockNow, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { type Corpus, formsOf, lockCorpus, saveCorpusCounts } from '../corpus-row.ts'
import {
  confined,
  discardLeftovers,
  documentText,
  keepTorn,
  readDocument,
  renameIntoPlace,
  writeBeside,
} from '../tree/document-file.ts'
import { lookAt } from '../tree/look-item.ts'
import { type Edited, editItem, seenAs } from './edit-item.ts'
import { findItem, type Item } from './item-row.ts'
import { bare, copyNames, readCopy } from './snapshots.ts'

/** The part of a snapshot that a restore takes: the fields that phases wrote. The settings of the item's owner stay unchanged. */
function restorable(copy: ItemDocument, corpus: Corpus): ItemDocument {
  const written = new Set(formsOf(corpus).flatMap(({ writes }) => writes))
  return Object.fromEntries(Object.entries(copy).filter(([name]) => written.has(name) || !name.startsWith('_')))
}

/** Restores a snapshot as an edit. The current document is first kept as a snapshot. */
export function* restoreItem(
  context: StoreContext,
  name: string,
  path: string,
  { snapshot, ifRevision }: { readonly snapshot: string; readonly ifRevision?: number | undefined },
): Step<Edited> {
  const corpus = yield* lockCorpus(context, name)
  const isThere = corpus !== null && (yield* copyNames(corpus, path)).includes(snapshot)
  const copy = isThere ? yield* readCopy(corpus, path, snapshot) : null
  if (corpus === null || copy === null) return { answer: 'not-found' }
  return yield* editItem(context, name, path, { fields: restorable(copy, corpus), ifRevision, snapshot })
}

export type Repaired =
  | { readonly answer: 'repaired'; readonly snapshot: string; readonly kept: string; readonly item: Item }
  /** The document can be read, or does not exist. */
  | { readonly answer: 'sound' }
  /** Why the document cannot be repaired, as a clause. */
  | { readonly answer: 'left'; readonly problem: string }

/** Replaces a document that cannot be read by its newest whole snapshot. The bytes of the document are kept first. */
export function* repairItem(context: StoreContext, name: string, path: string): Step<Repaired> {
  const corpus = yield* lockCorpus(context, name)
  const item = corpus === null ? null : yield* findItem(corpus.id, path)
  const root = corpus?.spec.root ?? null
  if (corpus === null || item === null || root === null) return { answer: 'sound' }
  confined(root, path)
  const read = readDocument(root, path)
  if (read === null || !('problem' in read)) return { answer: 'sound' }
  // The document could not even be opened, so there are no bytes to keep.
  if (read.hash === '') return { answer: 'left', problem: read.problem }
  const found = yield* newestWhole(corpus, path)
  if (found === null) return { answer: 'left', problem: `${read.problem}, and has no snapshot` }
  const kept = keepTorn(root, path, yield* clockNow())
  const revision = Math.max(item.revision, Number(found.document._revision ?? 0)) + 1
  const document = withFields(found.document, { _revision: revision })
  const text = documentText(document)
  const mark = `repair.${process.pid}`
  discardLeftovers(root, path, mark)
  const stat = renameIntoPlace(root, path, writeBeside(root, path, text, mark))
  yield* lookAt(corpus, [seenAs(item, { document, text, stat })])
  yield* saveCorpusCounts({ ...corpus, idle: 1 })
  return { answer: 'repaired', snapshot: found.snapshot, kept, item: (yield* findItem(corpus.id, path)) as Item }
}

/** A snapshot of a rejected result is not a whole document. */
function* newestWhole(corpus: Corpus, path: string): Step<{ snapshot: string; document: ItemDocument } | null> {
  for (const snapshot of yield* copyNames(corpus, path)) {
    const copy = yield* readCopy(corpus, path, snapshot)
    if (copy !== null && copy._rejected !== true) return { snapshot, document: bare(copy) }
  }
  return null
}
