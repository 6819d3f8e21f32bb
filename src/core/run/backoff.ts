import type { Policy } from '../queue/policy.ts'
import { hashFraction } from '../timing/spread.ts'

export type BackoffPolicy = Pick<Policy, 'backoffBaseMs' | 'backoffFactor' | 'backoffCapMs' | 'backoffSpread'>

export interface BackoffInput {
  /** How many attempts have been used, including the one that just ended. */
  readonly attempts: number
  readonly policy: BackoffPolicy
  /** For `backoffSpread`, which moves each run differently; without an id nothing is moved. */
  readonly runId?: string | undefined
}

/**
 * How long a run waits before its next attempt.
 *
 * The spread only shortens the wait. Lengthening it would have to stop at the cap, where a crowd of failing runs ends up, and
 * would leave exactly that crowd in step.
 */
export function backoffMs({ attempts, policy, runId }: BackoffInput): number {
  const exactMs = exactBackoffMs(attempts, policy)
  const spread = policy.backoffSpread ?? 0
  if (spread === 0 || runId === undefined) return exactMs
  // The attempt is part of the hash, or two runs that met once would meet after every attempt.
  return Math.round(exactMs * (1 - spread * hashFraction(`${runId}#${attempts}`)))
}

function exactBackoffMs(attempts: number, policy: BackoffPolicy): number {
  // Zero is separate because the power may overflow to infinity, and zero times infinity is not a number.
  if (policy.backoffBaseMs === 0) return 0
  const grownMs = policy.backoffBaseMs * policy.backoffFactor ** Math.max(0, attempts - 1)
  return Math.min(policy.backoffCapMs, Math.round(grownMs))
}
