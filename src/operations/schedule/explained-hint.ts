import type { Hints } from '../../core/schedule/governor.ts'
import { rankNames, rankOf } from '../../core/schedule/hint-author.ts'
import type { HintView } from '../../store/views.ts'

/** A hint, and whether it is in force. */
export interface ExplainedHint extends HintView {
  readonly counts: boolean
  readonly why: string
}

/** Explains a hint among those of its schedule. */
export function explainHint(hint: HintView, hints: Hints, now: number): ExplainedHint {
  const lives = hint.ended === null && hint.expiresAt > now
  const above = hints[hint.kind]?.by ?? 'person'
  const isOutranked = lives && rankOf(above) < rankOf(hint.by)
  const outranked = `a hint of ${rankNames[rankOf(above)]} outranks it; it counts again when that ends`
  return { ...hint, counts: lives && !isOutranked, why: isOutranked ? outranked : whyOf(hint, lives, now) }
}

const ends: { readonly [By in NonNullable<HintView['ended']>['by']]: string } = {
  consumed: 'a run has used it',
  replaced: 'a newer hint replaced it',
  cleared: 'it was cleared',
  expired: 'it has expired',
}

function whyOf({ kind, value, ended }: HintView, counts: boolean, now: number): string {
  if (ended !== null) return ends[ended.by]
  if (!counts) return ends.expired
  const isDue = kind === 'oneshot' && value <= now
  return isDue ? 'it is due: it waits to be fired, or for a live run to end' : 'it is in force until it expires'
}
