import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { ItemDocument } from '../../../core/corpus/commit-phase.ts'
import { glob } from '../../../core/glob.ts'
import { all, both, run, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import type { KindStore } from '../../../targets/kind.ts'
import type { Corpus, SeedRule } from '../corpus-row.ts'
import { stampsOf } from '../items/item-row.ts'
import { documentPath, documentText, metaFolderOf, rootItem } from './document-file.ts'
import { alwaysIgnored, foldersAbove, ignoredIn, type WalkedFolder, walkTree } from './walk-tree.ts'

const listGone = both('corpus list gone', 'select path from belfry.corpus_gone where corpus_id = $1')
const addGone = both(
  'corpus add gone',
  'insert into belfry.corpus_gone (corpus_id, path) values ($1, $2) on conflict do nothing',
)
const dropGone = both('corpus drop gone', 'delete from belfry.corpus_gone where corpus_id = $1 and path = $2')

/** The most new items of one pass. */
export const seedsMax = 100

export interface Seedling {
  readonly path: string
  /** The id of the item. Default: a random id. */
  readonly id?: string | undefined
  readonly steer?: string | undefined
  readonly crossRefs?: readonly string[] | undefined
}

/** The item that a folder would become, by the rules that match its files. Later rules override earlier ones, field by field. */
export function seedlingOf(rules: readonly SeedRule[]): (folder: WalkedFolder) => Seedling | null {
  const matchers = rules.map(({ match, ...given }) => ({ given, matches: glob(match) }))
  return ({ path, isItem, files }) => {
    const matched = isItem ? [] : matchers.filter(({ matches }) => files.some(matches))
    return matched.length === 0 ? null : Object.assign({ path }, ...matched.map(({ given }) => given))
  }
}

/** The folders that match a rule and have no document, in the order of their paths. */
export async function seedlings(
  store: KindStore,
  corpus: Corpus,
  rules: readonly SeedRule[],
  listed?: readonly string[],
): Promise<Seedling[]> {
  const { root, ignore } = corpus.spec
  if (root === null || rules.length === 0) return []
  const seedling = seedlingOf(rules)
  const found: Seedling[] = []
  for await (const folder of walkTree(root, { ignore, listed })) {
    const one = seedling(folder)
    if (one !== null) found.push(one)
  }
  return await notGone(store, corpus, found)
}

/**
 * The seedlings that no person has deleted, in the order of their paths. A folder that the index knows as an item has lost its document
 * since the last look: a person removed it by hand.
 */
async function notGone(store: KindStore, corpus: Corpus, found: readonly Seedling[]): Promise<Seedling[]> {
  const gone = new Set(await store.look(goneItems, corpus.id))
  const paths = found.map(({ path }) => path)
  const known = await store.look(stampsOf, corpus.id, paths)
  return found.filter(({ path }) => !gone.has(path) && !known.has(path)).sort((a, b) => (a.path < b.path ? -1 : 1))
}

export interface Seeded {
  readonly seeded: number
  readonly left: number
}

/** Makes items of these folders, up to the maximum of one pass. A polled tree may have changed since the folders were found. */
export async function plantAll(
  store: KindStore,
  corpus: Corpus,
  found: readonly Seedling[],
  planted: (path: string) => void = () => undefined,
): Promise<Seeded> {
  if (found.length === 0) return { seeded: 0, left: 0 }
  const waiting = await notGone(store, corpus, found)
  let seeded = 0
  while (seeded < seedsMax) {
    const seedling = waiting.shift()
    if (seedling === undefined) break
    if (!isBare(corpus.spec.root as string, seedling.path)) continue
    plant(corpus, seedling)
    planted(seedling.path)
    seeded += 1
  }
  return { seeded, left: waiting.length }
}

/** Why a folder cannot become an item, as a clause; null if it can. A walk would never find an item there. */
export async function seedProblem({ spec: { root, ignore } }: Corpus, path: string): Promise<string | null> {
  if (root === null) return null
  const isIgnored = await ignoredIn(root, ignore)
  const within = [...foldersAbove(path), path].filter((folder) => folder !== rootItem)
  const ignored = within.find((folder) => alwaysIgnored.has(basename(folder)) || isIgnored(folder))
  if (ignored !== undefined) return `is in ${ignored}, which the corpus ignores`
  const folder = statSync(join(root, path), { throwIfNoEntry: false })
  if (folder === undefined) return 'does not exist'
  return folder.isDirectory() ? null : 'is a file'
}

/** Whether a folder exists, is reached without links, and has no document. */
export function isBare(root: string, path: string): boolean {
  const folder = join(root, path)
  return existsSync(folder) && realpathSync(folder) === folder && !existsSync(documentPath(root, path))
}

/** Writes the first document of an item. Throws if a document exists. */
export function plant({ spec }: Corpus, { path, ...seedling }: Seedling): ItemDocument {
  const root = spec.root as string
  const document = firstDocument(seedling)
  mkdirSync(metaFolderOf(root, path), { recursive: true })
  writeFileSync(documentPath(root, path), documentText(document), { flag: 'wx' })
  return document
}

export function firstDocument({ id = randomUUID(), steer, crossRefs }: Omit<Seedling, 'path'>): ItemDocument {
  return {
    _id: id,
    ...(steer !== undefined && { _steer: steer }),
    ...(crossRefs !== undefined && crossRefs.length > 0 && { _crossRefs: [...crossRefs] }),
  }
}

function* goneItems(_: StoreContext, corpusId: number): Step<string[]> {
  return (yield* all<{ path: string }>(listGone, corpusId)).map(({ path }) => path)
}

/** Records that a person deleted an item, so that no rule seeds it again. */
export function* noteGone(corpusId: number, path: string): Step<void> {
  yield* run(addGone, corpusId, path)
}

export function* forgetGone(corpusId: number, path: string): Step<void> {
  yield* run(dropGone, corpusId, path)
}
