import { transition } from '../../../core/corpus/phases.ts'
import { clockNow, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import type { KindStore } from '../../../targets/kind.ts'
import { type Corpus, lockCorpus, phaseNames, saveCorpusCounts } from '../corpus-row.ts'
import { findItems, type Item, markReaders, placed, removeItems, saveItems } from '../items/item-row.ts'
import { dirtyItems, dueItems, itemPaths } from '../items/list-items.ts'
import { readDocument } from './document-file.ts'
import { type Looks, lookAt, type Seen, seeItem, seenInStore } from './look-item.ts'
import { itemsIn, placeInTree } from './walk-tree.ts'

const batch = 100

export interface Scan {
  readonly items: number
  readonly looked: number
  readonly come: number
  readonly gone: number
  /** Items that are owed now and were not before. */
  readonly owed: number
}

/** Walks the tree and brings the index up to date with it. Items whose document and files are as they were are not looked at. */
export async function scanTree(store: KindStore, corpus: Corpus, { isFull = false } = {}): Promise<Scan> {
  const { root, ignore } = corpus.spec
  if (root === null) return scanStore(store, corpus, { isFull })
  const found = await itemsIn(root, ignore)
  const has = (path: string) => found.has(path)
  let [looked, owed, come] = [0, 0, 0]
  const paths = [...found.keys()].sort()
  for (let from = 0; from < paths.length; from += batch) {
    const some = paths.slice(from, from + batch)
    const known = await store.look(knownItems, corpus.id, some)
    const seen: Seen[] = []
    for (const path of some) {
      const was = known.get(path) ?? null
      const one = await seeItem(
        corpus,
        { path, ...placeInTree(path, has) },
        { names: found.get(path) ?? [], known: was },
      )
      if (one !== null && (isFull || was === null || was.isDirty || isOther(was, one))) seen.push(one)
    }
    if (seen.length === 0) continue
    const looks = await store.do(lookTogether, corpus.name, seen)
    looked += looks.looked
    owed += looks.owed
    come += seen.filter(({ path }) => !known.has(path)).length
  }
  const gone = await forgetGone(store, corpus, found)
  // What changed may concern others: those are looked at in the same scan, once.
  const readers = await lookAtDirty(store, corpus)
  await store.do(noteScan, corpus.name, { isChange: come + gone + owed + readers.owed > 0 })
  return { items: paths.length, looked: looked + readers.looked, come, gone, owed: owed + readers.owed }
}

function isOther(was: Item, seen: Seen): boolean {
  if (was.hash !== seen.hash || was.parent !== seen.parent || was.facts.stat !== seen.stat) return true
  const [before, now] = [was.facts.files ?? {}, seen.files]
  const names = Object.keys(now)
  return names.length !== Object.keys(before).length || names.some((name) => before[name]?.[1] !== now[name]?.[1])
}

function* knownItems(_: StoreContext, corpusId: number, paths: readonly string[]): Step<Map<string, Item>> {
  return yield* findItems(corpusId, paths)
}

export function* lookTogether(context: StoreContext, name: string, seen: readonly Seen[]): Step<Looks> {
  const corpus = yield* lockCorpus(context, name)
  return corpus === null ? { looked: 0, owed: 0, changed: [], inputs: new Map() } : yield* lookAt(corpus, seen)
}

async function scanStore(store: KindStore, corpus: Corpus, { isFull }: { isFull: boolean }): Promise<Scan> {
  if (isFull) await store.do(markEvery, corpus.name)
  const { looked, owed } = await lookAtDirty(store, corpus)
  return { items: await countItems(store, corpus), looked, come: 0, gone: 0, owed }
}

async function countItems(store: KindStore, corpus: Corpus): Promise<number> {
  let [count, after] = [0, '']
  for (;;) {
    const page = await store.look(itemPaths, corpus.id, after, 1_000)
    count += page.length
    if (page.length < 1_000) return count
    after = page.at(-1) as string
  }
}

function* markEvery(context: StoreContext, name: string): Step<void> {
  const corpus = yield* lockCorpus(context, name)
  for (let after = ''; corpus !== null; ) {
    const page = yield* itemPaths(context, corpus.id, after, 1_000)
    const items = yield* findItems(corpus.id, page)
    yield* saveItems([...items.values()].map((before) => ({ before, after: { ...before, isDirty: true } })))
    if (page.length < 1_000) return
    after = page.at(-1) as string
  }
}

/** Looks at items that something happened to, at most so many a call. */
export async function lookAtDirty(
  store: KindStore,
  corpus: Corpus,
  roundsMax = 50,
): Promise<{ looked: number; owed: number }> {
  let [looked, owed] = [0, 0]
  for (let round = 0; round < roundsMax; round += 1) {
    const dirty = await store.look(dirtyItems, corpus.id, batch)
    const seen: Seen[] = []
    for (const item of dirty) {
      const one = corpus.spec.root === null ? seenInStore(item) : await seeItem(corpus, item, { known: item })
      if (one !== null) seen.push(one)
    }
    if (seen.length === 0) break
    const looks = await store.do(lookTogether, corpus.name, seen)
    looked += looks.looked
    owed += looks.owed
  }
  return { looked, owed }
}

async function forgetGone(store: KindStore, corpus: Corpus, found: ReadonlyMap<string, unknown>): Promise<number> {
  let [gone, after] = [0, '']
  for (;;) {
    const page = await store.look(itemPaths, corpus.id, after, 1_000)
    const absent = page.filter((path) => !found.has(path) && readDocument(corpus.spec.root as string, path) === null)
    if (absent.length > 0) gone += await store.do(forgetItems, corpus.name, absent)
    if (page.length < 1_000) return gone
    after = page.at(-1) as string
  }
}

function* forgetItems(context: StoreContext, name: string, paths: readonly string[]): Step<number> {
  const corpus = yield* lockCorpus(context, name)
  if (corpus === null) return 0
  const items = [...(yield* findItems(corpus.id, paths)).values()].filter(({ runId }) => runId === null)
  yield* markReaders(corpus.id, items)
  yield* removeItems(items)
  return items.length
}

function* noteScan(context: StoreContext, name: string, { isChange }: { isChange: boolean }): Step<void> {
  const corpus = yield* lockCorpus(context, name)
  if (corpus === null) return
  yield* saveCorpusCounts({ ...corpus, scannedAt: yield* clockNow(), idle: isChange ? 1 : corpus.idle })
}

const duesMax = 500

/** Failed phases whose wait is over may be picked again, and what counts from now on is looked at. Returns how many were retried. */
export function* retryDue(context: StoreContext, name: string): Step<{ retried: number; due: number }> {
  const corpus = yield* lockCorpus(context, name)
  if (corpus === null) return { retried: 0, due: 0 }
  const now = yield* clockNow()
  const due = (yield* dueItems(corpus.id, now, duesMax)).filter(({ runId }) => runId === null)
  const changes = due.map((before) => {
    const event = { type: 'retry' } as const
    const state = transition({ phaseState: before.state, event, phases: phaseNames(corpus) })
    return { before, after: placed({ ...before, state, nextAt: null, isDirty: true }, corpus) }
  })
  yield* saveItems(changes)
  return { retried: due.filter(({ status }) => status === 'failed').length, due: due.length }
}
