import { describe, expect, it } from 'vitest'
import { atDesk, errorOf, problemsIn, verbsAt } from '../desk.ts'

const desk = atDesk()
const { queues } = verbsAt(() => desk().context)

describe('a queue', () => {
  it('is set with durations in either form, and keeps what is not named', async () => {
    const { answer, queue } = await queues.set('reports', {
      maxConcurrent: 50,
      backoffBase: '2s',
      backoffCapMs: 90_000,
      leaseTtl: '10m',
      rateLimit: { startsMax: 5, per: '1m' },
      retention: { completed: '1d', parkedMs: 5 },
    })
    expect(answer).toBe('created')
    expect(queue.policy).toMatchObject({
      maxConcurrent: 50,
      maxAttempts: 3,
      backoffBaseMs: 2_000,
      backoffCapMs: 90_000,
      leaseTtlMs: 600_000,
      rateLimit: { startsMax: 5, perMs: 60_000 },
      retention: { completedMs: 86_400_000, failedMs: 2_592_000_000, parkedMs: 5 },
    })
    const changed = await queues.set('reports', { rateLimit: null, retention: { parked: null } })
    expect(changed.queue.policy).toMatchObject({ maxConcurrent: 50, retention: { completedMs: 86_400_000 } })
    expect(changed.queue.policy).not.toHaveProperty('rateLimit')
    expect(changed.queue.policy?.retention).not.toHaveProperty('parkedMs')
    expect((await queues.set('reports', {})).answer).toBe('unchanged')
    expect(await queues.list()).toMatchObject([{ name: 'reports' }])
  })

  it.each([
    ['a bare number', { backoffBase: 5 }, 'backoffBase', /is 5/, /with its unit/],
    ['both forms', { leaseTtl: '1m', leaseTtlMs: 60_000 }, 'leaseTtl', /beside `leaseTtlMs`/, /only one/],
    [
      'both forms inside',
      { retention: { failed: '1d', failedMs: 1 } },
      'retention.failed',
      /beside `failedMs`/,
      /only one/,
    ],
    [
      'a rate without its window',
      { rateLimit: { startsMax: 5 } },
      'rateLimit.per',
      /is missing/,
      /a duration from 1ms/,
    ],
    ['an unknown field', { maxConcurent: 5 }, 'maxConcurent', /not a field of a policy/, /maxConcurrent, if/],
    [
      'an unknown field inside',
      { retention: { complete: '1d' } },
      'retention.complete',
      /not a field/,
      /completed, if/,
    ],
    [
      'what only the store can judge, in text',
      { backoffCap: '500ms' },
      'backoffCap',
      /is 500ms/,
      /at least `backoffBase`, which is 1s/,
    ],
    ['what only the store can judge, in ms', { leaseTtlMs: 10 }, 'leaseTtlMs', /is 10/, /an integer from 1000/],
    [
      'what only the store can judge, inside',
      { rateLimit: { startsMax: 0, per: '1s' } },
      'rateLimit.startsMax',
      /is 0/,
      /from 1/,
    ],
    ['null for what must be', { leaseTtl: null }, 'leaseTtl', /is null/, /a duration with its unit/],
  ])('with %s is refused', async (_, policy, field, problem, expected) => {
    expect(await problemsIn(queues.set('reports', policy as never))).toEqual([
      { field, problem: expect.stringMatching(problem), expected: expect.stringMatching(expected) },
    ])
    expect(await queues.list()).toEqual([])
  })

  it('with a number of ms that no duration can have is refused in words', async () => {
    const problems = await problemsIn(queues.set('mail', { backoffBaseMs: Number.MAX_SAFE_INTEGER }))
    expect(problems).toMatchObject([
      { field: 'backoffBaseMs', problem: 'is 9007199254740991' },
      { field: 'backoffCap', problem: 'is 1m' },
    ])
  })

  it('that is not named is refused without a name being made up for it', async () => {
    const error = await errorOf(queues.set({ maxConcurrent: 'x' } as never))
    expect(error.message).toMatch(/^The policy is refused: name is missing .*; maxConcurrent is "x"/)
  })

  it('is not written over a version that the writer has not seen', async () => {
    await queues.set('reports', { maxConcurrent: 2, ifVersion: 0 })
    const error = await errorOf(queues.set('reports', { maxConcurrent: 3, ifVersion: 7 }))
    expect(error).toMatchObject({ code: 'conflict', details: { queue: 'reports', version: 1 } })
  })

  it('is paused and resumed; one that nobody named is not made by it, and the nearest name is told', async () => {
    await queues.set('reports', {})
    expect((await queues.pause('reports')).queue.paused).toMatchObject({ reason: 'asked for by tester' })
    expect((await queues.resume('reports')).queue.paused).toBeNull()
    for (const verb of ['get', 'pause', 'resume'] as const) {
      const ask: (name: string) => Promise<unknown> = queues[verb]
      expect(await errorOf(ask('report'))).toMatchObject({
        code: 'not-found',
        hint: 'Did you mean "reports"?',
      })
    }
    expect(await queues.list()).toHaveLength(1)
  })
})
