import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { assertMove } from '../../src/core/run/run-state.ts'
import { type JudgedRun, type Outcome, type Verdict, type VerdictInput, verdict } from '../../src/core/run/verdict.ts'
import { expectMatch, vectors } from '../vectors.ts'

const now = 1_800_000_000_000
const hourMs = 3_600_000
const policy = { maxAttempts: 3, backoffBaseMs: 1_000, backoffFactor: 2, backoffCapMs: 60_000 }
const judge = (run: Partial<JudgedRun>, outcome: Outcome, changed: Partial<VerdictInput['policy']> = {}) =>
  verdict({ now, run: { attempts: 0, ...run }, outcome, policy: { ...policy, ...changed } })
const exit1: Outcome = { kind: 'failed', reason: 'exit 1' }

const outcomes: fc.Arbitrary<Outcome> = fc.oneof(
  fc.constantFrom<Outcome>(
    { kind: 'success' },
    { kind: 'lost' },
    { kind: 'lost', holderDied: true },
    { kind: 'released' },
    { kind: 'forced-stop' },
    { kind: 'cancelled' },
    { kind: 'unknown', reason: 'no answer' },
    { kind: 'skipped', reason: 'guard' },
    { kind: 'deferred', until: now + hourMs, reason: 'quota' },
    { kind: 'deferred', until: now + hourMs, reason: 'quota', hasBegun: true },
  ),
  fc.record({
    kind: fc.constant('failed' as const),
    reason: fc.string(),
    retryable: fc.constantFrom(true, false, undefined),
    retryAfterMs: fc.option(fc.integer({ min: -hourMs, max: 100 * hourMs }), { nil: undefined }),
  }),
)
const runs = fc.record({
  attempts: fc.nat(10),
  releases: fc.nat(9),
  deaths: fc.nat(2),
  repeatable: fc.constantFrom(true, false, undefined),
  onExhausted: fc.constantFrom('park' as const, 'fail' as const, undefined),
  cancelRequestedAt: fc.constantFrom(undefined, null, now - 5),
})
const policies = fc.record({
  maxAttempts: fc.integer({ min: 1, max: 8 }),
  backoffBaseMs: fc.nat(5_000),
  backoffFactor: fc.constantFrom(1, 1.5, 2, 3),
  backoffCapMs: fc.integer({ min: 5_000, max: 60_000 }),
})

