import { describe, expect, it } from 'vitest'
import { findQueue } from '../../../src/store/reads/find-queue.ts'
import { putSchedule } from '../../../src/store/schedules/put-schedule.ts'
import { atDesk, errorOf, problemsIn, verbsAt } from '../desk.ts'

const desk = atDesk()
const { runs } = verbsAt(() => desk().context)
const target = { handler: 'report' }

describe('enqueue', () => {
  it('says that a queue was first named, and with which ceiling, so that a typo is noticed', async () => {
    const { context } = desk()
    expect(await runs.enqueue({ target: null, queue: 'reprots' })).toEqual({
      created: true,
      id: expect.any(String),
      queueCreated: { name: 'reprots', maxConcurrent: 1 },
    })
    expect(await runs.enqueue({ target: null })).toMatchObject({ queueCreated: { name: 'default', maxConcurrent: 5 } })
    expect(await runs.enqueue({ target: null })).toEqual({ created: true, id: expect.any(String) })
    expect(await context.store.look(findQueue, 'reprots')).toMatchObject({ policy: { maxConcurrent: 1 } })
    expect(await context.store.look(findQueue, 'default')).toMatchObject({ policy: { maxConcurrent: 5 } })
  })

  it('answers the same key and work with the first run, however the work is spelt, and other work with a conflict', async () => {
    const first = await runs.enqueue({ target, timeout: '60s', idempotencyKey: 'k' })
    expect(await runs.enqueue({ target, timeoutMs: 60_000, idempotencyKey: 'k' })).toEqual({
      created: false,
      id: first.id,
      because: 'idempotency-key',
    })
    const error = await errorOf(runs.enqueue({ target, timeout: '61s', idempotencyKey: 'k' }))
    expect(error).toMatchObject({ code: 'conflict', details: { id: first.id, key: 'k' } })
    expect(error.message).toContain('"k"')
  })

  it('answers a live dedupe key with the run that has it', async () => {
    const { id } = await runs.enqueue({ target: null, dedupeKey: 'd' })
    expect(await runs.enqueue({ target: null, dedupeKey: 'd' })).toEqual({ created: false, id, because: 'dedupe-key' })
  })

  it('tells what the store refuses by the field that the caller wrote', async () => {
    const payload = 'x'.repeat(300_000)
    const [problem] = await problemsIn(runs.enqueue({ target: null, payload }))
    expect(problem).toEqual({
      field: 'payload',
      problem: expect.stringContaining('bytes'),
      expected: 'at most 262144 bytes',
    })
    const [inList] = await problemsIn(runs.enqueueMany([{ target: null }, { target: null, payload }]))
    expect(inList?.field).toBe('runs[1].payload')
  })

  it('refuses options that nobody knows', async () => {
    const options = { transaction: {} } as never
    expect((await problemsIn(runs.enqueue({ target: null }, options)))[0]?.field).toBe('transaction')
  })
})

describe('enqueueMany', () => {
  it('gives each item its own answer, a conflict among them, and throws for none', async () => {
    const { id } = await runs.enqueue({ target: null, payload: 1, idempotencyKey: 'k' })
    const answers = await runs.enqueueMany([
      { target: null, payload: 2, idempotencyKey: 'k' },
      { target: null, payload: 1, idempotencyKey: 'k' },
      { target: null, queue: 'other' },
    ])
    expect(answers).toEqual([
      { created: false, id, because: 'conflict', key: 'k' },
      { created: false, id, because: 'idempotency-key' },
      { created: true, id: expect.any(String), queueCreated: { name: 'other', maxConcurrent: 1 } },
    ])
  })

  it('refuses bad input whole, naming each item by its place, and takes nothing in', async () => {
    const bad = [{ target: null }, { target: null, timeout: 5 }, { target: null, priority: 'high' }] as never
    expect((await problemsIn(runs.enqueueMany(bad))).map(({ field }) => field)).toEqual([
      'runs[1].timeout',
      'runs[2].priority',
    ])
    expect((await runs.list()).runs).toEqual([])
    expect((await errorOf(runs.enqueueMany('x' as never))).code).toBe('invalid')
    expect(await runs.enqueueMany([])).toEqual([])
  })
})

