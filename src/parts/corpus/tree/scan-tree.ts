import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { systemClock } from '../../../core/clock.ts'
import { transition } from '../../../core/corpus/phases.ts'
import { clockNow, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import type { KindStore } from '../../../targets/kind.ts'
import { type Corpus, lockCorpus, phaseNames, saveCorpusCounts } from '../corpus-row.ts'
import {
  findItems,
  type Item,
  markAll,
  markItems,
  markReaders,
  placed,
  recountGroups,
  removeItems,
  saveItems,
  stampsOf,
} from '../items/item-row.ts'
import { stampOf } from '../items/item-stamp.ts'
import { dirtyItems, dueItems, pathsWithin } from '../items/list-items.ts'
import { groupsOf } from '../items/pick-item.ts'
import { isBare, noteGone } from './auto-seed.ts'
import { discardLeftovers, documentPath, readDocument, rootItem } from './document-file.ts'
import { commitIn, isAsAborted, type Looks, lookAt } from './look-item.ts'
import { lookAtPrompts } from './prompt-inputs.ts'
import { type Seen, seeItem, seenInStore } from './see-item.ts'
import {
  itemsIn,
  type Place,
  statOf,
  type WalkedFolder,
  type WalkedItem,
  type WalkOptions,
  walkTree,
} from './walk-tree.ts'

/** How many items are looked at in one transaction, which blocks the event loop on SQLite. */
const batch = 25

export interface Scan {
  readonly items: number
  readonly looked: number
  readonly come: number
  readonly gone: number
  /** Items that are owed now and were not owed before. */
  readonly owed: number
  /** How much of the time the index took: to derive the phases of the items, and to compare their inputs. */
  readonly lookMs: number
}

export type Counts = Omit<Scan, 'items'>
export const noCounts: Counts = { looked: 0, come: 0, gone: 0, owed: 0, lookMs: 0 }

export interface ScanOptions extends Pick<WalkOptions, 'entering' | 'restFactor' | 'listed'> {
  /** Looks at every item again, even if nothing of it changed. */
  readonly isFull?: boolean
  readonly walked?: (folder: WalkedFolder) => void
}

/** Walks the tree and updates the index. Items whose document and files have not changed are not looked at. */
export async function scanTree(store: KindStore, corpus: Corpus, options: ScanOptions = {}): Promise<Scan> {
  await lookAtPrompts(store, corpus.name)
  if (options.isFull === true) await store.do(beginAnew, corpus.name)
  if (corpus.spec.root === null) return noted(store, corpus, noCounts, { isWhole: true })
  const { counts } = await scanBelow(store, corpus, rootItem, options)
  return noted(store, corpus, counts, { isWhole: true })
}

/** Scans a folder and everything below it. `names` are the files that belong to no item in that folder; they belong to the item above. */
export async function scanBelow(
  store: KindStore,
  corpus: Corpus,
  from: string,
  { isFull = false, place = { parent: null, depth: 0 }, ...options }: ScanOptions & { readonly place?: Place } = {},
): Promise<{ readonly counts: Counts; readonly names: readonly string[] }> {
  const { root, ignore } = corpus.spec as { root: string; ignore: readonly string[] }
  const [found, names]: [Set<string>, string[]] = [new Set(), []]
  const walk = told(walkTree(root, { ...options, ignore, from }), options.walked)
  let counts = noCounts
  let some: WalkedItem[] = []
  for await (const item of itemsIn(walk, { place, names })) {
    found.add(item.path)
    if (some.push(item) < batch) continue
    counts = sum(counts, await lookAtWalked(store, corpus, some, isFull))
    some = []
  }
  counts = sum(counts, await lookAtWalked(store, corpus, some, isFull))
  return {
    counts: sum(counts, {
      ...noCounts,
      gone: await forgetGone(store, corpus, from, (path) => !found.has(path) && isAbsent(root, path)),
    }),
    names,
  }
}

async function* told(walk: AsyncIterable<WalkedFolder>, walked?: (folder: WalkedFolder) => void) {
  for await (const folder of walk) {
    walked?.(folder)
    yield folder
  }
}

export function sum(one: Counts, other: Counts): Counts {
  const names = Object.keys(noCounts) as (keyof Counts)[]
  return Object.fromEntries(names.map((name) => [name, one[name] + other[name]])) as unknown as Counts
}

/** Looks at the items that have changed. */
export async function lookAtWalked(
  store: KindStore,
  corpus: Corpus,
  items: readonly WalkedItem[],
  isFull = false,
): Promise<Counts> {
  if (items.length === 0) return noCounts
  const others = isFull ? items : await othersThanKnown(store, corpus, items)
  if (others.length === 0) return noCounts
  let [counts, rest] = [noCounts, others]
  for (let round = 0; rest.length > 0 && round < lateRoundsMax; round += 1) {
    const { late, ...found } = await lookOnce(store, corpus, rest, isFull)
    counts = sum(counts, found)
    rest = rest.filter(({ path }) => late.includes(path))
  }
  return counts
}

/** An item that is overtaken by a phase again and again is marked, and the next look finds it. */
const lateRoundsMax = 3

async function lookOnce(
  store: KindStore,
  corpus: Corpus,
  items: readonly WalkedItem[],
  isFull: boolean,
): Promise<Counts & { readonly late: readonly string[] }> {
  const paths = items.map(({ path }) => path)
  const known = await store.look(knownItems, corpus.id, paths)
  const looked = items.map(async (item) => {
    const was = known.get(item.path) ?? null
    const one = await seeItem(corpus, item, { names: item.names, known: was })
    return one !== null && (isFull || was === null || was.isDirty || isOther(was, one)) ? one : null
  })
  const seen = (await Promise.all(looked)).filter((one) => one !== null)
  if (seen.length === 0) return { ...noCounts, late: [] }
  const come = seen.filter(({ path }) => !known.has(path)).length
  return { ...noCounts, come, ...(await lookNow(store, corpus, seen, isFull)) }
}

async function lookNow(store: KindStore, { name }: Corpus, seen: readonly Seen[], isFull = false) {
  const since = systemClock.monotonic()
  const { looked, owed, late } = await store.do(lookTogether, name, seen, isFull)
  return { looked, owed, late, lookMs: systemClock.monotonic() - since }
}

/** The items whose parent, document or files differ, by size, mtime and inode, from the last look. */
async function othersThanKnown(store: KindStore, { id, spec }: Corpus, items: readonly WalkedItem[]) {
  const paths = items.map(({ path }) => path)
  const stamps = await store.look(stampsOf, id, paths)
  const isOther = await Promise.all(
    items.map(async (item) => {
      const was = stamps.get(item.path)
      if (was === undefined || was.isDirty || was.stamp === null) return true
      return was.stamp !== (await stampNow(spec.root as string, item))
    }),
  )
  return items.filter((_, index) => isOther[index])
}

/** The stamp of an item on the disk now; null if one of its files is gone. */
async function stampNow(root: string, { path, parent, names }: WalkedItem): Promise<string | null> {
  const stat = await statOf(documentPath(root, path))
  const files: [string, string][] = []
  for (const name of names) {
    const of = await statOf(join(root, name))
    if (of === null) return null
    files.push([name, of])
  }
  return stampOf({ parent, stat: stat ?? undefined, files })
}

function isOther(was: Item, seen: Seen): boolean {
  if (was.hash !== seen.hash || was.parent !== seen.parent || was.facts.stat !== seen.stat) return true
  const [before, now] = [was.facts.files ?? {}, seen.files]
  const names = Object.keys(now)
  return names.length !== Object.keys(before).length || names.some((name) => before[name]?.[1] !== now[name]?.[1])
}

export function* knownItems(_: StoreContext, corpusId: number, paths: readonly string[]): Step<Map<string, Item>> {
  return yield* findItems(corpusId, paths)
}

/**
 * Another process may have looked at an item after this one read the disk. The older reading must not overwrite the newer one, so the item
 * is marked and looked at again.
 */
export function* lookTogether(
  context: StoreContext,
  name: string,
  seen: readonly Seen[],
  isFull = false,
): Step<Looks & { readonly late: readonly string[] }> {
  const corpus = yield* lockCorpus(context, name)
  if (corpus === null) return { looked: 0, owed: 0, inputs: new Map(), late: [] }
  const paths = seen.map(({ path }) => path)
  const found = yield* findItems(corpus.id, paths)
  const known = isFull ? new Map([...found].map(([path, item]) => [path, keptOf(item)])) : found
  const isLate = ({ path, knownAt }: Seen) => (known.get(path)?.lookedAt ?? null) !== knownAt
  const late = seen.filter(isLate).map(({ path }) => path)
  yield* markItems(corpus.id, late)
  const looks = yield* lookAt(
    corpus,
    seen.filter((one) => !isLate(one)),
    known,
  )
  if (corpus.spec.root !== null) clearUp(corpus.spec.root, seen, known)
  // In the same transaction: owed work must not wait for a tick that backs off.
  if (looks.owed > 0 && corpus.idle > 1) yield* saveCorpusCounts({ ...corpus, idle: 1 })
  return { ...looks, late }
}

/** What a full scan believes of the index: the runs and failures, which no document has. References and states are built anew. */
function keptOf(item: Item): Item {
  const isPlain = item.runId === null && item.attempts === 0 && item.reason === null
  return { ...item, facts: { ...item.facts, refs: [] }, ...(isPlain && { hash: '' }) }
}

/** A commit that the index did not know was made by a worker that died afterwards. The worker's other temporary files are left over. */
function clearUp(root: string, seen: readonly Seen[], known: ReadonlyMap<string, Item>): void {
  for (const { path, document } of seen) {
    const was = known.get(path)
    if (was !== undefined && document !== null && commitIn(document) !== was.facts.commit) {
      discardLeftovers(root, path, '')
    }
  }
}

/** Looks at the other items that the changes affect, and records the scan. */
export async function noted(
  store: KindStore,
  corpus: Corpus,
  counts: Counts,
  { isWhole }: { readonly isWhole: boolean },
): Promise<Scan> {
  const readers = await lookAtDirty(store, corpus)
  const all = sum(counts, { ...noCounts, ...readers })
  const isChange = all.come + all.gone + all.owed > 0
  if (isWhole || isChange) await store.do(noteScan, corpus.name, { isChange, isWhole })
  return { items: await store.look(countItems, corpus.id), ...all }
}

export function* countItems(_: StoreContext, corpusId: number): Step<number> {
  return (yield* groupsOf(corpusId)).reduce((all, { items }) => all + items, 0)
}

/** What a full scan builds anew before it looks: the counts of the groups, and which items are looked at. */
function* beginAnew(context: StoreContext, name: string): Step<void> {
  const corpus = yield* lockCorpus(context, name)
  if (corpus === null) return
  yield* recountGroups(corpus.id)
  if (corpus.spec.root === null) yield* markAll(corpus.id)
}

/** A look may mark other items. With this many rounds for each call the end of all looks is certain. */
const roundsMax = 5_000

/** Looks at the items that are marked, in the order of their paths, until none is left that can be read. */
export async function lookAtDirty(
  store: KindStore,
  corpus: Corpus,
): Promise<Pick<Counts, 'looked' | 'owed' | 'lookMs'>> {
  let counts = noCounts
  let [after, before] = ['', 0]
  for (let round = 0; round < roundsMax; round += 1) {
    const dirty = await store.look(dirtyItems, corpus.id, { after, limit: batch })
    const seen = (await Promise.all(dirty.map((item) => dirtyNow(corpus, item)))).filter((one) => one !== null)
    if (seen.length > 0) counts = sum(counts, { ...noCounts, ...(await lookNow(store, corpus, seen)) })
    after = dirty.at(-1)?.path ?? ''
    if (dirty.length === batch) continue
    // The end of a pass: the looks may have marked items that come earlier, such as parents.
    if (counts.looked === before) break
    ;[after, before] = ['', counts.looked]
  }
  const { looked, owed, lookMs } = counts
  return { looked, owed, lookMs }
}

/** The item's files are known: this look is about its other inputs. */
async function dirtyNow(corpus: Corpus, item: Item): Promise<Seen | null> {
  if (corpus.spec.root === null) return seenInStore(item)
  // An abort takes all edits before it for tried, of new files too, so their names are read again.
  const isKnown = item.facts.files !== undefined && !isAsAborted(item)
  const names = isKnown ? { names: Object.keys(item.facts.files ?? {}) } : {}
  return await seeItem(corpus, item, { ...names, known: item })
}

/** Whether an item has no document, or reaches its document only by a link that leads elsewhere. */
function isAbsent(root: string, path: string): boolean {
  return readDocument(root, path) === null || realpathSync(join(root, path)) !== join(root, path)
}

/** How many paths are compared with the disk, and how many items are removed, before the event loop gets its turn. */
const goneMax = 200

/** Removes from the index the items in a folder and below it that are gone from the disk. */
export async function forgetGone(
  store: KindStore,
  corpus: Corpus,
  from: string,
  isGone: (path: string) => boolean = () => true,
): Promise<number> {
  let [gone, after] = [0, '']
  for (;;) {
    const page = await store.look(pathsWithin, corpus.id, from, { after, limit: goneMax })
    const absent = page.filter(isGone)
    const { root } = corpus.spec
    const bare = root === null ? [] : absent.filter((path) => isBare(root, path))
    if (absent.length > 0) gone += await store.do(forgetItems, corpus.name, absent, bare)
    if (page.length < goneMax) return gone
    after = page.at(-1) as string
    // SQLite answers a read at once, so that this loop alone would hold the event loop for all pages.
    await nextTurn()
  }
}

/** `bare`: the folders that still exist. A person removed their documents, so no rule seeds them again. */
function* forgetItems(
  context: StoreContext,
  name: string,
  paths: readonly string[],
  bare: readonly string[],
): Step<number> {
  const corpus = yield* lockCorpus(context, name)
  if (corpus === null) return 0
  const items = [...(yield* findItems(corpus.id, paths)).values()].filter(({ runId }) => runId === null)
  yield* markReaders(corpus.id, items)
  yield* removeItems(items)
  for (const { path } of items) if (bare.includes(path)) yield* noteGone(corpus.id, path)
  return items.length
}

function* noteScan(
  context: StoreContext,
  name: string,
  { isChange, isWhole }: { readonly isChange: boolean; readonly isWhole: boolean },
): Step<void> {
  const corpus = yield* lockCorpus(context, name)
  if (corpus === null) return
  const scannedAt = isWhole ? yield* clockNow() : corpus.scannedAt
  yield* saveCorpusCounts({ ...corpus, scannedAt, idle: isChange ? 1 : corpus.idle })
}

const duesMax = 500

/** Retries failed phases whose wait is over, and marks items for which a change takes effect now. Returns how many there were of each. */
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
