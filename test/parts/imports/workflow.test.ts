import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Problem } from '../../../src/operations/input/refuse-input.ts'
import { draftOfPolicy } from '../../../src/parts/imports/workflow-policy.ts'
import { draftOfQueue } from '../../../src/parts/imports/workflow-queue.ts'
import { draftOfTasks } from '../../../src/parts/imports/workflow-tasks.ts'
import { startAt } from '../../operations/desk.ts'

function sample(name: string): string {
  return readFileSync(new URL(`samples/${name}`, import.meta.url), 'utf8')
}

const text = (value: unknown) => JSON.stringify(value)
const minute = 60_000

function policyIn(file: string) {
  const problems: Problem[] = []
  return { ...draftOfPolicy(file, problems), problems }
}

function queueIn(file: string) {
  const problems: Problem[] = []
  return { ...draftOfQueue(file, { queue: 'cw', problems }), problems }
}

function tasksIn(file: string) {
  const problems: Problem[] = []
  return { ...draftOfTasks(file, { queue: 'cw', zone: 'UTC', now: startAt, problems }), problems }
}

describe('a policy', () => {
  it('is told to the queue under the same names', () => {
    const { policy, left, problems } = policyIn(sample('scheduling-policy.json'))
    expect(policy).toEqual({
      maxConcurrent: 4,
      maxAttempts: 5,
      leaseTtlMs: 600_000,
      backoffBaseMs: 2_000,
      backoffFactor: 1.5,
      backoffCapMs: 120_000,
    })
    expect([left, problems]).toEqual([[], []])
  })

  it('is not rounded: what a queue would not take is listed, field by field, and the rest is taken', () => {
    const { policy, left } = policyIn(
      text({ maxConcurrent: 1.5, maxAttempts: '4', leaseTtlMs: 1e300, backoffFactor: 3, colour: 'blue' }),
    )
    expect(policy).toEqual({ backoffFactor: 3 })
    expect(left.map(({ where, what }) => `${where} ${what}`)).toEqual([
      'policy colour',
      'policy maxConcurrent 1.5',
      'policy maxAttempts 4',
      'policy leaseTtlMs 1e+300',
    ])
  })

  it('whose cap lies below its base waits as it did there, and says so', () => {
    const { policy, left } = policyIn(text({ backoffBaseMs: 120_000 }))
    expect(policy).toEqual({ backoffBaseMs: 60_000, backoffCapMs: 60_000 })
    const why = expect.stringContaining('60000')
    expect(left).toEqual([{ where: 'policy', what: 'backoffBaseMs 120000', why, isTaken: true }])
  })

  it('of nothing is none', () => {
    expect(policyIn('{}')).toMatchObject({ policy: null, left: [], problems: [] })
  })
})

describe('a file that is none is refused whole:', () => {
  it.each([
    ['', 'is empty'],
    ['{\n  "entries": [\n', 'is not whole JSON: it ends where a value belongs'],
    ['{\n  "entries": [,]\n}', 'is not JSON at line 2, character 15, where a value belongs'],
    ['null', 'is JSON that is null'],
    ['[]', 'is JSON that is a list'],
    ['{"schemaVersion":99,"entries":[]}', 'has a schemaVersion that is 99'],
    ['{}', 'has no entries'],
    ['{"entries":{}}', 'has entries that are an object'],
  ])('%j', (file, problem) => {
    const { problems, runs } = queueIn(file)
    expect(problems).toEqual([{ field: 'queue', problem, expected: expect.any(String) }])
    expect(runs).toEqual([])
  })
})

