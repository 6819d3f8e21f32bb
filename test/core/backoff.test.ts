import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BackoffInput, backoffMs } from '../../src/core/run/backoff.ts'
import { expectMatch, vectors } from '../vectors.ts'

const policies = fc.record({
  backoffBaseMs: fc.integer({ min: 0, max: 100_000 }),
  backoffFactor: fc.double({ min: 1, max: 1_000, noNaN: true }),
  backoffCapMs: fc.integer({ min: 100_000, max: 10_000_000 }),
  backoffSpread: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
})

describe('backoffMs', () => {
  it('answers every vector', () => {
    for (const [index, vector] of vectors<BackoffInput, number>('backoff').entries()) {
      expectMatch(backoffMs(vector.in), vector.out, `backoff[${index}]`)
    }
  })

  it('law 5: never passes its cap and never goes below zero, however many attempts and whatever the spread', () => {
    fc.assert(
      fc.property(policies, fc.integer({ min: 0, max: 100_000 }), fc.string(), (policy, attempts, runId) => {
        const waitMs = backoffMs({ attempts, policy, runId })
        expect(Number.isSafeInteger(waitMs)).toBe(true)
        expect(waitMs).toBeGreaterThanOrEqual(0)
        expect(waitMs).toBeLessThanOrEqual(policy.backoffCapMs)
      }),
    )
  })

  it('stays at zero for a base of zero, where the power overflows', () => {
    const policy = { backoffBaseMs: 0, backoffFactor: 1_000, backoffCapMs: 60_000 }
    expect(backoffMs({ attempts: 10_000, policy })).toBe(0)
  })

  it('never waits less after more attempts, unless it is spread', () => {
    fc.assert(
      fc.property(policies, fc.integer({ min: 0, max: 500 }), (spreadPolicy, attempts) => {
        const policy = { ...spreadPolicy, backoffSpread: undefined }
        expect(backoffMs({ attempts: attempts + 1, policy })).toBeGreaterThanOrEqual(backoffMs({ attempts, policy }))
      }),
    )
  })

  it('keeps runs apart that sit at the cap together, even when their ids share a prefix', () => {
    const policy = { backoffBaseMs: 1_000, backoffFactor: 2, backoffCapMs: 60_000, backoffSpread: 0.5 }
    const waits = Array.from({ length: 100 }, (_, n) => backoffMs({ attempts: 50, policy, runId: `0199a1b2-${n}` }))
    expect(new Set(waits).size).toBeGreaterThan(90)
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(30_000)
    expect(Math.max(...waits)).toBeLessThanOrEqual(60_000)
  })

  it('gives the same run the same wait when it is asked again, and another after another attempt', () => {
    const policy = { backoffBaseMs: 60_000, backoffFactor: 1, backoffCapMs: 60_000, backoffSpread: 1 }
    const wait = (attempts: number) => backoffMs({ attempts, policy, runId: 'run-1' })
    expect(wait(1)).toBe(wait(1))
    expect(wait(2)).not.toBe(wait(1))
  })
})
