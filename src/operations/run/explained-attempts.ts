import { z } from 'zod'
import type { Policy } from '../../core/queue/policy.ts'
import { backoffMs } from '../../core/run/backoff.ts'
import { retriesIn, withRetries } from '../../core/run/retries.ts'
import type { AttemptView, RunView } from '../../store/views.ts'
import { type Fleet, workerName } from '../explain/fleet.ts'
import { about, clause } from '../explain/words.ts'
import { type AnswerOf, count, flag, instantOutput, text } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'
import { endedStatuses } from './run-statuses.ts'

export const explainedAttempt = noted(
  z
    .strictObject({
      fence: count('The number of the attempt.'),
      workerId: text('The id of the worker that executed it.').nullable(),
      worker: text('The name and host of that worker.').nullable(),
      startedAt: instantOutput('When it was leased.').nullable(),
      endedAt: instantOutput('When it ended.'),
      outcome: text('How the attempt ended, such as success, failed, lost, released or cancelled.'),
      reason: text('Why.').nullable(),
      ends: z.enum(endedStatuses).nullable().describe('The status with which the run ended, if this attempt ended it.'),
      isCounted: flag('Whether it counts as one of the run’s attempts.'),
      verdict: text('What followed its end.'),
      nextAt: instantOutput('When the next attempt started, or may start.').nullable(),
    })
    .describe('An attempt, and what followed its end.'),
  { id: 'AttemptTold' },
)
export type ExplainedAttempt = AnswerOf<typeof explainedAttempt>

export interface AttemptsInput {
  readonly run: RunView
  readonly attempts: readonly AttemptView[]
  /** The current policy; each end was judged by the policy of its time. */
  readonly policy: Policy | null
  readonly fleet: Fleet
}

const countedOutcomes: ReadonlySet<string> = new Set(['failed', 'lost', 'unknown'])

/** Says what followed each end: another attempt after some wait, the end of the run, or parking. */
export function explainAttempts({ run, attempts, policy, fleet }: AttemptsInput): ExplainedAttempt[] {
  let counted = 0
  return attempts.map((attempt, index) => {
    // Nothing that happens after a cancel request uses an attempt.
    const isSpent = countedOutcomes.has(attempt.outcome) || attempt.reason?.startsWith('bounced') === true
    const isCounted = isSpent && attempt.ends !== 'cancelled'
    // A reset restores all attempts.
    counted = index > 0 && wasParked(attempts[index - 1]) ? 0 : counted
    counted += isCounted ? 1 : 0
    const follower = attempts[index + 1]
    const nextAt = attempt.ends === null ? nextStart(run, follower) : null
    const verdict = verdictOf({ run, attempt, isLast: follower === undefined, nextAt, counted, isCounted, policy })
    return { ...attempt, worker: workerName(attempt.workerId, fleet), isCounted, verdict, nextAt }
  })
}

const parkedFor =
  /^(?:effect-unknown|poison|unreadable: .*|.*\((?:not retryable|not repeatable|deferred for 24h|attempt (\d+)\/\1)\))$/s

/** A reset deletes the record that a run was parked; the reason of its last attempt before it still shows it. */
function wasParked(attempt: AttemptView | undefined): boolean {
  return attempt !== undefined && attempt.ends === null && parkedFor.test(attempt.reason ?? '')
}

function nextStart({ lease, waiting }: RunView, follower: AttemptView | undefined): number | null {
  if (follower !== undefined) return follower.startedAt
  return lease?.leasedAt ?? waiting?.until ?? null
}

interface Ended {
  readonly run: RunView
  readonly attempt: AttemptView
  readonly isLast: boolean
  readonly nextAt: number | null
  readonly counted: number
  readonly isCounted: boolean
  readonly policy: Policy | null
}

function verdictOf({ run, attempt, isLast, nextAt, counted, isCounted, policy }: Ended): string {
  const { ends, endedAt, outcome } = attempt
  if (ends !== null) return `The run ended: ${ends}.`
  if (isLast && run.parked !== null) return `The run was parked: ${clause(run.parked.reason)}.`
  const begins = isLast && run.lease === null ? 'It may be tried again' : 'It was tried again'
  const later = nextAt === null || nextAt <= endedAt ? 'at once' : `${about(nextAt - endedAt)} later`
  if (wasParked(attempt)) {
    const since = nextAt === null ? '' : ` ${begins} ${later}.`
    return `The run was parked, and has been reset since.${since}`
  }
  if (nextAt === null) return 'It goes back in line.'
  if (!isCounted) return `It went back in line without using an attempt (${outcome}).`
  const used = `${counted} ${counted === 1 ? 'attempt' : 'attempts'} used`
  return `${begins} ${later} (${used}${backoffWords(run, policy, counted, nextAt - endedAt)}).`
}

/** A run leased within this time after its backoff was leased without delay. */
const promptMs = 5_000

/**
 * The policy that judged the attempt is not kept, so the current policy is shown only as a comparison,
 * not as the cause of the wait.
 */
function backoffWords(run: RunView, policy: Policy | null, counted: number, waitedMs: number): string {
  const own = policy === null ? null : withRetries(policy, retriesIn(run.options))
  const waitMs = own === null ? 0 : backoffMs({ attempts: counted, policy: own, runId: run.id })
  if (waitMs === 0) return ''
  const today = `; the current policy gives a backoff of ${about(waitMs)}`
  if (waitedMs <= waitMs + promptMs) return today
  return `${today}: its target asked for more, no worker leased it sooner, or the policy was different`
}
