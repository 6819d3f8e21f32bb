import type { Policy } from '../../core/queue/policy.ts'
import { type OwnRetries, retriesIn, withRetries } from '../../core/run/retries.ts'
import { readPolicy } from '../queues/queue-row.ts'
import type { Row } from '../statement.ts'

/** A policy that cannot be read allows no further attempt: the queue is closed anyhow until the policy is set again. */
const noFurtherAttempt = { maxAttempts: 1, backoffBaseMs: 0, backoffFactor: 1, backoffCapMs: 0 } as const

/** The policy by which an end is judged. */
export type JudgingPolicy = Pick<Policy, keyof typeof noFurtherAttempt | 'backoffSpread' | 'onExhausted'>

/** The queue's current policy, with the run's own retries. */
export function judgingPolicy(facts: Row | undefined): JudgingPolicy {
  const policy = facts === undefined ? null : readPolicy(facts.policy as string)
  return policy === null ? noFurtherAttempt : withRetries(policy, ownRetries(facts?.options))
}

/** Most runs have no retries of their own, and then their options are not parsed. */
function ownRetries(options: Row[string] | undefined): OwnRetries {
  if (typeof options !== 'string' || !/"(?:maxAttempts|backoff)"/.test(options)) return {}
  try {
    return retriesIn(JSON.parse(options))
  } catch {
    // Damaged options have no retries: the queue's retries apply, and the next lease reports the damage.
    return {}
  }
}
