import { z } from 'zod'
import {
  type GovernorState,
  type TrailRule,
  type TrailStep,
  type Winner,
  winners,
} from '../../core/schedule/governor.ts'
import type { AuthorKind } from '../../core/schedule/hint-author.ts'
import type { HintKind } from '../../core/schedule/hints.ts'
import type { HintView } from '../../store/views.ts'
import { type AnswerOf, instantOutput, text } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'
import { authorKind, trailEffect, trailRule } from './decision-schema.ts'

export const candidate = noted(
  z
    .strictObject({
      by: z.enum(winners).describe('What requests the instant: the timing of the schedule, or a hint.'),
      wishedAt: instantOutput('The requested instant.').nullable(),
      at: instantOutput(
        'The instant that was compared with the other candidates; an instant in the past is due at once.',
      ).nullable(),
      effect: z.enum(['won', 'lost', 'ignored']).describe('The result.'),
      why: text('Why, in words.'),
      hint: z
        .strictObject({
          by: authorKind,
          author: text('The author.'),
          reason: text('Why it was given.'),
          expiresAt: instantOutput('When it expires.'),
        })
        .nullable()
        .describe('The id of the hint; null when the candidate is not a hint, or when the hint was removed.'),
    })
    .describe('A candidate for the next instant.'),
  { id: 'Candidate' },
)
export type Candidate = AnswerOf<typeof candidate>

export const appliedRule = noted(
  z
    .strictObject({
      rule: trailRule,
      effect: trailEffect.describe('What the rule did.'),
      from: instantOutput('The instant before the rule.').nullable(),
      at: instantOutput('The instant after the rule.').nullable(),
      why: text('Why, in words.'),
    })
    .describe('A rule that was applied.'),
  { id: 'AppliedRule' },
)
export type AppliedRule = AnswerOf<typeof appliedRule>

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

/**
 * The rule of a single instant ignores an instant that is already planned; the candidate was the schedule's
 * own timing.
 */
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