describe('a run', () => {
  it('is shown in the words of its input', async () => {
    const { id } = await runs.enqueue({ target, payload: [1], timeout: '5s', tags: ['a'] })
    const shown = await runs.get(id)
    expect(shown).toMatchObject({
      id,
      status: 'ready',
      target,
      payload: [1],
      timeoutMs: 5_000,
      tags: ['a'],
      result: null,
    })
    expect(shown).not.toHaveProperty('options')
    const { id: empty } = await runs.enqueue({ target: null })
    expect(await runs.get(empty)).not.toHaveProperty('payload')
    await runs.cancel(empty)
    const { runs: listed, next } = await runs.list({ status: 'ready', limit: 10 })
    expect(listed).toMatchObject([{ id, timeoutMs: 5_000 }])
    expect(next).toBeNull()
  })

  it('is listed by its queue or schedule, and the nearest name is told of one that nobody knows', async () => {
    const { context } = desk()
    await runs.enqueue({ target: null, queue: 'reports' })
    expect((await runs.list({ queue: 'reports' })).runs).toHaveLength(1)
    expect(await errorOf(runs.list({ queue: 'report' }))).toMatchObject({
      code: 'not-found',
      hint: 'Did you mean "reports"?',
    })
    await context.store.do(putSchedule, { name: 'daily', timing: {} }, { mode: 'put', actor: context.actor })
    expect(await errorOf(runs.list({ schedule: 'dialy' }))).toMatchObject({ hint: 'Did you mean "daily"?' })
  })

  it('that nobody knows is not found, whatever is asked of it', async () => {
    const { id } = await runs.enqueue({ target: null })
    const absent = id.replace(/.$/, 'z')
    for (const verb of ['get', 'attempts', 'output', 'wait', 'cancel', 'retry', 'reset'] as const) {
      const ask: (id: string) => Promise<unknown> = runs[verb]
      expect(await errorOf(ask(absent)), verb).toMatchObject({
        code: 'not-found',
        hint: expect.any(String),
      })
      expect(await problemsIn(ask('nonsense')), verb).toEqual([
        {
          field: 'id',
          problem: 'is "nonsense"',
          expected: 'the id of a run as the list of runs shows it, such as r-15',
        },
      ])
    }
  })

  it('tells its attempts and its output, of which there are none at first', async () => {
    const { context, ...at } = { ...desk(), lease: () => desk().lease() }
    const { id } = await runs.enqueue({ target: null })
    expect(await runs.attempts(id)).toEqual([])
    expect(await runs.output(id)).toBeNull()
    const [lease] = await at.lease()
    await context.store.appendOutput({ runId: id, fence: lease?.fence ?? 0 }, 'half')
    expect(await runs.output(id)).toMatchObject({ text: 'half' })
    expect(await runs.output(id, { attempt: 1 })).toMatchObject({ text: 'half' })
    expect((await problemsIn(runs.output(id, { fence: 1 } as never)))[0]?.field).toBe('fence')
  })

  it('is cancelled with a reason, the asker where none was given', async () => {
    const { id } = await runs.enqueue({ target: null })
    expect(await runs.cancel(id)).toEqual({ answer: 'cancelled' })
    expect((await runs.get(id)).end).toMatchObject({ status: 'cancelled', reason: 'asked for by tester' })
    expect(await runs.cancel(id, { reason: 'again' })).toEqual({ answer: 'already-ended' })
  })

  it('that ended is retried as a new run; one that is live, or whose key is taken, is not', async () => {
    const at = desk()
    const { id } = await runs.enqueue({ target, dedupeKey: 'd' })
    expect((await errorOf(runs.retry(id))).message).toContain('has not ended')
    await at.work()
    const { id: again, answer } = await runs.retry(id)
    expect(answer).toBe('created')
    expect(await runs.get(again)).toMatchObject({ retryOf: id, status: 'ready' })
    expect(await errorOf(runs.retry(id))).toMatchObject({
      code: 'conflict',
      details: { id, liveRunId: again },
    })
    expect((await errorOf(runs.retry(id, { latest: true }))).code).toBe('invalid')
  })

  it('that is parked is reset; any other is refused with how it stands', async () => {
    const at = desk()
    const { context } = at
    const { id } = await runs.enqueue({ target })
    const refused = await errorOf(runs.reset(id))
    expect(refused).toMatchObject({ code: 'conflict', message: `Run ${id} is ready, not parked.` })
    const [lease] = await at.lease()
    const outcome = { kind: 'failed', reason: 'broken', retryable: false } as const
    await context.store.settle([{ runId: id, fence: lease?.fence ?? 0, outcome }])
    expect(await runs.reset(id)).toEqual({ id, status: 'ready' })
  })
})
