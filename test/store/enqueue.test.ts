import { expect, test } from 'vitest'
import type { NewRun } from '../../src/store/port.ts'
import { listQueues } from '../../src/store/reads/find-queue.ts'
import { enqueue } from '../../src/store/runs/enqueue.ts'
import { numberOf, onEachDatabase, type Scene } from './scene.ts'

const circle: Record<string, unknown> = {}
circle.round = circle

const refusalOf = (scene: Scene, input: unknown) =>
  scene
    .write((context) => enqueue(context, [input as NewRun]))
    .then(
      () => 'it was taken in',
      (error) => `${error.code}: ${error.message}`,
    )

/** The whole answer: a conflict names the first run as well, and only its `because` tells it apart. */
const answerTo = async (scene: Scene, input: NewRun) => {
  return (await scene.write((context) => enqueue(context, [input])))[0]
}

onEachDatabase('enqueue', (scene) => {
  test.each<[unknown, RegExp]>([
    [null, /runs\[0\] is null; it must be an object/],
    ['report', /runs\[0\] is string/],
    [{ notbefore: 5 }, /runs\[0\]\.notbefore is not known; it must be one of queue, target, .*notBefore/],
    [{ queue: 5 }, /runs\[0\]\.queue is number/],
    [{ queue: null }, /runs\[0\]\.queue is object/],
    [{ repeatable: 'false' }, /runs\[0\]\.repeatable is string; it must be true or false/],
    [{ repeatable: null }, /runs\[0\]\.repeatable is null/],
    [{ onExhausted: 'Park' }, /runs\[0\]\.onExhausted is "Park"; it must be one of park, fail/],
    [{ target: 'report' }, /runs\[0\]\.target is string; it must be an object/],
    [{ target: { command: () => 1 } }, /runs\[0\]\.target\.command is a function; it must be plain data/],
    [{ target: { handler: 'a\0' } }, /runs\[0\]\.target names a handler with a NUL character/],
    [{ target: { command: 'x'.repeat(300_000) } }, /runs\[0\]\.target has 300014 bytes as JSON/],
    [{ options: [] }, /runs\[0\]\.options is a list; it must be an object/],
    [{ options: null }, /runs\[0\]\.options is null/],
    [{ options: { note: 'x'.repeat(300_000) } }, /runs\[0\]\.options has 300011 bytes/],
    [{ payload: { a: [Number.NaN] } }, /runs\[0\]\.payload\.a\[0\] is NaN/],
    [{ payload: { a: 1n }, idempotencyKey: 'k' }, /runs\[0\]\.payload\.a is a bigint/],
    [{ payload: circle, idempotencyKey: 'k' }, /contains itself/],
  ])('refuses before anything is written what it could not keep as given: %o', async (input, message) => {
    const refusal = await refusalOf(scene(), input)
    expect(refusal).toMatch(message)
    expect(refusal).toMatch(/^invalid: /)
    expect(await scene().read(listQueues)).toEqual([])
  })

  test('a property that is undefined is absent, also for an idempotency key', async () => {
    const first = await answerTo(scene(), { payload: { a: 1, b: undefined }, idempotencyKey: 'k' })
    const again = await answerTo(scene(), { payload: { a: 1 }, idempotencyKey: 'k' })
    expect(again).toEqual({ created: false, id: first?.id, because: 'idempotency-key' })
    expect((await scene().show(first?.id as string))?.payload).toEqual({ a: 1 })
  })
})

onEachDatabase('long lives', (scene) => {
  test('the same work asked for again in another span of a trace is the same run, and other work is not', async () => {
    const first = await answerTo(scene(), { idempotencyKey: 'k', options: { traceparent: '00-a-b-01', timeoutMs: 5 } })
    const again = await answerTo(scene(), { idempotencyKey: 'k', options: { traceparent: '00-a-c-01', timeoutMs: 5 } })
    const other = await answerTo(scene(), { idempotencyKey: 'k', options: { traceparent: '00-a-b-01', timeoutMs: 6 } })
    expect(first?.created).toBe(true)
    expect(again).toEqual({ created: false, id: first?.id, because: 'idempotency-key' })
    expect(other).toMatchObject({ created: false, because: 'conflict' })
  })

  test('a run that was tried, released and lost more often than 32767 times is still moved', async () => {
    await scene().setQueue('default', { policy: { maxAttempts: 100_000, backoffBaseMs: 0, backoffCapMs: 0 } })
    const id = await scene().enqueue()
    await scene().sql(
      'update belfry.ready set attempts = 40000, releases = 40000, deaths = 40000 where run_id = $1',
      numberOf(id),
    )
    await scene().end(await scene().leaseOf(id), { kind: 'forced-stop' })
    expect(await scene().show(id)).toMatchObject({
      status: 'ready',
      attempts: 40_000,
      releases: 40_000,
      deaths: 40_000,
    })
    await scene().end(await scene().leaseOf(id), { kind: 'failed', reason: 'x', retryAfterMs: 1_000.5 })
    expect(await scene().show(id)).toMatchObject({ status: 'ready', attempts: 40_001, deaths: 40_000 })
    scene().clock.now += 1_000
    expect(await scene().lease()).toEqual([])
    scene().clock.now += 1
    expect(await scene().lease()).toMatchObject([{ runId: id }])
  })

  test.each<[unknown, string]>([
    [{ rows: [1n] }, '[not kept: result.rows[0] is a bigint]'],
    [() => 1, '[not kept: result is a function]'],
    [circle, 'contains itself'],
  ])('an answer that JSON cannot say does not undo the work: %o', async (result, kept) => {
    const id = await scene().enqueue()
    expect(await scene().end(await scene().leaseOf(id), { kind: 'success' }, result)).toMatchObject({
      answer: 'written',
    })
    const view = await scene().show(id)
    expect(view).toMatchObject({ status: 'completed', result: { truncated: true } })
    expect(view?.result?.value).toContain(kept)
  })

  test('runs without a target are for hosts, not for whoever names their lane', async () => {
    await scene().enqueue()
    expect(await scene().lease({ can: { kinds: ['none'] } })).toEqual([])
    expect(await scene().lease({ can: { kinds: [], host: true } })).toHaveLength(1)
  })
})