describe('a queue', () => {
  it('becomes runs for hosts, in the order in which it would have handed them out', () => {
    const { runs, problems } = queueIn(sample('queue.json'))
    expect(problems).toEqual([])
    expect(runs).toEqual([
      {
        queue: 'cw',
        idempotencyKey: 'cool-workflow:q-20260104101500-002',
        priority: 10,
        attempts: 1,
        notBefore: Date.UTC(2026, 0, 5, 12),
        payload: {
          id: 'q-20260104101500-002',
          workflowId: 'nightly-docs',
          runId: 'nightly-docs-20260104',
          repo: '/srv/shop',
          enqueuedAt: '2026-01-04T10:15:00.000Z',
        },
      },
      expect.objectContaining({ idempotencyKey: 'cool-workflow:q-20260103080000-001', priority: 50 }),
      expect.objectContaining({
        idempotencyKey: 'cool-workflow:q-20260102080000-001',
        parkedReason: 'lease expired (host did not complete) (attempt 3/3)',
      }),
      expect.objectContaining({ idempotencyKey: 'cool-workflow:q-20260104101500-001', priority: 100 }),
      expect.objectContaining({ payload: expect.objectContaining({ colour: 'blue' }) }),
    ])
    expect(runs[4]).not.toHaveProperty('priority')
  })

  it('tells of each entry what was not taken over, and why', () => {
    const told = queueIn(sample('queue.json')).left.map(({ where, what, why }) => `${where}: ${what}: ${why}`)
    expect(told).toEqual([
      expect.stringMatching(/^queue entries\[2\] .+: its lease lease-.+, until 2026-01-05T09:04.+: it is ready here/),
      expect.stringMatching(/^queue entries\[4\] .+: the entry: it is drained/),
      expect.stringMatching(/^queue entries\[5\] .+: colour: an entry of cool-workflow has no such field/),
      expect.stringMatching(/^queue entries\[5\] .+: priority 2.5: a run takes an integer/),
    ])
  })

  it('is read without the mark that editors put before it', () => {
    expect(queueIn(`\uFEFF${text({ entries: [{ id: 'a', status: 'pending' }] })}`).runs).toHaveLength(1)
  })

  it('tells of a reason why an entry is parked that is none, or too long', () => {
    const parked = (parkedReason: unknown) => queueIn(text({ entries: [{ id: 'a', status: 'parked', parkedReason }] }))
    expect(parked(7)).toMatchObject({
      runs: [{ parkedReason: expect.stringMatching(/cool-workflow$/) }],
      left: [{ what: 'parkedReason 7' }],
    })
    const { runs, left } = parked('x'.repeat(5_000))
    expect([runs[0]?.parkedReason?.length, left.length]).toEqual([2_001, 1])
    expect(parked(undefined).left).toEqual([])
  })

  it('is the same work however often its entries were tried meanwhile', () => {
    const entry = { id: 'a', status: 'pending', repo: '/r' }
    const later = { ...entry, status: 'ready', attempts: 2, leaseId: 'l' }
    const [run] = queueIn(text({ entries: [entry] })).runs
    expect(queueIn(text({ entries: [later] })).runs).toEqual([{ ...run, attempts: 2 }])
  })

  it('loses no entry: each becomes a run or is listed', () => {
    const odd = fc.constantFrom(undefined, null, 5, 'x', '', [], {}, '2026-01-05T12:00:00Z', -1, 1.5, 1e9)
    const entry = fc.oneof(
      odd,
      fc.record(
        {
          id: fc.oneof(fc.constantFrom('a', 'b', '\ud800', '\0', 'x'.repeat(600)), odd),
          status: fc.constantFrom('pending', 'ready', 'leased', 'parked', 'drained', 'cancelled', 'draining', 'odd', 7),
          priority: odd,
          nextEligibleAt: odd,
          attempts: odd,
          other: odd,
        },
        { requiredKeys: [] },
      ),
    )
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 6 }), (entries) => {
        const { runs, left, problems } = queueIn(text({ entries }))
        expect(problems).toEqual([])
        const wholly = left.filter(({ what }) => what === 'the entry')
        expect(runs.length + wholly.length).toBe(entries.length)
        expect(new Set(runs.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(runs.length)
        for (const { where, why } of left)
          expect([where, why]).toEqual([expect.stringMatching(/^queue/), expect.stringMatching(/\w/)])
      }),
    )
  })
})

