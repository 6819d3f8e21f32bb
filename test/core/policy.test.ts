import { describe, expect, it } from 'vitest'
import { defaultPolicy, policyProblems } from '../../src/core/queue/policy.ts'

const fields = (policy: unknown) => policyProblems(policy).map((problem) => problem.field)

describe('policyProblems', () => {
  it('finds nothing wrong with the default policy, nor with every optional field at its edges', () => {
    expect(policyProblems(defaultPolicy)).toEqual([])
    const full = {
      ...defaultPolicy,
      maxConcurrentPerKey: 1,
      backoffSpread: 1,
      rateLimit: { startsMax: 1, perMs: 1 },
      onExhausted: 'fail',
      retention: { ...defaultPolicy.retention, parkedMs: 0 },
    }
    expect(policyProblems(full)).toEqual([])
  })

  it.each([
    ['maxConcurrent', 0],
    ['maxConcurrent', -1],
    ['maxConcurrent', 2.5],
    ['maxConcurrent', '5'],
    ['maxConcurrent', Number.NaN],
    ['maxConcurrent', Number.POSITIVE_INFINITY],
    ['maxConcurrent', null],
    ['maxConcurrentPerKey', 0],
    ['maxConcurrentPerKey', null],
    ['maxAttempts', 0],
    ['leaseTtlMs', 999],
    ['backoffBaseMs', -1],
    ['backoffFactor', 0.5],
    ['backoffSpread', 1.1],
    ['backoffSpread', Number.NaN],
    ['onExhausted', 'drop'],
    ['rateLimit', 5],
    ['retention', []],
  ])('refuses %s: %s and says what would be right', (field, value) => {
    const [problem, ...others] = policyProblems({ ...defaultPolicy, [field]: value })
    expect(others).toEqual([])
    expect(problem?.field).toBe(field)
    expect(problem?.problem).toContain('is ')
    expect(problem?.expected).not.toBe('')
  })

  it('refuses a cap below the base, naming the base', () => {
    const problems = policyProblems({ ...defaultPolicy, backoffBaseMs: 5_000, backoffCapMs: 4_999 })
    expect(problems).toEqual([
      { field: 'backoffCapMs', problem: 'is 4999', expected: 'at least `backoffBaseMs`, which is 5000' },
    ])
  })

  it('names every missing required field, and no optional one', () => {
    expect(fields({})).toEqual([
      'maxConcurrent',
      'maxAttempts',
      'leaseTtlMs',
      'backoffBaseMs',
      'backoffFactor',
      'backoffCapMs',
      'retention',
    ])
  })

  it('refuses fields it does not know, at every level, even ones that every object inherits', () => {
    const policy = {
      ...defaultPolicy,
      maxConcurent: 5,
      toString: 1,
      rateLimit: { startsMax: 1, perMs: 1, burst: 2 },
      retention: { ...defaultPolicy.retention, days: 3 },
    }
    expect(fields(policy)).toEqual(['maxConcurent', 'toString', 'rateLimit.burst', 'retention.days'])
  })

  it.each([null, undefined, 5, 'policy', []])('refuses %s in place of a policy', (value) => {
    expect(fields(value)).toEqual(['policy'])
  })

  it('cannot be changed through its default', () => {
    expect(Object.isFrozen(defaultPolicy) && Object.isFrozen(defaultPolicy.retention)).toBe(true)
  })
})
