import { fieldProblems, type StoredOf } from '../field-table.ts'
import { isRecord } from '../json/record.ts'
import type { Problem } from '../problem.ts'
import type { Policy } from '../queue/policy.ts'
import { backoffFields, executionFields } from './work-fields.ts'

/** The backoff fields that a run sets itself. */
export type OwnBackoff = StoredOf<typeof backoffFields>

/** A run's own retries. Missing fields come from its queue. */
export interface OwnRetries {
  readonly maxAttempts?: number | undefined
  readonly backoff?: OwnBackoff | undefined
}

type RetryPolicy = Pick<Policy, 'maxAttempts' | 'backoffBaseMs' | 'backoffFactor' | 'backoffCapMs'>

const { attempts, backoff: backoffField } = executionFields
const retryFields = { attempts, backoff: backoffField }

/** All problems of the retries of a run or a schedule. Empty: valid. */
export function retriesProblems({ maxAttempts, backoff }: OwnRetries): Problem[] {
  const problems = fieldProblems(retryFields, { attempts: maxAttempts, backoff }, { noun: 'a backoff' })
  const { baseMs, capMs } = backoff ?? {}
  const isWrong = problems.some(({ field }) => /Ms$/.test(field))
  if (!isWrong && baseMs !== undefined && capMs !== undefined && capMs < baseMs) {
    const expected = `at least \`backoff.baseMs\`, which is ${baseMs}`
    problems.push({ field: 'backoff.capMs', problem: `is ${capMs}`, expected })
  }
  return problems
}

/** The retries in a run's stored options. An unreadable field is left out, so that the queue's applies. */
export function retriesIn(options: unknown): OwnRetries {
  const { maxAttempts, backoff } = recordOf(options)
  const { baseMs, factor, capMs } = recordOf(backoff)
  const { base, factor: ofFactor, cap } = backoffFields
  const own = {
    ...(base.problem(baseMs) === null && { baseMs: baseMs as number }),
    ...(ofFactor.problem(factor) === null && { factor: factor as number }),
    ...(cap.problem(capMs) === null && { capMs: capMs as number }),
  }
  return {
    ...(attempts.problem(maxAttempts) === null && { maxAttempts: maxAttempts as number }),
    ...(Object.keys(own).length > 0 && { backoff: own }),
  }
}

/**
 * The policy by which a run is judged: its own retries, and its queue's where it has none. The queue's cap never shortens the
 * run's own first wait, because the cap was chosen for another base.
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

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {}
}
