import type { ItemDocument } from '../../../core/corpus/commit-phase.ts'
import type { Corpus } from '../corpus-row.ts'
import type { Item, ItemFacts } from '../items/item-row.ts'
import { hashOf, parsed, readDocument } from './document-file.ts'
import { hashedFiles, scopeOf } from './walk-tree.ts'

/** An item as it was read from the disk or from the store. */
export interface Seen {
  readonly path: string
  readonly parent: string | null
  readonly depth: number
  readonly hash: string | null
  readonly stat: string
  readonly document: ItemDocument | null
  readonly problem: string | null
  readonly files: NonNullable<ItemFacts['files']>
  /** The document's text, for an item in the store. */
  readonly text: string | null
  /** The document's text as it was read. */
  readonly raw: string
  /** The `lookedAt` of the row that this item was compared with; null if there was no row. */
  readonly knownAt: number | null
}

/** Reads an item and hashes its files. */
export async function seeItem(
  corpus: Corpus,
  place: Pick<Seen, 'path' | 'parent' | 'depth'>,
  { names, known }: { readonly names?: readonly string[]; readonly known?: Item | null } = {},
): Promise<Seen | null> {
  const { root, ignore, watcher } = corpus.spec
  if (root === null) return null
  const read = readDocument(root, place.path)
  if (read === null) return null
  const before = known?.facts.files
  // With an external watcher, only its walks decide which files an item has: another list here would differ, and phases would be owed.
  const own = names ?? (watcher === undefined ? await scopeOf(root, place.path, { ignore }) : Object.keys(before ?? {}))
  const files = await hashedFiles(root, own, before)
  const { hash, stat, text: raw } = read
  const { path, parent, depth } = place
  const found =
    'problem' in read
      ? { hash: null, document: null, problem: read.problem }
      : { hash, document: read.document, problem: null }
  return { path, parent, depth, stat, files, text: null, raw, knownAt: known?.lookedAt ?? null, ...found }
}

/** The fingerprint of a text of an item in the store. */
export function sourceHash(text: string): string {
  return hashOf(text).slice(0, 16)
}

/** An item that lives in the store, from its row. */
export function seenInStore({ path, parent, depth, document: text, facts, lookedAt: knownAt }: Item): Seen {
  const files = Object.fromEntries(
    Object.entries(facts.sources ?? {}).map(([name, source]) => [name, ['', sourceHash(source)] as const]),
  )
  const read = text === null ? { problem: 'has no document' } : parsed(text)
  const document = 'document' in read ? read.document : null
  const problem = 'problem' in read ? read.problem : null
  const place = { path, parent, depth, knownAt }
  return { ...place, hash: hashOf(text ?? ''), stat: '', document, problem, files, text, raw: text ?? '' }
}
