import { z } from 'zod'
import { formatDuration } from '../../core/duration.ts'
import type { Policy } from '../../core/queue/policy.ts'
import { retriesIn, withRetries } from '../../core/run/retries.ts'
import { type AnswerOf, count } from '../schema/output-schema.ts'
import { plural } from './words.ts'

const sources = ['run', 'schedule', 'queue'] as const

/** Where a retry setting comes from: the run, its schedule when the run was created, or its queue now. */
export type RetriesSource = (typeof sources)[number]

export const retriesSchema = z
  .strictObject({
    maxAttempts: count('The most attempts, the first included.'),
    attemptsFrom: z.enum(sources).describe('Where it is set: the run, its schedule or its queue.'),
    backoff: z
      .strictObject({
        baseMs: count('The wait before the second attempt, in ms.'),
        factor: z.number().describe('The factor by which each wait grows.'),
        capMs: count('The longest wait between attempts, in ms.'),
      })
      .describe('The wait between attempts.'),
    backoffFrom: z
      .enum(sources)
      .describe('Where it is set; backoff fields that a run or schedule leaves out come from its queue.'),
  })
  .describe('The retry settings in force now.')

export type ExplainedRetries = AnswerOf<typeof retriesSchema>

/** The retry settings in force, where the queue's policy can be read; `owner` is the noun that has the options. */
export function retriesHeld(
  options: unknown,
  owner: Exclude<RetriesSource, 'queue'>,
  policy: Policy | null,
): ExplainedRetries | null {
  if (policy === null) return null
  const own = retriesIn(options)
  const { maxAttempts, backoffBaseMs: baseMs, backoffFactor: factor, backoffCapMs: capMs } = withRetries(policy, own)
  return {
    maxAttempts,
    attemptsFrom: own.maxAttempts === undefined ? 'queue' : owner,
    backoff: { baseMs, factor, capMs },
    backoffFrom: own.backoff === undefined ? 'queue' : owner,
  }
}

/** In words: "at most 5 attempts (set by its schedule), 5s × 2^(n−1) between them, at most 1m (set by its queue)". */
export function retriesInWords({ maxAttempts, attemptsFrom, backoff, backoffFrom }: ExplainedRetries): string {
  const { baseMs, factor, capMs } = backoff
  const waits = `${formatDuration(baseMs)} × ${factor}^(n−1) between them, at most ${formatDuration(capMs)}`
  const attempts = `at most ${plural(maxAttempts, 'attempt', 'attempts')}`
  if (attemptsFrom === backoffFrom) return `${attempts}, ${waits} (${says(attemptsFrom)})`
  return `${attempts} (${says(attemptsFrom)}), ${waits} (${says(backoffFrom)})`
}

function says(source: RetriesSource): string {
  return source === 'run' ? 'set by the run' : `set by its ${source}`
}
