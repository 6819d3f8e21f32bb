import { z } from 'zod'
import type { Hints } from '../../core/schedule/governor.ts'
import { type AuthorKind, rankNames, rankOf } from '../../core/schedule/hint-author.ts'
import type { HintView } from '../../store/views.ts'
import { type AnswerOf, flag, text } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'
import { hintShape } from './schedule-schema.ts'

export const explainedHint = noted(
  z
    .strictObject({
      ...hintShape,
      counts: flag('Whether it is in force.'),
      why: text('Why, in words.'),
    })
    .describe('A hint, and whether it is in force.'),
  { id: 'HintTold' },
)
export type ExplainedHint = AnswerOf<typeof explainedHint>

/** Explains a hint among those of its schedule. */
export function explainHint(hint: HintView, hints: Hints, now: number): ExplainedHint {
  const lives = hint.ended === null && hint.expiresAt > now
  const above = outrankedBy(hint, hints, now)
  if (above === null) return { ...hint, counts: lives, why: whyOf(hint, lives, now) }
  return {
    ...hint,
    counts: false,
    why: `a hint of ${rankNames[rankOf(above)]} outranks it; it counts again when that ends`,
  }
}

/** The author of the hint that counts in place of this one, if there is such a hint. */
export function outrankedBy(hint: HintView, hints: Hints, now: number): AuthorKind | null {
  const counting = hints[hint.kind]
  if (hint.ended !== null || hint.expiresAt <= now || counting === undefined || counting.expiresAt <= now) return null
  const above = counting.by ?? 'person'
  return rankOf(above) < rankOf(hint.by) ? above : null
}

const ends: { readonly [By in NonNullable<HintView['ended']>['by']]: string } = {
  consumed: 'a run has used it',
  replaced: 'a newer hint replaced it',
  cleared: 'it was cleared',
  expired: 'it has expired',
  edited: 'the schedule was edited to run at a single instant',
}

function whyOf({ kind, value, ended }: HintView, counts: boolean, now: number): string {
  if (ended !== null) return ends[ended.by]
  if (!counts) return ends.expired
  const isDue = kind === 'oneshot' && value <= now
  return isDue ? 'it is due: it waits to be fired, or for a live run to end' : 'it is in force until it expires'
}
