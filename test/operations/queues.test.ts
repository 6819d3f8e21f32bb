import { describe, expect, it } from 'vitest'
import { queueVerbs as queues } from '../../src/operations/queues.ts'
import { workerVerbs as workers } from '../../src/operations/workers.ts'
import { atDesk, errorOf, problemsIn } from './desk.ts'

const desk = atDesk()

describe('a queue', () => {
  it('is set with durations in either form, and keeps what is not named', async () => {
    const { context } = desk()
    const { answer, queue } = await queues.set(context, 'reports', {
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
    const changed = await queues.set(context, 'reports', { rateLimit: null, retention: { parked: null } })
    expect(changed.queue.policy).toMatchObject({ maxConcurrent: 50, retention: { completedMs: 86_400_000 } })
    expect(changed.queue.policy).not.toHaveProperty('rateLimit')
    expect(changed.queue.policy?.retention).not.toHaveProperty('parkedMs')
    expect((await queues.set(context, 'reports', {})).answer).toBe('unchanged')
    expect(await queues.list(context)).toMatchObject([{ name: 'reports' }])
  })

  it.each([
    ['a bare number', { backoffBase: 5 }, 'backoffBase', /is 5/, /with its unit/],
    ['both forms', { leaseTtl: '1m', leaseTtlMs: 60_000 }, 'leaseTtl', /beside leaseTtlMs/, /only one/],
    [
      'both forms inside',
      { retention: { failed: '1d', failedMs: 1 } },
      'retention.failed',
      /beside failedMs/,
      /only one/,
    ],
    ['a rate without its window', { rateLimit: { startsMax: 5 } }, 'rateLimit.per', /is missing/, /1s/],
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
      /at least backoffBaseMs, which is 1s/,
    ],
    ['what only the store can judge, in ms', { leaseTtlMs: 10 }, 'leaseTtlMs', /is 10/, /an integer from 1000/],
    [
      'what only the store can judge, inside',
      { rateLimit: { startsMax: 0, per: '1s' } },
      'rateLimit.startsMax',
      /is 0/,
      /from 1/,
    ],
    ['null for what must be', { leaseTtl: null }, 'leaseTtlMs', /is missing/, /an integer/],
  ])('with %s is refused', async (_, policy, field, problem, expected) => {
    expect(await problemsIn(queues.set(desk().context, 'reports', policy as never))).toEqual([
      { field, problem: expect.stringMatching(problem), expected: expect.stringMatching(expected) },
    ])
    expect(await queues.list(desk().context)).toEqual([])
  })

  it('is not written over a version that the writer has not seen', async () => {
    const { context } = desk()
    await queues.set(context, 'reports', { maxConcurrent: 2, ifVersion: 0 })
    const error = await errorOf(queues.set(context, 'reports', { maxConcurrent: 3, ifVersion: 7 }))
    expect(error).toMatchObject({ code: 'conflict', details: { queue: 'reports', version: 1 } })
  })

  it('is paused and resumed; one that nobody named is not made by it, and the nearest name is told', async () => {
    const { context } = desk()
    await queues.set(context, 'reports', {})
    expect((await queues.pause(context, 'reports')).queue.paused).toMatchObject({ reason: 'asked for by tester' })
    expect((await queues.resume(context, 'reports')).queue.paused).toBeNull()
    for (const verb of ['get', 'pause', 'resume'] as const) {
      expect(await errorOf(queues[verb](context, 'report'))).toMatchObject({
        code: 'not-found',
        hint: 'Did you mean "reports"?',
      })
    }
    expect(await queues.list(context)).toHaveLength(1)
  })
})

it('a worker that missed two beats is not live, and neither is one that stopped', async () => {
  const { context, clock, store } = desk()
  const worker = { host: 'h', can: { kinds: [] }, beatMs: 1_000 }
  const stopped = await store.registerWorker({ name: 'stopped', ...worker })
  await store.beat([stopped], { stopped: true })
  await store.registerWorker({ name: 'silent', ...worker })
  clock.advance(2_001)
  await store.registerWorker({ name: 'live', ...worker })
  const listed = (await workers.list(context)).map(({ name, isLive }) => [name, isLive])
  expect(listed).toEqual([
    ['silent', false],
    ['live', true],
    ['stopped', false],
  ])
})
