import { durationMsMax } from './duration.ts'
import type { Policy, PolicyProblem } from './policy.ts'

/** The parts of a backoff that a run has of its own. */
export interface OwnBackoff {
  readonly baseMs?: number
  readonly factor?: number
  readonly capMs?: number
}

/** What a run says of its own retries. What it does not say is as its queue says. */
export interface OwnRetries {
  readonly maxAttempts?: number
  readonly backoff?: OwnBackoff
}

type RetryPolicy = Pick<Policy, 'maxAttempts' | 'backoffBaseMs' | 'backoffFactor' | 'backoffCapMs'>

const attemptsMax = 1_000_000
const factorMax = 1_000

const isAttempts = (value: unknown) => isWhole(value, 1, attemptsMax)
const isWait = (value: unknown) => isWhole(value, 0, durationMsMax)
const isFactor = (value: unknown) => typeof value === 'number' && value >= 1 && value <= factorMax

/** Says everything that is wrong with the retries of a run or a schedule. An empty list means they are sound. */
export function retriesProblems({ maxAttempts, backoff }: OwnRetries): PolicyProblem[] {
  const { baseMs, factor, capMs } = backoff ?? {}
  const wait = `an integer from 0 to ${durationMsMax}`
  const rules = [
    ['attempts', maxAttempts, isAttempts, `an integer from 1 to ${attemptsMax}`],
    ['backoff.baseMs', baseMs, isWait, wait],
    ['backoff.factor', factor, isFactor, `a number from 1 to ${factorMax}`],
    ['backoff.capMs', capMs, isWait, wait],
  ] as const
  const problems: PolicyProblem[] = rules.flatMap(([field, value, fits, expected]) =>
    value === undefined || fits(value) ? [] : [{ field, problem: `is ${value}`, expected }],
  )
  if (isWait(baseMs) && isWait(capMs) && (capMs as number) < (baseMs as number)) {
    const expected = `at least \`backoff.baseMs\`, which is ${baseMs}`
    problems.push({ field: 'backoff.capMs', problem: `is ${capMs}`, expected })
  }
  return problems
}

/** The retries in what is stored of a run. A part that cannot be read is left out, so that the queue's holds. */
export function retriesIn(options: unknown): OwnRetries {
  const { maxAttempts, backoff } = recordOf(options)
  const { baseMs, factor, capMs } = recordOf(backoff)
  const own = {
    ...(isWait(baseMs) && { baseMs: baseMs as number }),
    ...(isFactor(factor) && { factor: factor as number }),
    ...(isWait(capMs) && { capMs: capMs as number }),
  }
  return {
    ...(isAttempts(maxAttempts) && { maxAttempts: maxAttempts as number }),
    ...(Object.keys(own).length > 0 && { backoff: own }),
  }
}

/**
 * The policy that a run is judged by: its own retries, and its queue's where it has none. The cap of the queue never
 * shortens the first wait that a run asks for itself: it was chosen for another base.
 */
export function withRetries<Judging extends RetryPolicy>(
  policy: Judging,
  { maxAttempts, backoff }: OwnRetries,
): Judging {
  if (maxAttempts === undefined && backoff === undefined) return policy
  const { baseMs, factor, capMs } = backoff ?? {}
  return {
    ...policy,
    maxAttempts: maxAttempts ?? policy.maxAttempts,
    backoffBaseMs: baseMs ?? policy.backoffBaseMs,
    backoffFactor: factor ?? policy.backoffFactor,
    backoffCapMs: capMs ?? Math.max(policy.backoffCapMs, baseMs ?? 0),
  }
}

function isWhole(value: unknown, min: number, max: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}
