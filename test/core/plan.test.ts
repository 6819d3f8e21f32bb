import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  canExecute,
  type LeasePlan,
  type PlanInput,
  type PlannedRun,
  planLeases,
} from '../../src/core/queue/plan-leases.ts'
import { moves, type RunStatus } from '../../src/core/run/run-state.ts'
import { expectMatch, vectors } from '../vectors.ts'

const now = 1_800_000_000_000
const policy = { maxConcurrent: 2, leaseTtlMs: 30_000 }
const run = (id: string, changed: Partial<PlannedRun> = {}): PlannedRun => ({
  id,
  priority: 100,
  enqueuedAt: now - 1_000,
  status: 'ready',
  ...changed,
})
const plan = (runs: PlannedRun[], changed: Partial<PlanInput> = {}) => planLeases({ now, runs, policy, ...changed })
const leasedIds = (answer: LeasePlan) => answer.leases.map(({ id }) => id)
const reasons = (answer: LeasePlan) => Object.fromEntries(answer.skipped.map(({ id, reason }) => [id, reason]))

const instant = fc.option(fc.integer({ min: now - 5_000, max: now + 5_000 }), { nil: undefined })
const statuses = Object.keys(moves) as RunStatus[]
const anyRuns = fc.uniqueArray(
  fc.record({
    id: fc.string({ minLength: 1, maxLength: 4, unit: 'binary' }),
    priority: fc.integer({ min: -2, max: 2 }),
    enqueuedAt: fc.integer({ min: now - 3, max: now }),
    status: fc.oneof({ weight: 4, arbitrary: fc.constant('ready' as const) }, fc.constantFrom(...statuses)),
    leaseExpiresAt: instant,
    nextEligibleAt: instant,
    notBefore: instant,
    deadline: instant,
    concurrencyKey: fc.constantFrom(undefined, 'a', 'b'),
    cancelRequestedAt: fc.constantFrom(undefined, now - 1),
    blockedBy: fc.constantFrom(undefined, undefined, 'old'),
    target: fc.constantFrom(undefined, { kind: 'http' }, { kind: 'handler', name: 'report' }),
  }),
  { selector: ({ id }) => id, maxLength: 40 },
)
const anyInput: fc.Arbitrary<PlanInput> = fc.record({
  now: fc.constant(now),
  runs: anyRuns,
  policy: fc.record({
    maxConcurrent: fc.integer({ min: 1, max: 8 }),
    maxConcurrentPerKey: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
    leaseTtlMs: fc.constant(30_000),
    rateLimit: fc.option(fc.record({ startsMax: fc.integer({ min: 1, max: 5 }), perMs: fc.constant(2_000) }), {
      nil: undefined,
    }),
  }),
  paused: fc.constantFrom(undefined, false, false, true),
  queuePaused: fc.constantFrom(undefined, false, false, true),
  can: fc.constantFrom(undefined, [{ kinds: ['http'], handlers: ['report'], host: true }], [{ kinds: [] }]),
  limit: fc.option(fc.nat(5), { nil: undefined }),
  recentStarts: fc.array(fc.integer({ min: now - 4_000, max: now }), { maxLength: 6 }),
})

