import type { Policy } from '../queue/policy.ts'
import { backoffMs } from './backoff.ts'

/** How an attempt ended, or that it never began. */
export type Outcome =
  /** `noop`: the run found nothing to do. */
  | { readonly kind: 'success'; readonly noop?: boolean | undefined }
  | {
      readonly kind: 'failed'
      readonly reason: string
      /** `false`: no further attempt can succeed; `true`: the attempt had no effect. */
      readonly retryable?: boolean | undefined
      readonly retryAfterMs?: number | undefined
      readonly retryAt?: number | undefined
    }
  /** The lease expired or its worker is proven dead; `holderDied` only in the second case. */
  | { readonly kind: 'lost'; readonly holderDied?: boolean | undefined }
  /** The worker answered, but does not know whether the effect happened. */
  | { readonly kind: 'unknown'; readonly reason: string }
  /** Released cleanly: nothing was begun. */
  | { readonly kind: 'released' }
  /** The worker had to stop in the middle. */
  | { readonly kind: 'forced-stop'; readonly reason?: string | undefined }
  /** The worker parks it for a person; that uses no attempt. */
  | { readonly kind: 'parked'; readonly reason: string }
  | { readonly kind: 'cancelled'; readonly reason?: string | undefined }
  /** A guard refused the run before anything was begun. */
  | { readonly kind: 'skipped'; readonly reason: string }
  /**
   * The attempt could not continue for an outside reason, such as a spent budget or a provider's limit, and may continue at an
   * instant.
   */
  | {
      readonly kind: 'deferred'
      readonly until: number
      readonly reason: string
      /** The attempt may have had effects before it stopped. */
      readonly hasBegun?: boolean | undefined
    }

/** What the verdict must know about the leased run. All counts are those before this outcome. */
export interface JudgedRun {
  readonly id?: string | undefined
  readonly attempts: number
  /** Clean releases in a row. */
  readonly releases?: number | undefined
  /** Leases lost because the worker died, over the life of the run. */
  readonly deaths?: number | undefined
  readonly repeatable?: boolean | undefined
  readonly onExhausted?: 'park' | 'fail' | undefined
  readonly cancelRequestedAt?: number | null | undefined
  /** Its first deferral since its last attempt that was not deferred; absent where there is none. */
  readonly firstDeferredAt?: number | undefined
}

export type VerdictPolicy = Pick<
  Policy,
  'maxAttempts' | 'backoffBaseMs' | 'backoffFactor' | 'backoffCapMs' | 'backoffSpread' | 'onExhausted'
>

export interface VerdictInput {
  readonly now: number
  readonly run: JudgedRun
  readonly outcome: Outcome
  readonly policy: VerdictPolicy
}

export interface Verdict {
  readonly status: 'ready' | 'completed' | 'failed' | 'parked' | 'cancelled' | 'skipped'
  readonly attempts: number
  readonly releases: number
  readonly deaths: number
  readonly reason: string
  readonly nextEligibleAt?: number
  readonly parkedReason?: string
  /** The run succeeded although its cancellation had been requested. */
  readonly lateCancel?: true
}

/** The reason of a completed run that found nothing to do, also of its attempt. */
export const noopReason = 'no-op'

const releasesInARowMax = 10
const deathsMax = 3
const retryAfterMsMax = 3_600_000
/** A deferral until now would have the run leased and deferred again at once. */
const deferMsMin = 1_000
const deferMsMax = 86_400_000

/**
 * Decides what happens to a run when its attempt ends.
 *
 * A lost lease looks like a crash but may be a long pause, so its effect may have happened: a run that must not repeat is parked,
 * not retried.
 */
export function verdict({ now, run, outcome, policy }: VerdictInput): Verdict {
  if (outcome.kind === 'success') return succeeded(run, outcome.noop === true)
  if (outcome.kind === 'skipped') return ended(run, 'skipped', outcome.reason)
  // After a cancel request no other attempt may follow, whatever else happened.
  if (outcome.kind === 'cancelled' || isSet(run.cancelRequestedAt))
    return ended(run, 'cancelled', cancelReason(outcome))
  switch (outcome.kind) {
    case 'released':
      return released({ now, run, policy })
    case 'forced-stop':
      return forcedStop(run, outcome.reason)
    case 'lost':
      return lost({ now, run, policy, holderDied: outcome.holderDied === true })
    case 'unknown':
      if (run.repeatable === false) return parked(run, 'effect-unknown', run.attempts + 1)
      return spent({ now, run, policy, reason: outcome.reason })
    case 'parked':
      return parked(run, outcome.reason, run.attempts)
    case 'failed':
      return failed({ now, run, policy, outcome })
    case 'deferred':
      return deferred({ now, run, policy, outcome })
  }
}

type Judging = Pick<VerdictInput, 'now' | 'run' | 'policy'>

function released({ now, run, policy }: Judging): Verdict {
  const releases = (run.releases ?? 0) + 1
  if (releases >= releasesInARowMax) return spent({ now, run, policy, reason: 'bounced' })
  return { ...counts(run), releases, status: 'ready', reason: 'released' }
}

