import { z } from 'zod'
import { formatDuration } from '../../core/duration.ts'
import type { Policy } from '../../core/queue/policy.ts'
import { retriesIn, withRetries } from '../../core/run/retries.ts'
import { count, outputOf } from '../schema/output-schema.ts'
import { plural } from './words.ts'

const sources = ['run', 'schedule', 'queue'] as const

/** Who says it: the run itself, its schedule when the run was made, or its queue at this moment. */
export type RetriesSource = (typeof sources)[number]

/** How a run is tried again, and who says so. */
export interface ExplainedRetries {
  readonly maxAttempts: number
  readonly attemptsFrom: RetriesSource
  readonly backoff: { readonly baseMs: number; readonly factor: number; readonly capMs: number }
  readonly backoffFrom: RetriesSource
}

export const retriesSchema = outputOf<ExplainedRetries>()(
  z
    .strictObject({
      maxAttempts: count('How often a run is tried, the first attempt included.'),
      attemptsFrom: z.enum(sources).describe('Who says so: the run, its schedule or its queue.'),
      backoff: z
        .strictObject({
          baseMs: count('The wait before the second attempt, in ms.'),
          factor: z.number().describe('By how much each wait is longer than the one before.'),
          capMs: count('The longest wait between attempts, in ms.'),
        })
        .describe('How long it waits between attempts.'),
      backoffFrom: z
        .enum(sources)
        .describe('Who says so; what a run or a schedule leaves out of its backoff is as its queue says.'),
    })
    .describe('How a run is tried again, by what holds at this moment.'),
)

/** The retries that hold, where the queue's policy can be read; `owner` is who the options are of. */
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

/** The same in words, such as "at most 5 attempts (its schedule says so), 5s × 2^(n−1) between them, at most 1m (its queue says so)". */
export function retriesInWords({ maxAttempts, attemptsFrom, backoff, backoffFrom }: ExplainedRetries): string {
  const { baseMs, factor, capMs } = backoff
  const waits = `${formatDuration(baseMs)} × ${factor}^(n−1) between them, at most ${formatDuration(capMs)}`
  const attempts = `at most ${plural(maxAttempts, 'attempt', 'attempts')}`
  if (attemptsFrom === backoffFrom) return `${attempts}, ${waits} (${says(attemptsFrom)})`
  return `${attempts} (${says(attemptsFrom)}), ${waits} (${says(backoffFrom)})`
}

function says(source: RetriesSource): string {
  return source === 'run' ? 'the run says so itself' : `its ${source} says so`
}
