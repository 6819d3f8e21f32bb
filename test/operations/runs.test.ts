import { describe, expect, it } from 'vitest'
import { runVerbs as runs } from '../../src/operations/runs.ts'
import { atDesk, errorOf, problemsIn } from './desk.ts'

const desk = atDesk()
const target = { handler: 'report' }

describe('enqueue', () => {
  it('says that a queue was first named, and with which ceiling, so that a typo is noticed', async () => {
    const { context } = desk()
    expect(await runs.enqueue(context, { queue: 'reprots' })).toEqual({
      created: true,
      id: expect.any(String),
      queueCreated: { name: 'reprots', maxConcurrent: 1 },
    })
    expect(await runs.enqueue(context, {})).toMatchObject({ queueCreated: { name: 'default', maxConcurrent: 5 } })
    expect(await runs.enqueue(context, {})).toEqual({ created: true, id: expect.any(String) })
    expect(await context.store.read.queue('reprots')).toMatchObject({ policy: { maxConcurrent: 1 } })
    expect(await context.store.read.queue('default')).toMatchObject({ policy: { maxConcurrent: 5 } })
  })

  it('answers the same key and work with the first run, however the work is spelt, and other work with a conflict', async () => {
    const { context } = desk()
    const first = await runs.enqueue(context, { target, timeout: '60s', idempotencyKey: 'k' })
    expect(await runs.enqueue(context, { target, timeoutMs: 60_000, idempotencyKey: 'k' })).toEqual({
      created: false,
      id: first.id,
      because: 'idempotency-key',
    })
    const error = await errorOf(runs.enqueue(context, { target, timeout: '61s', idempotencyKey: 'k' }))
    expect(error).toMatchObject({ code: 'conflict', details: { id: first.id, key: 'k' } })
    expect(error.message).toContain('"k"')
  })

  it('answers a live dedupe key with the run that has it', async () => {
    const { context } = desk()
    const { id } = await runs.enqueue(context, { dedupeKey: 'd' })
    expect(await runs.enqueue(context, { dedupeKey: 'd' })).toEqual({ created: false, id, because: 'dedupe-key' })
  })

  it('tells what the store refuses by the field that the caller wrote', async () => {
    const { context } = desk()
    const payload = 'x'.repeat(300_000)
    const [problem] = await problemsIn(runs.enqueue(context, { payload }))
    expect(problem).toEqual({
      field: 'payload',
      problem: expect.stringContaining('bytes'),
      expected: 'at most 262144',
    })
    const [inList] = await problemsIn(runs.enqueueMany(context, [{}, { payload }]))
    expect(inList?.field).toBe('[1].payload')
  })

  it('refuses options that nobody knows', async () => {
    const options = { transaction: {} } as never
    expect((await problemsIn(runs.enqueue(desk().context, {}, options)))[0]?.field).toBe('transaction')
  })
})

describe('enqueueMany', () => {
  it('gives each item its own answer, a conflict among them, and throws for none', async () => {
    const { context } = desk()
    const { id } = await runs.enqueue(context, { payload: 1, idempotencyKey: 'k' })
    const answers = await runs.enqueueMany(context, [
      { payload: 2, idempotencyKey: 'k' },
      { payload: 1, idempotencyKey: 'k' },
      { queue: 'other' },
    ])
    expect(answers).toEqual([
      { created: false, id, because: 'conflict', key: 'k' },
      { created: false, id, because: 'idempotency-key' },
      { created: true, id: expect.any(String), queueCreated: { name: 'other', maxConcurrent: 1 } },
    ])
  })

  it('refuses bad input whole, naming each item by its place, and takes nothing in', async () => {
    const { context } = desk()
    const bad = [{}, { timeout: 5 }, { priority: 'high' }] as never
    expect((await problemsIn(runs.enqueueMany(context, bad))).map(({ field }) => field)).toEqual([
      '[1].timeout',
      '[2].priority',
    ])
    expect((await runs.list(context)).runs).toEqual([])
    expect((await errorOf(runs.enqueueMany(context, 'x' as never))).code).toBe('invalid')
    expect(await runs.enqueueMany(context, [])).toEqual([])
  })
})