function forcedStop(run: JudgedRun, reason = 'forced-stop'): Verdict {
  if (run.repeatable === false) return parked(run, 'effect-unknown', run.attempts)
  // An interrupted attempt neither lengthens nor ends the row of releases, so that restarts cannot hide a run that
  // every worker releases.
  return { ...counts(run), releases: run.releases ?? 0, status: 'ready', reason }
}

function lost({ now, run, policy, holderDied }: Judging & { holderDied: boolean }): Verdict {
  const deaths = (run.deaths ?? 0) + (holderDied ? 1 : 0)
  const judged = { ...run, deaths }
  if (run.repeatable === false) return parked(judged, 'effect-unknown', run.attempts + 1)
  // A run that kills its workers is parked whatever attempts are left: each further attempt would take down the other
  // runs of a worker.
  if (deaths >= deathsMax) return parked(judged, 'poison', run.attempts + 1)
  return spent({ now, run: judged, policy, reason: holderDied ? 'its worker died' : 'lease expired' })
}

function failed({ now, run, policy, outcome }: Judging & { outcome: Outcome & { kind: 'failed' } }): Verdict {
  if (outcome.retryable === false) return exhausted(run, policy, `${outcome.reason} (not retryable)`)
  if (run.repeatable === false && outcome.retryable !== true) {
    return exhausted(run, policy, `${outcome.reason} (not repeatable)`)
  }
  const askedAt = Math.max(outcome.retryAt ?? now, now + (outcome.retryAfterMs ?? 0))
  return spent({ now, run, policy, reason: outcome.reason, notBefore: Math.min(askedAt, now + retryAfterMsMax) })
}

/**
 * A deferral uses neither an attempt nor a release in a row. A run that was deferred for a day has failed: its next attempt
 * starts at the end of that day, even if the deferral asks for a later instant.
 */
function deferred({ now, run, policy, outcome }: Judging & { outcome: Outcome & { kind: 'deferred' } }): Verdict {
  if (outcome.hasBegun === true && run.repeatable === false) return parked(run, 'effect-unknown', run.attempts + 1)
  const lastAt = (run.firstDeferredAt ?? now) + deferMsMax
  if (now >= lastAt) return exhausted(run, policy, `${outcome.reason} (deferred for 24h)`)
  const nextEligibleAt = Math.max(now + deferMsMin, Math.min(Math.ceil(outcome.until), lastAt))
  return { ...counts(run), releases: run.releases ?? 0, status: 'ready', reason: outcome.reason, nextEligibleAt }
}

/** One attempt is used: either another one follows, or this was the last. */
function spent({
  now,
  run,
  policy,
  reason,
  notBefore = now,
}: Judging & { reason: string; notBefore?: number }): Verdict {
  const attempts = run.attempts + 1
  if (attempts >= policy.maxAttempts) {
    return exhausted(run, policy, `${reason} (attempt ${attempts}/${policy.maxAttempts})`)
  }
  const backedOffAt = now + backoffMs({ attempts, policy, runId: run.id })
  // An executor may have computed a fractional instant; both databases store whole ms only.
  const nextEligibleAt = Math.ceil(Math.max(backedOffAt, notBefore))
  return { ...counts(run), attempts, status: 'ready', reason, nextEligibleAt }
}

function exhausted(run: JudgedRun, policy: VerdictPolicy, reason: string): Verdict {
  const attempts = run.attempts + 1
  const end = run.onExhausted ?? policy.onExhausted ?? 'park'
  return end === 'park' ? parked(run, reason, attempts) : { ...counts(run), attempts, status: 'failed', reason }
}

function parked(run: JudgedRun, reason: string, attempts: number): Verdict {
  return { ...counts(run), attempts, status: 'parked', reason, parkedReason: reason }
}

/** Written out, unlike the other ends, because nearly every run ends here. */
function succeeded({ attempts, deaths = 0, cancelRequestedAt }: JudgedRun, isNoop: boolean): Verdict {
  const reason = isNoop ? noopReason : 'success'
  const completed: Verdict = { status: 'completed', attempts, releases: 0, deaths, reason }
  return isSet(cancelRequestedAt) ? { ...completed, lateCancel: true } : completed
}

function ended(run: JudgedRun, status: 'cancelled' | 'skipped', reason: string): Verdict {
  return { ...counts(run), status, reason }
}

function cancelReason(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'cancelled':
      return outcome.reason ?? 'cancelled'
    case 'lost':
      return 'lease expired after the cancel request; effect unknown'
    case 'failed':
    case 'unknown':
    case 'parked':
    case 'deferred':
      return `${outcome.reason} after the cancel request`
    default:
      return `${outcome.kind} after the cancel request`
  }
}

/** The counts that an end carries over. Every end but a clean release resets the row of releases. */
function counts(run: JudgedRun): Pick<Verdict, 'attempts' | 'releases' | 'deaths'> {
  return { attempts: run.attempts, releases: 0, deaths: run.deaths ?? 0 }
}

function isSet(value: number | null | undefined): boolean {
  return value !== null && value !== undefined
}
