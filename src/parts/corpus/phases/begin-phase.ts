import { owedFrom } from '../../../core/corpus/derive-phases.ts'
import { owedPhase, transition } from '../../../core/corpus/phases.ts'
import { parseId } from '../../../core/id.ts'
import { clockNow, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { formsOf, lockCorpus, phaseNames } from '../corpus-row.ts'
import { findItem, placed, saveItems } from '../items/item-row.ts'
import { discardLeftovers } from '../tree/document-file.ts'
import { lookAt, triedHash } from '../tree/look-item.ts'
import { type Seen, seenInStore } from '../tree/see-item.ts'
import type { BegunPhase } from './phase-effect.ts'
import { type PhaseOrder, recordPhase } from './phase-run.ts'

/** `isWrong`: the run did not do what it was enqueued for, and fails. */
export type Begun = BegunPhase | { readonly nothing: string; readonly isWrong?: true }

/** Chooses the phase when the attempt starts, and marks the item as at work. `seen` is null for an item in the store. */
export function* beginPhase(
  context: StoreContext,
  name: string,
  { order, run, seen }: { readonly order: PhaseOrder; readonly run: string; readonly seen: Seen | null },
): Step<Begun> {
  const corpus = yield* lockCorpus(context, name)
  if (corpus === null) return { nothing: 'its corpus is gone' }
  const found = yield* findItem(corpus.id, order.path)
  if (found === null) return { nothing: 'its item is gone' }
  const runId = parseId('run', run) as number
  if (found.runId !== null && found.runId !== runId) return { nothing: `run ${found.runId} is at work on the item` }
  // An earlier attempt of this run was given back, so the item begins again.
  if (found.runId !== null) yield* saveItems([{ before: found, after: placed({ ...found, runId: null }, corpus) }])
  const { root } = corpus.spec
  // Under the lock of the corpus, so that the file of an edit that is about to be renamed is not taken for a leftover.
  if (root !== null) discardLeftovers(root, order.path, '')
  const shown = seen ?? seenInStore(found)
  const { inputs } = yield* lookAt(corpus, [shown])
  const item = yield* findItem(corpus.id, order.path)
  if (item === null || shown.document === null) return { nothing: 'its document cannot be read', isWrong: true }
  const names = phaseNames(corpus)
  const isNamed = order.mode === 'trigger'
  // It was picked some time ago: a person may have disabled it since, and only a trigger runs it then.
  if (!isNamed && item.status === 'disabled') return { nothing: 'its item is disabled' }
  const retried = transition({ phaseState: item.state, event: { type: 'retry' }, phases: names })
  const state = order.from === undefined ? (isNamed ? retried : item.state) : owedFrom(item.state, order.from, names)
  const phase = owedPhase(state, names)
  const form = formsOf(corpus).find((one) => one.name === phase)
  if (phase === null || form === undefined || state[phase] !== 'pending') return { nothing: 'nothing is owed' }
  const consumed = inputs.get(order.path)?.[phase] ?? {}
  const started = transition({ phaseState: state, event: { type: 'start', phase }, phases: names })
  const facts = { ...item.facts, tried: triedHash(consumed) }
  const after = placed({ ...item, state: started, runId, facts, reason: null, nextAt: null }, corpus)
  yield* saveItems([{ before: item, after }])
  yield* recordPhase(corpus, order, { runId, phase, at: yield* clockNow() })
  const { document, raw: text } = shown
  return { corpus, item: after, form, forms: formsOf(corpus), document, text, phaseState: started, consumed }
}