describe('tasks', () => {
  it('become schedules that hand their prompts to hosts', () => {
    const { schedules } = tasksIn(sample('tasks.json'))
    expect(schedules.map(({ spec }) => spec)).toEqual([
      {
        name: 'loop-20260104T090000Z-1a2b3c',
        timing: { everyMs: 30 * minute },
        startAt: Date.UTC(2026, 0, 5, 9, 20),
        startNow: true,
        endAt: Date.UTC(2026, 0, 11, 9),
        maxRuns: 38,
        queue: 'cw',
        payload: {
          id: 'loop-20260104T090000Z-1a2b3c',
          kind: 'loop',
          prompt: 'Look at the build and mend what is broken.',
          workflowId: 'mend',
        },
        description: expect.stringContaining('lastRunAt 2026-01-05T08:50:00.000Z, runCount 12'),
      },
      expect.objectContaining({ timing: { cron: '*/30 9 * * 1,2,3,4,5', zone: 'UTC' } }),
      expect.objectContaining({ timing: { at: Date.UTC(2026, 0, 7, 9) } }),
      expect.objectContaining({ name: 'loop-20260101T090000Z-aabbcc', timing: { everyMs: 5 * minute } }),
    ])
    const paused = schedules.map(({ pausedReason }) => pausedReason !== undefined)
    expect(paused).toEqual([false, false, false, true])
  })

  it('that cannot be had are listed, and so is what of the others has no counterpart', () => {
    const told = tasksIn(sample('tasks.json')).left.map(({ where, what, why }) => `${where}: ${what}: ${why}`)
    expect(told).toEqual([
      expect.stringMatching(/^tasks: history, 1 records: /),
      expect.stringMatching(/^tasks tasks\[1\] .+: jitterSeconds 30: /),
      expect.stringMatching(/^tasks tasks\[4\] .+: the task: its cron runs on days that match both/),
    ])
  })

  it.each([
    [{ kind: 'loop', intervalMinutes: 0 }, 'its interval is 0'],
    [{ kind: 'loop', intervalMinutes: 'often' }, 'is not an integer'],
    [{ kind: 'reminder', nextRunAt: '2026-01-05T08:00:00Z' }, 'which is in the past'],
    [{ kind: 'reminder', nextRunAt: 'soon' }, 'its nextRunAt is not an instant'],
    [{ kind: 'cron' }, 'it has no cron'],
    [{ kind: 'cron', cron: '0 9 * *' }, 'has 4 fields'],
    [{ kind: 'cron', cron: '0 9 * * MON' }, 'never matched: no value fits its weekday'],
    [{ kind: 'cron', cron: '0 9 * * 1', expiresAt: '2026-01-05T10:00:00Z' }, 'before the first instant of the cron'],
    [{ kind: 'cron', cron: '0 9 * * 1', expiresAt: 'later' }, 'its expiresAt later is not an instant'],
    [{ kind: 'cron', cron: '0 9 * * 1', maxRuns: 3, runCount: 3 }, 'it has had all its runs'],
    [{ kind: 'sonata' }, 'its kind sonata is not known'],
    [{ kind: 'loop', status: 'completed' }, 'it is completed'],
    [{ kind: 'loop', id: 's-15' }, 'has the form of an id'],
    [{ kind: 'loop', prompt: undefined }, 'it has no prompt'],
    [{ kind: 'loop', id: '..' }, 'name is .., which cannot be typed'],
    [{ kind: 'loop', id: '-x' }, 'name is -x, which cannot be typed'],
    [{ kind: 'loop', intervalMinutes: -5 }, 'everyMs is -300000 (expected: '],
  ])('that cannot be had say why: %j', (task, why) => {
    const base = { id: 'a', status: 'active', prompt: 'p', nextRunAt: '2026-01-05T10:00:00Z' }
    const { schedules, left } = tasksIn(text({ tasks: [{ ...base, ...task }] }))
    expect(schedules).toEqual([])
    expect(left).toEqual([{ where: expect.any(String), what: 'the task', why: expect.stringContaining(why) }])
  })

  it('of which one is too large for a payload are taken but for that one', () => {
    const task = { kind: 'loop', status: 'active', nextRunAt: '2026-01-05T10:00:00Z' }
    const large = { ...task, id: 'a', prompt: 'p'.repeat(300_000) }
    const { schedules, left } = tasksIn(text({ tasks: [large, { ...task, id: 'b', prompt: 'p' }] }))
    expect(schedules.map(({ spec }) => spec.name)).toEqual(['b'])
    expect(left).toMatchObject([{ what: 'the task', why: expect.stringContaining('its payload has 3000') }])
  })

  it('with one id are taken once', () => {
    const task = { id: 'a', kind: 'loop', status: 'active', prompt: 'p', nextRunAt: '2026-01-05T10:00:00Z' }
    const { schedules, left } = tasksIn(text({ tasks: [task, task] }))
    expect([schedules.length, left]).toEqual([
      1,
      [{ where: 'tasks tasks[1] a', what: 'the task', why: 'another task has its id' }],
    ])
  })
})
