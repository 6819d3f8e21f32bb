import type { TranscriptProfile } from '../../core/agent/profile.ts'
import type { Transcript } from '../../core/agent/transcript.ts'
import { transcriptUsage, transcriptUtilisation, transcriptVerdict } from '../../core/agent/transcript-verdict.ts'
import { patternMatches } from '../../core/json/pattern.ts'
import { reasonText } from '../../core/reason-text.ts'
import type { EndFacts, RateLimited } from '../../core/run/expect.ts'
import type { Ended } from '../../targets/attempt.ts'
import type { AgentEnd } from './agent-process.ts'
import type { KeptFacts } from './attempt-rows.ts'
import type { AgentProfile } from './profile-form.ts'

/** A result above 100 KB would be truncated as one piece, so the text inside it is truncated instead. */
const textBytesMax = 64 * 1024
const complaintLengthMax = 200

/** The end of an attempt: what the transcript proves, and what the store keeps as its result. */
export function endedBy(
  { exit, reader: { facts }, complaints, stalled, hasLingered }: AgentEnd,
  { profile, isResumed, durationMs }: { profile: AgentProfile; isResumed: boolean; durationMs: number },
): Ended {
  const verdict = transcriptVerdict({ facts, profile, stalled, ...exit })
  const usage = transcriptUsage(facts, profile)
  const utilisation = transcriptUtilisation(facts)
  const { sessionId, model, turns, denials } = facts
  const result = onlyKnown({
    ...textOf(facts.text),
    profile: profile.name,
    model,
    sessionId,
    turns,
    usage,
    ...(utilisation.length > 0 && { utilisation }),
    ...(denials.length > 0 && { denials }),
    ...(isResumed && { resumed: true }),
    ...(hasLingered && { lingered: true }),
    exitCode: exit.exitCode,
    durationMs,
  })
  return { facts: { utilisation, ...factsOf(verdict, complaints) }, result }
}

function factsOf(verdict: ReturnType<typeof transcriptVerdict>, complaints: string): EndFacts {
  switch (verdict.kind) {
    case 'answered':
      return { text: verdict.text, ...jsonOf(verdict.text) }
    case 'limited': {
      const { kind: _, ...limit } = { ...verdict, defersAlways: true }
      return { error: 'rate-limited: the provider refused by its limit', rateLimited: onlyKnown(limit) as RateLimited }
    }
    case 'failed': {
      const { code, why, retryable } = verdict
      // Often only stderr says why the agent failed.
      const last = code === 'no-answer' || code === 'agent-error' ? lastLine(complaints) : ''
      const error = `${code}: ${reasonText(why, complaintLengthMax)}${last === '' || why.includes(last) ? '' : `; ${last}`}`
      return { error, ...(retryable !== undefined && { retryable }) }
    }
  }
}

/** Whether a program that should continue a session reported that the session does not exist, and did nothing else. */
export function isMissingSession(
  { exit, reader: { facts }, hasSpoken, complaints, stalled }: AgentEnd,
  { missing = [] }: AgentProfile,
): boolean {
  if (facts.hasActed || facts.limit !== undefined || facts.proven.setup !== undefined) return false
  // Some exit with 0 and print nothing. A program that was killed, or hung at its start, may still have its session.
  if (!hasSpoken && !facts.isDone && complaints === '') return exit.exitCode === 0 && stalled === undefined
  const said = [complaints, facts.proven.error ?? '', facts.text ?? ''].map((text) => text.slice(-complaintsReadMax))
  return missing.some((pattern) => said.some((text) => patternMatches(pattern, text)))
}

const complaintsReadMax = 4_000

/** The facts that the store keeps with the attempt. */
export function keptFacts(
  facts: Transcript,
  profile: Pick<TranscriptProfile, 'prices' | 'currency'>,
): Partial<KeptFacts> {
  const { model, turns } = facts
  return onlyKnown({ model, turns, ...transcriptUsage(facts, profile) })
}

function textOf(text: string | undefined): object {
  if (text === undefined) return {}
  const bytes = Buffer.from(text)
  if (bytes.length <= textBytesMax) return { text }
  return {
    text: new TextDecoder().decode(bytes.subarray(0, textBytesMax)).replace(/\uFFFD+$/, ''),
    textTruncated: true,
  }
}

/** Parses an answer that is JSON, so that rules for JSON can check it. */
function jsonOf(text: string): Pick<EndFacts, 'json'> {
  try {
    return { json: JSON.parse(text) }
  } catch {
    return {}
  }
}

function lastLine(text: string): string {
  return reasonText(text.trimEnd().split('\n').at(-1) ?? '', complaintLengthMax)
}

type Known<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> }

function onlyKnown<Fields extends object>(fields: Fields): Known<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Known<Fields>
}
