import { describe, expect, it } from 'vitest'
import { defaultPolicy } from '../../src/core/queue/policy.ts'
import { backoffMs } from '../../src/core/run/backoff.ts'
import { retriesIn, retriesProblems, withRetries } from '../../src/core/run/retries.ts'

describe('the retries of a run', () => {
  it('take the place of the queue’s part by part', () => {
    expect(withRetries(defaultPolicy, {})).toBe(defaultPolicy)
    expect(withRetries(defaultPolicy, { maxAttempts: 7 })).toEqual({ ...defaultPolicy, maxAttempts: 7 })
    const policy = withRetries(defaultPolicy, { backoff: { factor: 3, capMs: 5_000 } })
    expect(policy).toEqual({ ...defaultPolicy, backoffFactor: 3, backoffCapMs: 5_000 })
    expect([1, 2, 3].map((attempts) => backoffMs({ attempts, policy }))).toEqual([1_000, 3_000, 5_000])
  })

  it('wait at least as long at first as they say, although the cap of the queue is shorter', () => {
    const policy = withRetries(defaultPolicy, { backoff: { baseMs: 600_000 } })
    expect([1, 2].map((attempts) => backoffMs({ attempts, policy }))).toEqual([600_000, 600_000])
  })

  it('are refused with everything that is wrong with them', () => {
    expect(retriesProblems({ maxAttempts: 3, backoff: { baseMs: 0, factor: 1, capMs: 0 } })).toEqual([])
    const wrong = retriesProblems({ maxAttempts: 0, backoff: { baseMs: -1, factor: 0.5, capMs: 1.5 } })
    expect(wrong.map(({ field }) => field)).toEqual(['attempts', 'backoff.baseMs', 'backoff.factor', 'backoff.capMs'])
    expect(retriesProblems({ backoff: { baseMs: 5, capMs: 4 } })).toMatchObject([
      { field: 'backoff.capMs', expected: 'at least `backoff.baseMs`, which is 5' },
    ])
  })

  it('that cannot be read leave the queue’s in place, so that damage gives no run more attempts', () => {
    const damaged = [null, 7, {}, { maxAttempts: 'many' }, { maxAttempts: 0 }, { backoff: { baseMs: -1, factor: {} } }]
    for (const options of damaged) expect(retriesIn(options)).toEqual({})
    expect(retriesIn({ maxAttempts: 2, backoff: { baseMs: 5, factor: 0 }, tags: [] })).toEqual({
      maxAttempts: 2,
      backoff: { baseMs: 5 },
    })
  })
})
