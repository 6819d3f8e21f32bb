import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import type { ItemDocument } from '../../../core/corpus/commit-phase.ts'
import { glob } from '../../../core/glob.ts'
import { all, both, run, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import type { KindStore } from '../../../targets/kind.ts'
import type { Corpus, SeedRule } from '../corpus-row.ts'
import { documentPath, documentText, metaFolderOf } from './document-file.ts'
import { walkTree } from './walk-tree.ts'

const listGone = both('corpus list gone', 'select path from belfry.corpus_gone where corpus_id = $1')
const addGone = both(
  'corpus add gone',
  'insert into belfry.corpus_gone (corpus_id, path) values ($1, $2) on conflict do nothing',
)
const dropGone = both('corpus drop gone', 'delete from belfry.corpus_gone where corpus_id = $1 and path = $2')

/** At most so many new items a pass. */
const seedsMax = 100

export interface Seedling {
  readonly path: string
  /** Its id. Default: a random one. */
  readonly id?: string | undefined
  readonly steer?: string | undefined
  readonly crossRefs?: readonly string[] | undefined
}

/** The folders of matched files that have no document. Later rules add to earlier ones, field by field. */
export async function seedlings(store: KindStore, corpus: Corpus, rules: readonly SeedRule[]): Promise<Seedling[]> {
  const { root, ignore } = corpus.spec
  if (root === null || rules.length === 0) return []
  const matchers = rules.map((rule) => ({ rule, matches: glob(rule.match) }))
  const gone = new Set(await store.look(goneItems, corpus.id))
  const found = new Map<string, Seedling>()
  for await (const folder of walkTree(root, { ignore })) {
    if (folder.isItem || gone.has(folder.path)) continue
    for (const { rule, matches } of matchers) {
      if (!folder.files.some(matches)) continue
      const { match: _, ...given } = rule
      found.set(folder.path, { ...found.get(folder.path), ...given, path: folder.path })
    }
  }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

export async function autoSeed(store: KindStore, corpus: Corpus): Promise<{ seeded: number; left: number }> {
  const all = await seedlings(store, corpus, corpus.spec.autoSeed)
  for (const seedling of all.slice(0, seedsMax)) plant(corpus, seedling)
  return { seeded: Math.min(all.length, seedsMax), left: Math.max(0, all.length - seedsMax) }
}

/** Writes the first document of an item. Throws where there is one. */
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

/** An item that a person deleted is not seeded again. */
export function* noteGone(corpusId: number, path: string): Step<void> {
  yield* run(addGone, corpusId, path)
}

export function* forgetGone(corpusId: number, path: string): Step<void> {
  yield* run(dropGone, corpusId, path)
}
