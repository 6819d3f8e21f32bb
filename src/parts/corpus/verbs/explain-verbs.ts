import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import {
  type AnswerOf,
  advice,
  count,
  flag,
  instantOutput,
  outputOf,
  text,
} from '../../../operations/schema/output-schema.ts'
import { type Corpus, formsOf } from '../corpus-row.ts'
import { changedInWords } from '../items/changed-in-words.ts'
import { explainItem, type ItemExplained } from '../items/explain-item.ts'
import type { Item } from '../items/item-row.ts'
import { fairEvery } from '../items/pick-item.ts'
import { phaseDocument } from '../phases/phase-context.ts'
import { instantIn } from '../tree/look-item.ts'
import { itemAnswer, itemSchema } from './corpus-answer.ts'
import { documentOf, documentSchema, presentItem, reading, subject } from './item-verbs.ts'
import { presentIn } from './present-corpus.ts'
import { showExplained, showPreview } from './show.ts'

const previewSchema = z.strictObject({
  path: text('The item.'),
  phase: text('The phase that would run.'),
  isOwed: flag('Whether it is owed.'),
  document: documentSchema.describe('What the phase would be handed.'),
  wouldLookAgain: z.array(z.string()).describe('Items that read its content, and would be looked at again.'),
})
export type PreviewAnswer = AnswerOf<typeof previewSchema>

export const preview = operation({
  ...reading,
  verb: 'preview',
  says: 'Show the very document that the next phase of an item would be handed, and what would follow from it.',
  request: 'a preview',
  input: z.strictObject(subject),
  output: outputOf<PreviewAnswer>()(previewSchema),
  show: showPreview,
  examples: [{ name: 'faq', path: 'billing/refunds' }],
  async run(context, { name, path }) {
    const corpus = await presentIn(context, name)
    const found = await presentItem(context, corpus, path)
    const forms = formsOf(corpus)
    const form = forms.find((one) => one.name === found.phase) ?? forms[0]
    if (form === undefined) throw new Error('A corpus has a phase.')
    const document = await phaseDocument(context.store, {
      corpus,
      item: found,
      document: documentOf(corpus, found),
      form,
    })
    const { readers } = await context.store.look(explainItem, corpus, found)
    return {
      path,
      phase: form.name,
      isOwed: found.phase !== '',
      document: document as unknown as Record<string, unknown>,
      wouldLookAgain: [...readers],
    }
  },
})

const explainedSchema = z.strictObject({
  item: itemSchema.describe('Where it stands.'),
  says: advice('Where it stands, and why.'),
  staleness: z
    .strictObject({
      seconds: z.number().nullable().describe('Since it was generated; null if never.'),
      depth: z.number().describe('Below the least deep item.'),
      exponent: z.number().describe('The depth weight times the emphasis.'),
      depthFactor: z.number().describe('The depth + 1 to the power of the exponent.'),
      effective: z.number().nullable().describe('The seconds times the factor.'),
    })
    .describe('The arithmetic.'),
  place: count('Its place in line, from 1.').nullable(),
  pending: count('Items in line.'),
  ahead: z
    .array(
      z.strictObject({
        path: text('The item.'),
        phase: text('Its phase.'),
        band: count('Its band.'),
        staleness: z.number().nullable().describe('Weighted seconds.'),
      }),
    )
    .describe('The first of the line.'),
  changed: z.array(z.record(z.string(), z.unknown())).describe('Inputs that differ from what its phases consumed.'),
  nextAt: instantOutput('When it is tried or looked at again.').nullable(),
  wouldLookAgain: z.array(z.string()).describe('Items that its commit would make look again.'),
})
export type ExplainedAnswer = AnswerOf<typeof explainedSchema>

export const explain = operation({
  ...reading,
  verb: 'explain',
  says: 'Explain where an item stands: its phase, its rank with the arithmetic, what invalidated it, and what follows.',
  request: 'an explanation',
  input: z.strictObject(subject),
  output: outputOf<ExplainedAnswer>()(explainedSchema),
  show: showExplained,
  examples: [{ name: 'faq', path: 'billing/refunds' }],
  async run(context, { name, path }) {
    const corpus = await presentIn(context, name)
    const found = await presentItem(context, corpus, path)
    const explained = await context.store.look(explainItem, corpus, found)
    const { staleness, place, pending, ahead, readers } = explained
    const { seconds, depthFactor } = staleness
    return {
      item: itemAnswer(corpus, found),
      says: sentence(corpus, explained),
      staleness: { ...staleness, effective: seconds === null ? null : seconds * depthFactor },
      place,
      pending,
      ahead: ahead.map((one) => ({
        path: one.path,
        phase: one.phase,
        band: one.band,
        staleness: one.effectiveStaleness,
      })),
      changed: changedSince(found),
      nextAt: found.nextAt,
      wouldLookAgain: [...readers],
    }
  },
})

/** What changed, each with the instant at which its phase consumed the input before. */
function changedSince({ facts: { changed = [], consumed = {} } }: Item): Record<string, unknown>[] {
  return changed.map((one) => {
    const { at } = (consumed[one.phase] ?? {}) as { readonly at?: string }
    const since = instantIn(at)
    return { ...one, ...(since !== null && { since }) }
  })
}

function sentence(
  { name, spec }: Corpus,
  { item: found, band, place, pending, staleness, by, now }: ItemExplained,
): string {
  const { status, phase, reason, attempts, facts, path } = found
  const changed = (facts.changed ?? []).map((one) => changedInWords(one, now)).join('; ')
  const why = changed === '' ? '' : ` Changed: ${changed}.`
  if (status === 'fresh') return `It is fresh.${why}`
  if (status === 'parked')
    return `${phase} is parked: ${reason}. Let it go on: \`belfry corpus release ${name} ${path}\`.`
  if (status === 'failed')
    return `${phase} failed ${attempts === 1 ? 'once' : `${attempts} times, at last`}: ${facts.error?.message ?? 'unknown'}. It is tried again, ${attempts + 1} of ${spec.attempts}.${why}`
  if (status === 'disabled') return `It is disabled, and owes ${phase || 'nothing'}.`
  if (status === 'unreadable')
    return `Its document ${facts.error?.message ?? 'cannot be read'}. Correct it, or \`belfry corpus repair ${name} ${path}\` takes the newest snapshot.`
  if (status === 'running') return `${phase} is at work.`
  const { seconds, depth, exponent, depthFactor } = staleness
  const sum =
    seconds === null
      ? 'it was never generated'
      : `${Math.round(seconds).toLocaleString('en')} s × ${depth + 1}^${exponent} = ${Math.round(seconds * depthFactor).toLocaleString('en')}`
  const fair = by === 'staleness' ? ` Every ${fairEvery}th pick leaves the bands out, and the next one does.` : ''
  return `${phase}, band ${band}, place ${place} of ${pending}: ${sum}.${fair}${why}`
}

export const explainOperations = {
  /** Show the very document that the next phase of an item would be handed, and what would follow from it. */
  preview,
  /** Explain where an item stands: its phase, its rank with the arithmetic, what invalidated it, and what follows. */
  explain,
}