describe('a run', () => {
  it('is shown in the words of its input', async () => {
    const { context } = desk()
    const { id } = await runs.enqueue(context, { target, payload: [1], timeout: '5s', tags: ['a'] })
    const shown = await runs.get(context, id)
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
    const { runs: listed, next } = await runs.list(context, { status: 'ready', limit: 10 })
    expect(listed).toMatchObject([{ id, timeoutMs: 5_000 }])
    expect(next).toBeNull()
  })

  it('is listed by its queue or schedule, and the nearest name is told of one that nobody knows', async () => {
    const { context } = desk()
    await runs.enqueue(context, { queue: 'reports' })
    expect((await runs.list(context, { queue: 'reports' })).runs).toHaveLength(1)
    expect(await errorOf(runs.list(context, { queue: 'report' }))).toMatchObject({
      code: 'not-found',
      hint: 'Did you mean "reports"?',
    })
    await context.store.putSchedule({ name: 'daily', timing: {} }, { mode: 'put', actor: context.actor })
    expect(await errorOf(runs.list(context, { schedule: 'dialy' }))).toMatchObject({ hint: 'Did you mean "daily"?' })
  })

  it('that nobody knows is not found, whatever is asked of it', async () => {
    const { context } = desk()
    const { id } = await runs.enqueue(context, {})
    const absent = id.replace(/.$/, 'z')
    for (const verb of ['get', 'attempts', 'output', 'wait', 'cancel', 'retry', 'reset'] as const) {
      expect(await errorOf(runs[verb](context, absent)), verb).toMatchObject({
        code: 'not-found',
        hint: expect.any(String),
      })
      expect((await errorOf(runs[verb](context, 'nonsense'))).code, verb).toBe('invalid')
    }
  })

  it('tells its attempts and its output, of which there are none at first', async () => {
    const { context, ...at } = { ...desk(), lease: () => desk().lease() }
    const { id } = await runs.enqueue(context, {})
    expect(await runs.attempts(context, id)).toEqual([])
    expect(await runs.output(context, id)).toBeNull()
    const [lease] = await at.lease()
    await context.store.appendOutput({ runId: id, fence: lease?.fence ?? 0 }, 'half')
    expect(await runs.output(context, id)).toMatchObject({ text: 'half' })
    expect(await runs.output(context, id, { attempt: 1 })).toMatchObject({ text: 'half' })
    expect((await problemsIn(runs.output(context, id, { fence: 1 } as never)))[0]?.field).toBe('fence')
  })

  it('is cancelled with a reason, the asker where none was given', async () => {
    const { context } = desk()
    const { id } = await runs.enqueue(context, {})
    expect(await runs.cancel(context, id)).toEqual({ answer: 'cancelled' })
    expect((await runs.get(context, id)).end).toMatchObject({ status: 'cancelled', reason: 'asked for by tester' })
    expect(await runs.cancel(context, id, { reason: 'again' })).toEqual({ answer: 'already-ended' })
  })

  it('that ended is retried as a new run; one that is live, or whose key is taken, is not', async () => {
    const at = desk()
    const { context } = at
    const { id } = await runs.enqueue(context, { target, dedupeKey: 'd' })
    expect((await errorOf(runs.retry(context, id))).message).toContain('has not ended')
    await at.work()
    const { id: again, answer } = await runs.retry(context, id)
    expect(answer).toBe('created')
    expect(await runs.get(context, again)).toMatchObject({ retryOf: id, status: 'ready' })
    expect(await errorOf(runs.retry(context, id))).toMatchObject({
      code: 'conflict',
      details: { id, liveRunId: again },
    })
    expect((await errorOf(runs.retry(context, id, { latest: true }))).code).toBe('invalid')
  })

  it('that is parked is reset; any other is refused with how it stands', async () => {
    const at = desk()
    const { context } = at
    const { id } = await runs.enqueue(context, { target })
    const refused = await errorOf(runs.reset(context, id))
    expect(refused).toMatchObject({ code: 'conflict', message: `Run ${id} is ready, not parked.` })
    const [lease] = await at.lease()
    const outcome = { kind: 'failed', reason: 'broken', retryable: false } as const
    await context.store.settle([{ runId: id, fence: lease?.fence ?? 0, outcome }])
    expect(await runs.reset(context, id)).toEqual({ id, status: 'ready' })
  })
})
