import { realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { KindStore } from '../../../targets/kind.ts'
import type { Corpus } from '../corpus-row.ts'
import type { Item } from '../items/item-row.ts'
import { rootItem } from './document-file.ts'
import { type Counts, forgetGone, knownItems, lookAtWalked, noCounts, scanBelow, sum } from './scan-tree.ts'
import {
  foldersAbove,
  ignoredIn,
  isWithin,
  placeBelow,
  placeInTree,
  readFolder,
  type WalkedFolder,
  type WalkOptions,
} from './walk-tree.ts'

export interface FolderLook extends Pick<WalkOptions, 'entering'> {
  /** Whether a folder was known before. */
  readonly has: (folder: string) => boolean
  /** Ends the watches of a folder and of all folders below it, which are then read again. */
  readonly forget: (folder: string) => void
  readonly walked: (folder: WalkedFolder) => void
}

/** The changes in the files of an item. */
interface FileChanges {
  readonly place: { readonly path: string; readonly parent: string | null; readonly depth: number }
  /** The folders in which the item's files have changed: in the folder itself, or in everything below it too. */
  readonly folders: { readonly path: string; readonly isWhole: boolean }[]
  readonly names: string[]
}

/** Updates the index for folders that have changed. Null if this needs a scan of the whole tree. */
export async function lookAtFolders(
  store: KindStore,
  corpus: Corpus,
  folders: readonly string[],
  look: FolderLook,
): Promise<Counts | null> {
  const root = corpus.spec.root as string
  const isIgnored = await ignoredIn(root, corpus.spec.ignore)
  const changes = new Map<string, FileChanges>()
  const wholes: string[] = []
  let counts = noCounts
  for (const path of [...folders].sort()) {
    if (wholes.some((whole) => isWithin(path, whole))) continue
    const above = await store.look(knownItems, corpus.id, [...foldersAbove(path), path])
    const here = (await isItself(root, path)) ? await readFolder(root, path, { ...look, isIgnored }) : null
    const isWhole = here === null || here.isItem !== above.has(path)
    if (isWhole && path === rootItem) return null
    const owner = ownerOf(path, above, { isAbove: isWhole })
    const change = changes.get(owner?.path ?? '') ?? changeOf(owner)
    changes.set(owner?.path ?? '', change)
    change.folders.push({ path, isWhole })
    if (here !== null && !isWhole) {
      look.walked({ ...here, owner: owner?.path ?? null })
      change.names.push(...here.files)
    }
    if (here === null) {
      look.forget(path)
      counts = sum(counts, { ...noCounts, gone: await forgetGone(store, corpus, path) })
      wholes.push(path)
      continue
    }
    const scanned = isWhole ? [path] : here.folders.filter((inner) => !look.has(inner))
    for (const one of scanned) {
      wholes.push(one)
      look.forget(one)
      change.folders.push({ path: one, isWhole: true })
      const place = owner === null ? {} : { place: placeBelow(owner) }
      const below = await scanBelow(store, corpus, one, { ...place, entering: look.entering, walked: look.walked })
      counts = sum(counts, below.counts)
      change.names.push(...below.names)
    }
  }
  for (const change of changes.values()) counts = sum(counts, await lookAtOwner(store, corpus, change))
  return counts
}

/** A folder that is a link, or lies below a link, does not belong to the corpus. */
async function isItself(root: string, path: string): Promise<boolean> {
  const real = await realpath(join(root, path)).catch(() => null)
  return real === join(root, path)
}

/** The nearest item of a folder: the item of the folder itself, or of the nearest folder above it. */
function ownerOf(
  path: string,
  known: ReadonlyMap<string, Item>,
  { isAbove }: { readonly isAbove: boolean },
): FileChanges['place'] | null {
  const has = (one: string) => known.has(one)
  const own = isAbove || !has(path) ? placeInTree(path, has).parent : path
  return own === null ? null : { path: own, ...placeInTree(own, has) }
}

function changeOf(owner: FileChanges['place'] | null): FileChanges {
  return { place: owner ?? { path: '', parent: null, depth: 0 }, folders: [], names: [] }
}

async function lookAtOwner(store: KindStore, corpus: Corpus, { place, folders, names }: FileChanges): Promise<Counts> {
  const was = (await store.look(knownItems, corpus.id, [place.path])).get(place.path)
  if (was === undefined) return noCounts
  const isKept = (file: string) => {
    return !folders.some(({ path, isWhole }) => (isWhole ? isWithin(file, path) : dirname(file) === path))
  }
  const kept = Object.keys(was.facts.files ?? {}).filter(isKept)
  const all = [...new Set([...kept, ...names])].sort()
  return await lookAtWalked(store, corpus, [{ ...place, names: all }])
}
