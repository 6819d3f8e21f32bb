import type { HintView } from '../../store/views.ts'

/** A hint, and whether it is in force. */
export interface ExplainedHint extends HintView {
  readonly counts: boolean
  readonly why: string
}

export function explainHint(hint: HintView, now: number): ExplainedHint {
  const counts = hint.ended === null && hint.expiresAt > now
  return { ...hint, counts, why: whyOf(hint, counts, now) }
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
