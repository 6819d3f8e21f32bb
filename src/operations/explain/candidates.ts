import type { GovernorState, TrailRule, TrailStep, Winner } from '../../core/schedule/governor.ts'
import type { AuthorKind } from '../../core/schedule/hint-author.ts'
import type { HintKind } from '../../core/schedule/hints.ts'
import type { HintView } from '../../store/views.ts'

/** A candidate for an instant, and its result. */
export interface Candidate {
  readonly by: Winner
  /** The instant asked for. */
  readonly wishedAt: number | null
  /** The instant it competed with; an instant in the past is due at once. */
  readonly at: number | null
  readonly effect: 'won' | 'lost' | 'ignored'
  readonly why: string
  /** The author of the hint; null for the schedule's own timing, and for a hint that retention removed. */
  readonly hint: Pick<HintView, 'by' | 'author' | 'reason' | 'expiresAt'> | null
}

/** A rule applied to the winner, in order. */
export interface AppliedRule {
  readonly rule: TrailRule
  readonly effect: TrailStep['effect']
  readonly from: number | null
  readonly at: number | null
  readonly why: string
}

export interface Reasoning {
  readonly candidates: readonly Candidate[]
  readonly rules: readonly AppliedRule[]
}

interface Trailed {
  readonly at: number
  readonly state?: GovernorState | undefined
  readonly trail: readonly TrailStep[]
}

const hintKinds: { readonly [Rule in Exclude<Winner, 'baseline'>]: HintKind } = {
  'interval-hint': 'interval',
  'oneshot-hint': 'oneshot',
}

/** Splits the trail of a decision into candidates and the rules applied to the winner. */
export function reasoningOf(decision: Trailed | null, hints: readonly HintView[]): Reasoning {
  const candidates: Candidate[] = []
  const rules: AppliedRule[] = []
  for (const { rule, from, at, effect, why, by: author } of decision?.trail ?? []) {
    const by = wisher(rule, effect)
    if (by === null || decision === null) rules.push({ rule, effect, from, at, why })
    else {
      const hint = by === 'baseline' ? null : hintOf({ kind: hintKinds[by], author }, decision, hints)
      candidates.push({ by, wishedAt: from, at, effect: effect as Candidate['effect'], why, hint })
    }
  }
  return { candidates, rules }
}

/** A single instant that is already planned is ignored by its rule; the candidate was the schedule's own. */
function wisher(rule: TrailRule, effect: TrailStep['effect']): Winner | null {
  if (rule === 'baseline' || rule === 'interval-hint' || rule === 'oneshot-hint') return rule
  return rule === 'last-planned' && effect === 'ignored' ? 'baseline' : null
}

/** The hint that the governor saw: the one with that expiry, or, where no expiry was stored, the newest before the decision. */
function hintOf(
  { kind, author }: { readonly kind: HintKind; readonly author: AuthorKind | undefined },
  { at, state }: Trailed,
  hints: readonly HintView[],
): Candidate['hint'] {
  const lower = state?.hints?.outranked?.find((hint) => hint.kind === kind && hint.by === author)
  const seen = author === undefined ? state?.hints?.[kind] : lower
  const found = hints.find((hint) => {
    if (hint.kind !== kind || hint.createdAt > at) return false
    return seen === undefined || (hint.expiresAt === seen.expiresAt && hint.by === (seen.by ?? 'person'))
  })
  if (found === undefined) return null
  return { by: found.by, author: found.author, reason: found.reason, expiresAt: found.expiresAt }
}
