import type { Usage } from '../run/usage.ts'
import type { Utilisation } from '../run/utilisation.ts'
import type { TranscriptProfile } from './profile.ts'
import type { Transcript } from './transcript.ts'

/** Why an attempt of an agent failed. */
export type AgentFailure =
  | 'stalled'
  | 'no-answer'
  | 'agent-setup'
  | 'permission-denied'
  | 'agent-limit'
  | 'agent-error'
  | 'empty-answer'

export type TranscriptVerdict =
  | { readonly kind: 'answered'; readonly text: string }
  /** The provider refused because of its limit. */
  | {
      readonly kind: 'limited'
      readonly resetAt?: number | undefined
      readonly window?: string | undefined
      readonly hasBegun: boolean
    }
  | { readonly kind: 'failed'; readonly code: AgentFailure; readonly why: string; readonly retryable?: false }

export interface JudgedTranscript {
  readonly facts: Transcript
  readonly profile: Pick<TranscriptProfile, 'verdict' | 'denials' | 'stream'>
  readonly exitCode: number | null
  readonly signal?: string | null | undefined
  /** Why the agent was stopped although it had not answered. */
  readonly stalled?: string | undefined
}

/**
 * Judges how an agent ended by what it reported, not by its exit code: agents exit with 0 after a refused login, and with 1 after a
 * good answer.
 *
 * Only a final message with a text is an answer. A limit counts only where a structured field says so: a sentence that speaks of
 * limits may be the answer itself, and must not stop an account. A limit that the agent got past does not count.
 */
export function transcriptVerdict({ facts, profile, exitCode, signal, stalled }: JudgedTranscript): TranscriptVerdict {
  const proven = { ...facts.proven, ...provenByExit(exitCode, { facts, profile }) }
  const { setup, exhausted, error } = proven
  const isProven = setup !== undefined || exhausted !== undefined || error !== undefined
  const hasAnswer = facts.isDone && facts.text !== undefined && facts.text.trim() !== '' && !isProven
  if (facts.limit !== undefined && !hasAnswer) {
    const { limit, window, hasActed } = facts
    return { kind: 'limited', resetAt: limit.resetAt, window, hasBegun: hasActed }
  }
  const how = signal ? `ended by ${signal}` : exitCode === null ? 'it was ended' : `exit code ${exitCode}`
  if (stalled !== undefined && !facts.isDone) return failed('stalled', stalled)
  if (!facts.isDone && !isProven) return failed('no-answer', `it gave no final message (${how})`)
  if (setup !== undefined) return { ...failed('agent-setup', setup || how), retryable: false }
  if (facts.denials.length > 0 && profile.denials !== 'ignore') {
    // A denied tool would be denied again, at the same cost.
    return { ...failed('permission-denied', facts.denials.join(', ')), retryable: false }
  }
  if (exhausted !== undefined) return { ...failed('agent-limit', exhausted || how), retryable: false }
  if (error !== undefined) return failed('agent-error', error || how)
  if (facts.text === undefined) return failed('no-answer', 'its final message has no answer')
  return hasAnswer ? { kind: 'answered', text: facts.text } : failed('empty-answer', 'its answer is empty')
}

/** Whether a run ended because its agent could not begin: the login or the configuration is wrong. */
export function isSetupFailure(reason: string): boolean {
  return reason.startsWith('agent-setup: ' satisfies `${AgentFailure}: `)
}

function failed(code: AgentFailure, why: string) {
  return { kind: 'failed', code, why } as const
}

/**
 * An exit code proves what the profile assigns to it, unless there is an answer; then it names the kind of error that a final message
 * reports. In plain text the exit code is the only evidence.
 */
function provenByExit(exitCode: number | null, { facts, profile }: Pick<JudgedTranscript, 'facts' | 'profile'>) {
  const proof = profile.verdict?.exits?.[String(exitCode)]
  const { isDone, proven } = facts
  if ((isDone && proven.error === undefined) || exitCode === null || exitCode === 0) return {}
  if (proof !== undefined) return { [proof]: proven[proof] ?? proven.error ?? `exit code ${exitCode}` }
  return profile.stream === 'text' ? { error: facts.proven.error ?? `exit code ${exitCode}` } : {}
}

/** The reported use of the provider's limits, for limits whose reset is known. */
export function transcriptUtilisation({ utilisation, window, resetAt }: Transcript): Utilisation[] {
  return Object.entries(utilisation).flatMap(([name, limit]) => {
    const opensAt = limit.resetAt ?? (name === window ? resetAt : undefined)
    return opensAt === undefined ? [] : [{ window: name, share: limit.share, resetAt: opensAt }]
  })
}

/** What the attempt has used: as reported, or computed from the prices of its model where no money was reported. */
export function transcriptUsage(
  facts: Transcript,
  profile: Pick<TranscriptProfile, 'prices' | 'currency'>,
): Usage | undefined {
  const { tokensIn, tokensOut, tokensCached } = facts
  const amount = facts.cost ?? priced(facts, profile)
  const tokens = { tokensIn, tokensOut, tokensCached }
  const known = Object.fromEntries(Object.entries(tokens).filter(([, count]) => count !== undefined))
  const money = amount === undefined ? {} : { money: { amount, currency: profile.currency ?? 'USD' } }
  const usage = { ...known, ...money }
  return Object.keys(usage).length === 0 ? undefined : usage
}

function priced(
  { model = '', tokensIn, tokensOut, tokensCached = 0 }: Transcript,
  { prices = {} }: Pick<TranscriptProfile, 'prices'>,
) {
  const price = Object.hasOwn(prices, model) ? prices[model] : prices['*']
  if (price === undefined || (tokensIn === undefined && tokensOut === undefined)) return undefined
  // A price of a million tokens in units is the price of one token in millionths.
  return Math.round(
    (tokensIn ?? 0) * price.in + (tokensOut ?? 0) * price.out + tokensCached * (price.cached ?? price.in),
  )
}