describe('verdict', () => {
  it('answers every vector', () => {
    for (const [index, vector] of vectors<VerdictInput, Verdict>('verdict').entries()) {
      const answer = verdict(vector.in)
      expectMatch(answer, vector.out, `verdict[${index}]`)
      if (!('nextEligibleAt' in vector.out)) expect(answer).not.toHaveProperty('nextEligibleAt')
      if (!('parkedReason' in vector.out)) expect(answer).not.toHaveProperty('parkedReason')
    }
  })

  it('makes only moves that the table of run states allows, always with a reason, and changes no input', () => {
    fc.assert(
      fc.property(runs, outcomes, policies, (run, outcome, anyPolicy) => {
        const input = Object.freeze({
          now,
          run: Object.freeze(run),
          outcome: Object.freeze(outcome),
          policy: anyPolicy,
        })
        const answer = verdict(input)
        assertMove('leased', answer.status)
        expect(typeof answer.reason).toBe('string')
        expect(answer.attempts - run.attempts).toBeOneOf([0, 1])
        expect('parkedReason' in answer).toBe(answer.status === 'parked')
      }),
      { numRuns: 1_000 },
    )
  })

  it('law 5: a run ends or parks within its budget, whatever mixture of failures, losses and releases it meets', () => {
    const ends = outcomes.filter(({ kind }) => kind !== 'success' && kind !== 'forced-stop' && kind !== 'deferred')
    fc.assert(
      fc.property(fc.array(ends, { minLength: 100, maxLength: 100 }), policies, (mixture, anyPolicy) => {
        let run: JudgedRun = { attempts: 0 }
        let leases = 0
        for (const outcome of mixture) {
          const answer = verdict({ now, run, outcome, policy: anyPolicy })
          leases += 1
          expect(answer.attempts).toBeLessThanOrEqual(anyPolicy.maxAttempts)
          if (answer.status !== 'ready') break
          expect(answer.attempts).toBeLessThan(anyPolicy.maxAttempts)
          run = answer
        }
        expect(leases).toBeLessThanOrEqual(10 * anyPolicy.maxAttempts)
      }),
    )
  })

  it('law 5: uses the budget of the moment, so a lowered maxAttempts ends a run at its next failure', () => {
    expect(judge({ attempts: 4 }, exit1, { maxAttempts: 2 })).toMatchObject({
      status: 'parked',
      parkedReason: 'exit 1 (attempt 5/2)',
    })
  })

  it('law 5: the tenth clean release in a row is a failure that uses the budget; the ninth is none', () => {
    expect(judge({ releases: 8 }, { kind: 'released' })).toMatchObject({ status: 'ready', attempts: 0, releases: 9 })
    const bounced = judge({ releases: 9 }, { kind: 'released' })
    expect(bounced).toMatchObject({ status: 'ready', attempts: 1, releases: 0, reason: 'bounced' })
    expect(bounced.nextEligibleAt).toBe(now + 1_000)
    expect(judge({ attempts: 2, releases: 9 }, { kind: 'released' }).parkedReason).toBe('bounced (attempt 3/3)')
  })

  it('law 5: a forced stop does not help a run out of its row of releases', () => {
    expect(judge({ releases: 7 }, { kind: 'forced-stop' })).toMatchObject({ status: 'ready', attempts: 0, releases: 7 })
    expect(judge({ releases: 7 }, exit1).releases).toBe(0)
  })

  it('law 5: an exhausted run fails where the run or else the policy says so, and parks otherwise', () => {
    const last = { attempts: 2 }
    expect(judge(last, exit1).status).toBe('parked')
    expect(judge(last, exit1, { onExhausted: 'fail' })).toMatchObject({
      status: 'failed',
      reason: 'exit 1 (attempt 3/3)',
    })
    expect(judge({ ...last, onExhausted: 'park' }, exit1, { onExhausted: 'fail' }).status).toBe('parked')
    expect(judge({ ...last, onExhausted: 'fail' }, { kind: 'lost' }).status).toBe('failed')
  })

  it('does not retry a failure marked as not retryable, although the budget has room', () => {
    const fatal: Outcome = { kind: 'failed', reason: 'HTTP 400', retryable: false }
    expect(judge({}, fatal)).toMatchObject({ status: 'parked', attempts: 1, parkedReason: 'HTTP 400 (not retryable)' })
    expect(judge({ onExhausted: 'fail' }, fatal).status).toBe('failed')
  })

  it.each<Outcome>([{ kind: 'lost' }, { kind: 'forced-stop' }, { kind: 'unknown', reason: 'connection reset' }])(
    'parks a run that must not repeat after $kind, and never gives it out again by itself',
    (outcome) => {
      const parked = { status: 'parked', parkedReason: 'effect-unknown' }
      expect(judge({ repeatable: false, onExhausted: 'fail' }, outcome)).toMatchObject(parked)
      expect(judge({ repeatable: true }, outcome).status).toBe('ready')
    },
  )

  it('retries a run that must not repeat only when its own worker calls the failure retryable', () => {
    expect(judge({ repeatable: false }, exit1)).toMatchObject({
      status: 'parked',
      parkedReason: 'exit 1 (not repeatable)',
    })
    expect(judge({ repeatable: false }, { ...exit1, retryable: true }).status).toBe('ready')
    expect(judge({ repeatable: false }, { kind: 'released' }).status).toBe('ready')
  })

  it('parks a run whose third worker died as poison, but forgives leases that merely expired', () => {
    const roomy = { maxAttempts: 100 }
    expect(judge({ deaths: 2 }, { kind: 'lost', holderDied: true }, roomy)).toMatchObject({
      status: 'parked',
      parkedReason: 'poison',
      deaths: 3,
      attempts: 1,
    })
    expect(judge({ deaths: 1 }, { kind: 'lost', holderDied: true }, roomy)).toMatchObject({
      status: 'ready',
      deaths: 2,
    })
    expect(judge({ deaths: 2 }, { kind: 'lost' }, roomy)).toMatchObject({ status: 'ready', deaths: 2 })
  })

  it('never retries after a cancel request, and keeps a success that came first, marked', () => {
    const asked = { cancelRequestedAt: now - 1 }
    for (const outcome of [{ kind: 'lost' }, { kind: 'released' }, { kind: 'forced-stop' }, exit1] as const) {
      expect(judge(asked, outcome).status).toBe('cancelled')
    }
    expect(judge({ ...asked, repeatable: false }, { kind: 'lost' }).status).toBe('cancelled')
    expect(judge(asked, { kind: 'success' })).toMatchObject({ status: 'completed', lateCancel: true })
    expect(judge({}, { kind: 'success' })).not.toHaveProperty('lateCancel')
  })

  it('lets Retry-After win only when it is later than the backoff, and for an hour at most', () => {
    const nextAt = (retry: { retryAfterMs?: number; retryAt?: number }) =>
      judge({}, { ...exit1, ...retry }).nextEligibleAt
    expect(nextAt({ retryAfterMs: 500 })).toBe(now + 1_000)
    expect(nextAt({ retryAfterMs: 5_000 })).toBe(now + 5_000)
    expect(nextAt({ retryAt: now + 9_000 })).toBe(now + 9_000)
    expect(nextAt({ retryAt: now - 9_000 })).toBe(now + 1_000)
    expect(nextAt({ retryAfterMs: 10 * hourMs })).toBe(now + hourMs)
    expect(nextAt({ retryAt: now + 10 * hourMs })).toBe(now + hourMs)
  })

  it('names a whole ms whatever instant an executor computed, and never one before it', () => {
    expect(judge({}, { ...exit1, retryAfterMs: 1_500.25 }).nextEligibleAt).toBe(now + 1_501)
    expect(judge({}, { ...exit1, retryAt: now + 2_000.5 }).nextEligibleAt).toBe(now + 2_001)
    expect(judge({}, exit1, { backoffBaseMs: 0.5, backoffCapMs: 0.5 }).nextEligibleAt).toBe(now + 1)
  })

  describe('a deferral', () => {
    const quota = (until: number) => ({ kind: 'deferred', until, reason: 'quota' }) as const
    const dayMs = 24 * hourMs

    it('uses neither an attempt nor a release in a row, and breaks no such row', () => {
      const until = now + hourMs
      expect(judge({ attempts: 2, releases: 9, deaths: 1 }, quota(until))).toEqual({
        status: 'ready',
        attempts: 2,
        releases: 9,
        deaths: 1,
        reason: 'quota',
        nextEligibleAt: until,
      })
    })

    it('law 5: ends as an exhausted run does a day after the first one, and is asked once more by then', () => {
      const firstDeferredAt = now - dayMs + hourMs
      expect(judge({ firstDeferredAt }, quota(now + 20 * dayMs)).nextEligibleAt).toBe(firstDeferredAt + dayMs)
      expect(judge({}, quota(now + 20 * dayMs)).nextEligibleAt).toBe(now + dayMs)
      const over = { firstDeferredAt: now - dayMs }
      expect(judge(over, quota(now + 1))).toMatchObject({
        status: 'parked',
        attempts: 1,
        parkedReason: 'quota (deferred for 24h)',
      })
      expect(judge({ ...over, onExhausted: 'fail' }, quota(now + 1)).status).toBe('failed')
      expect(judge({ firstDeferredAt: now - dayMs + 1 }, quota(now + hourMs)).status).toBe('ready')
    })

    it('is never so short that the run would be leased and deferred without a pause, and names a whole ms', () => {
      expect(judge({}, quota(now)).nextEligibleAt).toBe(now + 1_000)
      expect(judge({}, quota(0)).nextEligibleAt).toBe(now + 1_000)
      expect(judge({}, quota(now + 2_000.5)).nextEligibleAt).toBe(now + 2_001)
    })

    it('parks what must not repeat once its effects may have begun, and nothing else', () => {
      const begun = { ...quota(now + hourMs), hasBegun: true }
      expect(judge({ repeatable: false }, begun)).toMatchObject({ status: 'parked', parkedReason: 'effect-unknown' })
      expect(judge({ repeatable: false }, quota(now + hourMs)).status).toBe('ready')
      expect(judge({}, begun).status).toBe('ready')
    })

    it('cancels what was to be cancelled', () => {
      const cancelled = judge({ cancelRequestedAt: now - 5 }, quota(now + hourMs))
      expect(cancelled).toMatchObject({ status: 'cancelled', reason: 'quota after the cancel request' })
    })
  })

  it('counts no attempt for a run that a guard refused', () => {
    const refused = judge({ attempts: 1 }, { kind: 'skipped', reason: 'maintenance' })
    expect(refused).toMatchObject({ status: 'skipped', attempts: 1, reason: 'maintenance' })
  })
})