describe('planLeases', () => {
  it('answers every vector', () => {
    for (const [index, vector] of vectors<PlanInput, LeasePlan>('plan').entries()) {
      expectMatch(planLeases(vector.in), vector.out, `plan[${index}]`)
    }
  })

  it('law 3: no plan takes a queue over its ceiling, its keys, its rate or the caller over its slots', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const answer = planLeases(input)
        const taken = new Set(leasedIds(answer))
        const flying = input.runs.filter(({ id, status }) => status === 'leased' || taken.has(id))
        const started = input.runs.filter(({ id }) => taken.has(id))
        const { maxConcurrent, maxConcurrentPerKey = Number.POSITIVE_INFINITY, rateLimit } = input.policy
        if (taken.size > 0) expect(flying.length).toBeLessThanOrEqual(maxConcurrent)
        expect(taken.size).toBeLessThanOrEqual(input.limit ?? Number.POSITIVE_INFINITY)
        for (const { concurrencyKey, blockedBy } of started) {
          expect(blockedBy).toBeUndefined()
          const alike = flying.filter(
            (other) => concurrencyKey !== undefined && other.concurrencyKey === concurrencyKey,
          )
          expect(alike.length).toBeLessThanOrEqual(maxConcurrentPerKey)
        }
        if (rateLimit !== undefined && taken.size > 0) {
          const recent = (input.recentStarts ?? []).filter((startedAt) => startedAt > now - rateLimit.perMs)
          expect(recent.length + taken.size).toBeLessThanOrEqual(rateLimit.startsMax)
        }
      }),
      { numRuns: 2_000 },
    )
  })

  it('law 13: names every run exactly once, whatever order the runs come in, and changes none of them', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const answer = planLeases(input)
        const named = [...answer.leases, ...answer.skipped].map(({ id }) => id)
        expect(named.toSorted()).toEqual(input.runs.map(({ id }) => id).toSorted())
        expect(planLeases({ ...input, runs: Object.freeze(input.runs.toReversed()) })).toEqual(answer)
      }),
    )
  })

  it('law 13: blames the ceiling only when every slot is taken', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const answer = planLeases(input)
        const full = answer.skipped.some(({ reason }) => reason === 'concurrency-ceiling')
        if (full) expect(answer.leases.length).toBe(answer.available)
      }),
    )
  })

  it('law 3: an expired lease keeps its slot and its key, and a lowered ceiling revokes nothing', () => {
    const runs = [
      run('a', { status: 'leased', leaseExpiresAt: now - 1, concurrencyKey: 'k' }),
      run('b', { status: 'leased', leaseExpiresAt: now + 500 }),
      run('c'),
    ]
    const answer = plan(runs, { policy: { ...policy, maxConcurrent: 1 } })
    expect(answer).toMatchObject({ leases: [], inFlight: 2, available: 0, wakeAt: now + 500 })
    expect(reasons(answer)).toEqual({ a: 'lease-expired', b: 'leased', c: 'concurrency-ceiling' })
    const perKey = { ...policy, maxConcurrent: 9, maxConcurrentPerKey: 1 }
    expect(reasons(plan([...runs, run('d', { concurrencyKey: 'k' })], { policy: perKey })).d).toBe('key-ceiling')
  })

  it('orders equal runs by the code units of their ids, not by any language', () => {
    const ids = ['a', 'B', 'ä', 'Z', '\u{1F600}', '\uFF5E']
    const answer = plan(
      ids.map((id) => run(id)),
      { policy: { ...policy, maxConcurrent: 10 } },
    )
    expect(leasedIds(answer)).toEqual(['B', 'Z', 'a', 'ä', '\u{1F600}', '\uFF5E'])
  })

  it('does not let a run with an unmet need use the slot of the run behind it', () => {
    const unmet = [
      run('held', { priority: 1, status: 'held' }),
      run('late', { priority: 1, deadline: now }),
      run('backoff', { priority: 1, nextEligibleAt: now + 7_000, notBefore: now + 9_000 }),
      run('not-before', { priority: 1, notBefore: now + 8_000 }),
      run('replaces', { priority: 1, blockedBy: 'old' }),
      run('foreign', { priority: 1, target: { kind: 'agent' } }),
    ]
    const answer = plan([...unmet, run('goes', { target: { kind: 'http' } })], {
      policy: { ...policy, maxConcurrent: 1 },
      can: [{ kinds: ['http'] }],
    })
    expect(leasedIds(answer)).toEqual(['goes'])
    expect(reasons(answer)).toEqual({
      held: 'held',
      late: 'deadline',
      backoff: 'backoff',
      'not-before': 'not-before',
      replaces: 'overlap',
      foreign: 'no-worker',
    })
    expect(answer.wakeAt, 'a run that must wait for two instants wakes us at the later').toBe(now + 8_000)
  })

  it('starts nothing of a stopped fleet or a paused queue, and says which it is', () => {
    expect(plan([run('a')], { queuePaused: true })).toMatchObject({ leases: [], skipped: [{ reason: 'queue-paused' }] })
    expect(plan([run('a')], { paused: true, queuePaused: true }).skipped).toEqual([{ id: 'a', reason: 'paused' }])
  })

  it('keeps the rate over any window, and wakes when the next start is allowed', () => {
    const rateLimit = { startsMax: 3, perMs: 1_000 }
    const limited = {
      policy: { ...policy, maxConcurrent: 10, rateLimit },
      recentStarts: [now - 1_000, now - 300, now - 900],
    }
    const answer = plan([run('a'), run('b')], limited)
    expect(leasedIds(answer)).toEqual(['a'])
    expect(reasons(answer)).toEqual({ b: 'rate-limit' })
    expect(answer.wakeAt).toBe(now + 100)
    expect(plan([run('a')], { ...limited, recentStarts: [now, now - 1, now - 2, now - 3] }).wakeAt).toBe(now + 998)
  })

  it('keeps a run behind the one it must not overlap, and says when that one is asked to end', () => {
    const atWork = run('a', { status: 'leased', leaseExpiresAt: now + 1 })
    const behind = run('b', { blockedBy: 'a' })
    expect(reasons(plan([atWork, behind])).b).toBe('overlap')
    const ending = { ...atWork, cancelRequestedAt: now - 1 }
    expect(reasons(plan([ending, behind])).b).toBe('blocked-by-cancel')
    expect(reasons(plan([behind])).b, 'the run before it is in another queue').toBe('overlap')
  })

  it('leases no more than the caller can start at once', () => {
    const answer = plan([run('a'), run('b')], { limit: 1 })
    expect(leasedIds(answer)).toEqual(['a'])
    expect(answer.available).toBe(1)
    expect(plan([run('a')], { limit: 0 }).leases).toEqual([])
  })
})

describe('canExecute', () => {
  it('gives work without a target to hosts only, and work with one only to those who ask for it', () => {
    const host = { kinds: ['http'], host: true }
    const worker = { kinds: ['command'], handlers: ['report'] }
    expect([canExecute(undefined, host), canExecute(null, worker)]).toEqual([true, false])
    expect([canExecute({ kind: 'http' }, host), canExecute({ kind: 'command' }, host)]).toEqual([true, false])
    expect(canExecute({ kind: 'handler', name: 'report' }, worker)).toBe(true)
    expect(canExecute({ kind: 'handler', name: 'other' }, worker)).toBe(false)
    expect(canExecute({ kind: 'handler', name: 'other' }, { kinds: ['handler'] })).toBe(true)
  })
})
