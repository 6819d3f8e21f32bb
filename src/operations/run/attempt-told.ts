import { backoffMs } from '../../core/backoff.ts'
import type { Policy } from '../../core/policy.ts'
import type { AttemptView, RunView } from '../../store/view.ts'
import { type Fleet, workerName } from '../explain/fleet.ts'
import { about } from '../explain/words.ts'

/** An attempt, and what was made of its end. */
export interface AttemptTold extends AttemptView {
  readonly worker: string | null
  /** Whether its end used the run's budget. */
  readonly isCounted: boolean
  /** What followed, in words. */
  readonly verdict: string
  /** When the next attempt started, or may start. */
  readonly nextAt: number | null
}

export interface TellInput {
  readonly run: RunView
  readonly attempts: readonly AttemptView[]
  /** The policy of today; each end was judged by the policy of its moment. */
  readonly policy: Policy | null
  readonly fleet: Fleet
}

const countedOutcomes: ReadonlySet<string> = new Set(['failed', 'lost', 'unknown'])

/** Tells what each end led to: another attempt and after which wait, the end of the run, or that it was parked. */
export function attemptsTold({ run, attempts, policy, fleet }: TellInput): AttemptTold[] {
  let counted = 0
  return attempts.map((attempt, index) => {
    const isCounted = countedOutcomes.has(attempt.outcome) || attempt.reason?.startsWith('bounced') === true
    counted += isCounted ? 1 : 0
    const follower = attempts[index + 1]
    const nextAt = attempt.ends === null ? nextStart(run, follower) : null
    const verdict = verdictOf({ run, attempt, isLast: follower === undefined, nextAt, counted, isCounted, policy })
    return { ...attempt, worker: workerName(attempt.workerId, fleet), isCounted, verdict, nextAt }
  })
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
  if (isLast && run.parked !== null) return `The run was parked: ${run.parked.reason}.`
  if (nextAt === null) return 'It goes back in line.'
  if (!isCounted) return `It went back in line without using its budget (${outcome}).`
  const used = policy === null ? `${counted} used` : `${counted} of ${policy.maxAttempts} used`
  const waitMs = policy === null ? null : backoffMs({ attempts: counted, policy, runId: run.id })
  const wait = nextAt <= endedAt ? 'at once' : `${about(nextAt - endedAt)} later`
  const asked = waitMs === null || waitMs === 0 ? '' : `; the backoff is ${about(waitMs)}`
  const begins = isLast && run.lease === null ? 'It may be tried again' : 'It was tried again'
  return `${begins} ${wait} (${used}${asked}).`
}
