import type { Clock } from '../../../core/clock.ts'
import { BelfryError } from '../../../core/error.ts'
import type { OperationContext, Outgoing } from '../../../operations/operation-context.ts'
import type { KindStore } from '../../../targets/kind.ts'
import { type Corpus, findCorpus } from '../corpus-row.ts'
import type { OutsideWatcher } from './outside-watcher.ts'
import { noteWatcher, type WatcherState } from './watcher-row.ts'

interface Known {
  readonly version: number
  readonly watcher: OutsideWatcher
}

/**
 * The external watchers that the workers of this process ask, by store. Ticks, phases and ticks that are left out share what is known of a
 * watcher.
 */
const known = new WeakMap<KindStore, Map<number, Known>>()

interface Asking extends Outgoing {
  readonly store: KindStore
  readonly clock: Clock
}

/** The external watcher of a corpus; undefined if it has none. */
export async function watcherOf(
  { store, clock, network, secrets }: Asking,
  corpus: Corpus,
): Promise<OutsideWatcher | undefined> {
  const ofStore = known.get(store) ?? new Map<number, Known>()
  known.set(store, ofStore)
  const before = ofStore.get(corpus.id)
  if (before?.version === corpus.version) return before.watcher
  before?.watcher.close()
  ofStore.delete(corpus.id)
  if (corpus.spec.watcher === undefined) return undefined
  const { OutsideWatcher } = await import('./outside-watcher.ts')
  const note = (state: WatcherState) => store.do(noteWatcher, corpus.id, state)
  const watcher = new OutsideWatcher({ note, corpus, outgoing: { network, secrets }, clock })
  ofStore.set(corpus.id, { version: corpus.version, watcher })
  return watcher
}

/** Closes the watchers of a worker that ends, and aborts the requests to them. */
export function closeWatchers(store: KindStore): void {
  for (const { watcher } of known.get(store)?.values() ?? []) watcher.close()
  known.delete(store)
}

/** Attends to the watcher of a corpus during a tick that is left out. Returns why that failed; null if it did not fail. */
export async function watcherProblem(store: KindStore, name: string): Promise<string | null> {
  const corpus = await store.look(findCorpus, name)
  const found = corpus === null ? undefined : known.get(store)?.get(corpus.id)
  // A watcher of an older definition is no longer asked; the tick after an edit is never left out.
  if (found === undefined || found.version !== corpus?.version) return null
  return await found.watcher.attend().then(
    () => null,
    (error: Error) => error.message,
  )
}

/**
 * The watcher that a verb asks instead of walking the tree itself. The watcher is new, so earlier failures do not block a person's request.
 */
export async function watcherFor(context: OperationContext, corpus: Corpus): Promise<OutsideWatcher | undefined> {
  const { clock, outgoing } = context
  if (corpus.spec.watcher === undefined) return undefined
  if (outgoing === undefined) {
    throw new BelfryError('unavailable', `This process cannot ask the watcher ${corpus.spec.watcher.url}.`, {
      hint: `A worker asks it at its next tick: \`belfry schedule run corpus:${corpus.name}\`.`,
      details: { corpus: corpus.name },
    })
  }
  const { OutsideWatcher } = await import('./outside-watcher.ts')
  return new OutsideWatcher({ corpus, outgoing, clock })
}
