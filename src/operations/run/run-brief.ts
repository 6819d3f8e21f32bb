import { unblockBrief } from '../explain/unblock.ts'
import { omit, pick } from '../schema/brief.ts'
import type { Run, RunLine } from './run-answer.ts'
import type { RunExplained } from './run-explained.ts'

const attemptsShown = 3

export function runLineBrief(value: RunLine): object {
  const { attempts, queue, lease, end } = value
  return {
    ...pick(value, 'id', 'status', 'schedule'),
    ...(queue !== 'default' && { queue }),
    ...(attempts > 0 && { attempts }),
    ...pick(value, 'enqueuedAt', 'notBefore', 'waiting', 'waitsFor', 'retryOf', 'parked'),
    ...(lease !== null && { lease: pick(lease, 'workerId', 'leasedAt', 'cancelRequestedAt', 'cancelReason') }),
    ...(end !== null && { end: pick(end, 'at', 'reason') }),
  }
}

export function runBrief(value: Run): object {
  const noise = ['decision', 'scheduleId', 'releases', 'deaths', 'policyVersion', 'lateAfter', 'repeatable'] as const
  return omit(value, ...noise, 'traceparent', 'priority', 'idempotencyKey', 'dedupeKey')
}

export function runExplainedBrief(value: RunExplained): object {
  const { attempts, planned, unblock } = value
  const shown = attempts.slice(-attemptsShown)
  return {
    ...pick(value, 'run', 'status', 'code', 'sentence', 'waiting', 'budget', 'next', 'notes'),
    unblock: unblockBrief(unblock),
    planned: pick(planned, 'source', 'sentence'),
    attempts: shown.map((attempt) => pick(attempt, 'fence', 'outcome', 'reason', 'verdict', 'nextAt')),
  }
}
