import { type Corpus, lockCorpus } from '../../src/parts/corpus/corpus-row.ts'
import { keepCopy } from '../../src/parts/corpus/items/snapshots.ts'
import type { StoreContext } from '../../src/store/store-context.ts'
import { verbsAt } from './desk.ts'
import type { Stage } from './stages.ts'

/** The snapshot of the examples. */
const snapshotAt = Date.UTC(2026, 0, 4, 9)
const nothing: Stage = async () => ({})

/** The corpus of the examples, without items. */
const made: Stage = async ({ context }) => {
  await verbsAt(() => context).corpora.create({ name: 'faq', target: { handler: 'write' } })
  return {}
}

/** With the item of the examples. */
const filled: Stage = async (desk) => {
  await made(desk)
  const item = { name: 'faq', path: 'billing/refunds', sources: { ticket: 'How long does a refund take?' } }
  await verbsAt(() => desk.context).corpora.putItem(item)
  return {}
}

/** With a snapshot of it, as the end of a full cycle keeps one. */
const archived: Stage = async (desk) => {
  await filled(desk)
  const { store } = desk.context
  await store.do(function* (context: StoreContext) {
    const corpus = (yield* lockCorpus(context, 'faq')) as Corpus
    yield* keepCopy(corpus, { path: 'billing/refunds', document: { _content: 'Five days.' } }, { at: snapshotAt })
  })
  return {}
}

/** The stages of corpora. */
export const corpusStages = {
  'corpus create': nothing,
  'corpus put': nothing,
  'corpus get': made,
  'corpus status': filled,
  'corpus list': filled,
  'corpus delete': filled,
  'corpus scan': filled,
  'corpus tick': filled,
  'corpus item': filled,
  'corpus update': filled,
  'corpus putItem': made,
  'corpus deleteItem': filled,
  'corpus seed': made,
  'corpus preview': filled,
  'corpus explain': filled,
  'corpus history': archived,
  'corpus diff': archived,
  'corpus restore': archived,
  'corpus repair': filled,
  'corpus trigger': filled,
  'corpus queue': filled,
  'corpus clear': filled,
  'corpus abort': filled,
  'corpus release': filled,
} as const
