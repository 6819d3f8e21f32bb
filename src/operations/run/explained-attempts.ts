import type { Policy } from '../../core/queue/policy.ts'
import { backoffMs } from '../../core/run/backoff.ts'
import { retriesIn, withRetries } from '../../core/run/retries.ts'
import type { AttemptView, RunView } from '../../store/views.ts'
import { type Fleet, workerName } from '../explain/fleet.ts'
import { about, clause } from '../explain/words.ts'

/** An attempt, and what was made of its end. */
export interface ExplainedAttempt extends AttemptView {
  readonly worker: string | null
  /** Whether its end used the run's budget. */
  readonly isCounted: boolean
  /** What followed, in words. */
  readonly verdict: string
  /** When the next attempt started, or may start. */
  readonly nextAt: number | null
}

export interface AttemptsInput {
  readonly run: RunView
  readonly attempts: readonly AttemptView[]
  /** The policy of today; each end was judged by the policy of its moment. */
  readonly policy: Policy | null
  readonly fleet: Fleet
}

const countedOutcomes: ReadonlySet<string> = new Set(['failed', 'lost', 'unknown'])

/** Tells what each end led to: another attempt and after which wait, the end of the run, or that it was parked. */
export function explainAttempts({ run, attempts, policy, fleet }: AttemptsInput): ExplainedAttempt[] {
  let counted = 0
  return attempts.map((attempt, index) => {
    // Whatever happened after it was to be cancelled used nothing.
    const isSpent = countedOutcomes.has(attempt.outcome) || attempt.reason?.startsWith('bounced') === true
    const isCounted = isSpent && attempt.ends !== 'cancelled'
    // A reset gives the whole budget back.
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

/** Nothing is kept of a run's having been parked once it was reset, but the reason of an attempt says that nothing followed. */
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
    return `The run was parked, and somebody has reset it since.${since}`
  }
  if (nextAt === null) return 'It goes back in line.'
  if (!isCounted) return `It went back in line without using its budget (${outcome}).`
  const used = `${counted} ${counted === 1 ? 'attempt' : 'attempts'} used`
  return `${begins} ${later} (${used}${backoffWords(run, policy, counted, nextAt - endedAt)}).`
}

/** What is taken up to this long after its backoff was taken without delay. */
const promptMs = 5_000

/** The policy that it was judged by is not kept, so that today's is no cause of a wait, only something to hold it against. */
function backoffWords(run: RunView, policy: Policy | null, counted: number, waitedMs: number): string {
  const own = policy === null ? null : withRetries(policy, retriesIn(run.options))
  const waitMs = own === null ? 0 : backoffMs({ attempts: counted, policy: own, runId: run.id })
  if (waitMs === 0) return ''
  const today = `; the policy of today gives a backoff of ${about(waitMs)}`
  if (waitedMs <= waitMs + promptMs) return today
  return `${today}: its target asked for more, nobody took it sooner, or the policy was another`
}
