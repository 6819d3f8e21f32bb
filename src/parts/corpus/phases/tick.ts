import { systemClock } from '../../../core/clock.ts'
import { whyBefore } from '../../../core/corpus/rank.ts'
import { BelfryError } from '../../../core/error.ts'
import type { Hold } from '../../../core/hold.ts'
import type { Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import type { Attempt, Ended, Execute } from '../../../targets/attempt.ts'
import type { ExecutorHost, KindExecutor } from '../../../targets/kind.ts'
import { type Corpus, findCorpus, listCorpora, lockCorpus, saveCorpusCounts } from '../corpus-row.ts'
import { fairEvery, type Line, lineOf } from '../items/pick-item.ts'
import { plantAll, seedlings } from '../tree/auto-seed.ts'
import { rootProblem } from '../tree/root-mark.ts'
import { lookAtDirty, retryDue, scanTree } from '../tree/scan-tree.ts'
import { TreeWatch } from '../tree/tree-watch.ts'
import { closeWatchers, watcherOf } from '../watcher/known-watchers.ts'
import type { OutsideWatcher } from '../watcher/outside-watcher.ts'
import { isServed } from './phase-executor.ts'
import { headPast, itemsInLine, orderNext, type PickedPhase, phaseRuns } from './phase-run.ts'
import { standstillInWords, standstillOf } from './standstill.ts'

/** The maximum of `idle`: however long nothing was owed, one tick in this many looks at the corpus. */
const idleMax = 4

/** Executes ticks for the same corpora as the executor of phases, and watches the trees of these corpora. */
export async function tickExecutor(host: ExecutorHost): Promise<KindExecutor> {
  const named = new Map<string, Execute>()
  const trees = new Map<string, Tree>()
  const execute: Execute = (attempt) => ticked(attempt, host, trees.get(String(attempt.target.lane))?.watch)
  const refresh = async () => {
    const served = (await host.store.look(listCorpora)).filter((corpus) => isServed(corpus, host))
    for (const name of named.keys()) if (!served.some((corpus) => corpus.name === name)) named.delete(name)
    for (const { name } of served) named.set(name, execute)
    for (const [name, { corpus, watch }] of trees) {
      if (served.some(({ id, version }) => id === corpus.id && version === corpus.version)) continue
      trees.delete(name)
      await watch.close()
    }
    for (const corpus of served) {
      await watcherOf({ ...host, clock: systemClock }, corpus)
      if (corpus.spec.root === null || corpus.spec.watcher !== undefined || trees.has(corpus.name)) continue
      const watch = new TreeWatch({ store: host.store, corpus, clock: systemClock })
      trees.set(corpus.name, { corpus, watch })
      watch.begin()
    }
  }
  await refresh()
  return {
    named,
    refresh,
    async close() {
      for (const { watch } of trees.values()) await watch.close()
      trees.clear()
      closeWatchers(host.store)
    },
  }
}

interface Tree {
  readonly corpus: Corpus
  readonly watch: TreeWatch
}

export interface Stage {
  readonly stage: string
  readonly ms: number
  readonly [count: string]: unknown
}

async function ticked(attempt: Attempt, host: ExecutorHost, watch: TreeWatch | undefined): Promise<Ended> {
  const { store } = host
  const name = String(attempt.target.lane)
  const corpus = await store.look(findCorpus, name)
  if (corpus === null) return { facts: { error: `corpus ${name} is gone`, retryable: false } }
  const outside = await watcherOf({ ...host, clock: systemClock }, corpus)
  const result = await tickOnce(store, corpus, attempt.clock, { watch, outside, signal: attempt.signal })
  return { facts: { json: result }, result }
}

export interface Ticked {
  readonly stages: readonly Stage[]
  /** The first of those that were picked. */
  readonly picked: PickedPhase | null
  /** The first items that were not picked. */
  readonly next: readonly { readonly path: string; readonly phase: string }[]
  /** Why the picked item goes before the second, or why no item was picked. */
  readonly says: string
}

/** How a process learns of changes in a tree: by its own watch, by an external watcher, or, without either, by a walk. */
export interface Sight {
  readonly watch?: Pick<TreeWatch, 'look' | 'seed'> | undefined
  readonly outside?: Pick<OutsideWatcher, 'attend' | 'walk'> | undefined
  /** Aborted when the answer of the external watcher is no longer needed. */
  readonly signal?: AbortSignal
}

/**
 * One tick: seed, discover, derive and invalidate, retry, select, enqueue. After an error of the disk or of a watcher the tick fails; it never
 * reports that nothing is owed. An external watcher is asked first, because it lists the files.
 */
export async function tickOnce(
  store: ExecutorHost['store'],
  corpus: Corpus,
  clock: Pick<Attempt['clock'], 'monotonic'>,
  { watch, outside, signal }: Sight,
): Promise<Ticked> {
  const stages: Stage[] = []
  const noted = (stage: string, ms: number, counts: object) =>
    stages.push({ stage, ms: Math.max(0, Math.round(ms)), ...counts })
  const timed = async <Result extends object>(stage: string, work: () => Promise<Result>): Promise<void> => {
    const since = clock.monotonic()
    const counts = await work()
    noted(stage, clock.monotonic() - since, counts)
  }
  refuseUnseen(corpus)
  let listed: readonly string[] | undefined
  if (outside !== undefined) {
    await timed('watcher', async () => {
      const { registered } = await outside.attend(signal)
      listed = await outside.walk(undefined, signal)
      return { registered, files: listed.length }
    })
  }
  // A process that does not watch the tree scans the whole tree.
  const { seed, look } = watch === undefined ? unwatched(store, corpus, listed) : watched(watch)
  await timed('seed', seed)
  const since = clock.monotonic()
  const { items, come, gone, looked, owed, lookMs } = await look()
  noted('discover', clock.monotonic() - since - lookMs, { items, come, gone })
  // A look derives the phases of an item, repairs a state that cannot be, and compares its inputs, in one transaction.
  noted('derive, repair and invalidate', lookMs, { looked, owed })
  await timed('retry', async () => {
    const found = await store.do(retryDue, corpus.name)
    // This tick already picks items for which a change takes effect now: the next tick may be hours away.
    if (found.due > 0) await lookAtDirty(store, corpus)
    return found
  })
  const { select, enqueue, ...ticked } = await store.do(pickAndOrder, corpus.name, clock)
  noted('select', select.ms, { pending: select.count })
  noted('enqueue', enqueue.ms, { enqueued: enqueue.count })
  return { stages, ...ticked }
}

function unwatched(store: ExecutorHost['store'], corpus: Corpus, listed: readonly string[] | undefined) {
  const seed = async () => plantAll(store, corpus, await seedlings(store, corpus, corpus.spec.autoSeed, listed))
  return { seed, look: () => scanTree(store, corpus, { listed }) }
}

function watched(watch: Pick<TreeWatch, 'look' | 'seed'>) {
  return { seed: () => watch.seed(), look: () => watch.look() }
}

function refuseUnseen(corpus: Corpus): void {
  const problem = rootProblem(corpus)
  if (problem === null) return
  throw new BelfryError('unavailable', `The root ${corpus.spec.root} of corpus ${corpus.name} ${problem}.`)
}

interface Picked extends Pick<Ticked, 'picked' | 'next' | 'says'> {
  readonly select: { readonly ms: number; readonly count: number }
  readonly enqueue: { readonly ms: number; readonly count: number }
}

function* pickAndOrder(context: StoreContext, name: string, clock: Pick<Attempt['clock'], 'monotonic'>): Step<Picked> {
  const none = { ms: 0, count: 0 }
  const corpus = yield* lockCorpus(context, name)
  if (corpus === null) return { picked: null, next: [], says: `Corpus ${name} is gone.`, select: none, enqueue: none }
  const since = clock.monotonic()
  const inLine = itemsInLine(yield* phaseRuns(corpus.id))
  const { ranked, by, groups } = yield* lineOf(corpus, headPast(inLine, 4))
  const selectedAt = clock.monotonic()
  const picked = yield* orderNext(context, corpus)
  if (ranked.length === 0) yield* saveCorpusCounts({ ...corpus, idle: Math.min(idleMax, corpus.idle * 2) })
  const enqueuedAt = clock.monotonic()
  const open = ranked.filter(({ path }) => !inLine.has(path))
  const others = open.filter(({ path }) => !picked.some((one) => one.path === path))
  const said = choiceInWords(corpus, { picked, by, open, isOwed: ranked.length > 0 })
  const held = ranked.length === 0 ? null : yield* standstillOf(context, corpus)
  return {
    picked: picked[0] ?? null,
    next: others.slice(0, 3).map(({ path, phase }) => ({ path, phase })),
    says: held === null ? said : heldInWords(said, picked, held),
    select: { ms: selectedAt - since, count: pendingIn(groups) },
    enqueue: { ms: enqueuedAt - selectedAt, count: picked.length },
  }
}

function pendingIn(groups: Line['groups']): number {
  return groups.reduce((sum, { status, items }) => sum + (status === 'pending' ? items : 0), 0)
}

function heldInWords(said: string, picked: readonly PickedPhase[], held: Hold): string {
  return picked.length === 0
    ? `Nothing was picked: ${standstillInWords(held)}.`
    : `${said} It waits: ${standstillInWords(held)}.`
}

interface Choice extends Pick<Line, 'by'> {
  readonly picked: readonly PickedPhase[]
  /** The ranking without the items that are in line already. */
  readonly open: Line['ranked']
  readonly isOwed: boolean
}

function choiceInWords({ spec }: Corpus, { picked, open, by, isOwed }: Choice): string {
  const [first, second] = open
  if (!isOwed) return 'Nothing was picked: no phase is pending.'
  if (picked.length === 0 || first === undefined)
    return `Nothing was picked: ${spec.concurrency === 1 ? 'a phase is' : `${spec.concurrency} phases are`} in line or at work already.`
  const fair = by === 'staleness' ? ` Every ${fairEvery}th pick leaves the bands out.` : ''
  const more = picked.length === 1 ? '' : ` ${picked.length - 1} more after it, one for each free slot.`
  if (second === undefined) return `The ${first.phase} of ${first.path} was picked: nothing else is pending.${fair}`
  const ahead = `The ${first.phase} of ${first.path} was picked before the ${second.phase} of ${second.path}`
  return `${ahead}: ${whyBefore(first, second, by)}.${fair}${more}`
}
