import { verbsAt } from './desk.ts'
import type { Stage } from './stages.ts'

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
  'corpus trigger': filled,
  'corpus queue': filled,
  'corpus clear': filled,
  'corpus abort': filled,
  'corpus release': filled,
} as const
