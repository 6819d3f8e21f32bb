import type { ItemDocument } from '../../../core/corpus/commit-phase.ts'
import { all, both, one, run, type Step } from '../../../store/statement.ts'
import type { Corpus } from '../corpus-row.ts'
import {
  archived,
  type Keeping,
  keepSnapshot,
  parsed,
  pruned,
  readSnapshot,
  snapshotName,
  snapshotNames,
} from '../tree/document-file.ts'

const listNames = both(
  'corpus snapshots',
  'select name from belfry.corpus_snapshot where corpus_id = $1 and path = $2 order by name desc',
)
const findOne = both(
  'corpus snapshot find',
  'select document from belfry.corpus_snapshot where corpus_id = $1 and path = $2 and name = $3',
)
const insert = both(
  'corpus snapshot insert',
  'insert into belfry.corpus_snapshot (corpus_id, path, name, document) values ($1, $2, $3, $4)',
)
const remove = both(
  'corpus snapshot remove',
  'delete from belfry.corpus_snapshot where corpus_id = $1 and path = $2 and name = $3',
)
const removeOfItem = both(
  'corpus snapshots remove',
  'delete from belfry.corpus_snapshot where corpus_id = $1 and path = $2',
)

/** The names of an item's snapshots, newest first. */
export function* copyNames(corpus: Corpus, path: string): Step<string[]> {
  const { root } = corpus.spec
  if (root !== null) return snapshotNames(root, path)
  return (yield* all<{ name: string }>(listNames, corpus.id, path)).map(({ name }) => name)
}

export function* readCopy(corpus: Corpus, path: string, name: string): Step<ItemDocument | null> {
  const { root } = corpus.spec
  if (root !== null) return readSnapshot(root, path, name)
  const row = yield* one<{ document: string }>(findOne, corpus.id, path, name)
  const read = row === undefined ? { problem: '' } : parsed(row.document)
  return 'document' in read ? read.document : null
}

/** Keeps a copy of a document, and removes the oldest copies above the maximum. Returns the name of the copy. */
export function* keepCopy(
  { id, spec: { root, maxArchive } }: Corpus,
  { path, document }: { readonly path: string; readonly document: ItemDocument },
  keeping: Omit<Keeping, 'maxArchive'>,
): Step<string> {
  if (root !== null) return keepSnapshot(root, path, document, { ...keeping, maxArchive })
  const names = (yield* all<{ name: string }>(listNames, id, path)).map((row) => row.name)
  const name = snapshotName(keeping, names)
  yield* run(insert, id, path, name, JSON.stringify(archived(document, keeping)))
  const kept = [name, ...names].sort().reverse()
  for (const old of pruned(kept, { ...keeping, maxArchive })) yield* run(remove, id, path, old)
  return name
}

/** Keeps the document that an edit is about to replace, unless the newest snapshot is the same. */
export function* keepReplaced(
  corpus: Corpus,
  { path, document }: { readonly path: string; readonly document: ItemDocument },
  keeping: { readonly at: number; readonly spares: string },
): Step<string> {
  const [newest] = yield* copyNames(corpus, path)
  const last = newest === undefined ? null : yield* readCopy(corpus, path, newest)
  if (newest !== undefined && last !== null && JSON.stringify(bare(last)) === JSON.stringify(document)) return newest
  return yield* keepCopy(corpus, { path, document }, { ...keeping, mark: 'replaced' })
}

/** The document in a snapshot, without the fields of the snapshot. */
export function bare({ _archived: _, _archivedAt: __, ...document }: ItemDocument): ItemDocument {
  return document
}

export function* removeCopies(corpusId: number, path: string): Step<void> {
  yield* run(removeOfItem, corpusId, path)
}
