import { describe, expect, it } from 'vitest'
import { TestClock } from '../../src/testing/clock.ts'
import { actor, deferred, settleDown, stage, stopped } from './stage.ts'

const target = { handler: 'work' }

describe('a run', () => {
  it('is executed, and its result kept', async () => {
    const here = await stage()
    here.handle('work', ({ payload }) => ({ twice: (payload as number) * 2 }))
    await here.engine.start()
    const id = await here.enqueue({ target, payload: 21 })
    const ended = await here.until('run.completed')
    expect(ended).toMatchObject({ runId: id, fence: 1, queue: 'default', status: 'completed' })
    expect(await here.store.read.run(id)).toMatchObject({ status: 'completed', result: { value: { twice: 42 } } })
  })

  it('hears what it is: attempt, instant, keys and trace', async () => {
    const here = await stage()
    const seen = deferred<Record<string, unknown>>()
    here.handle('work', (attempt) => {
      const { runId, fence, plannedAt, source, idempotencyKey, traceparent, queue } = attempt
      seen.resolve({ runId, fence, plannedAt, source, idempotencyKey, traceparent, queue })
    })
    await here.engine.start()
    const trace = '0af7651916cd43dd8448eb211c80319c'
    const traceparent = `00-${trace}-b7ad6b7169203331-01`
    const id = await here.enqueue({ target, queue: 'other', idempotencyKey: 'k', options: { traceparent } })
    const run = await here.store.read.run(id)
    expect(await seen.promise).toEqual({
      runId: id,
      fence: 1,
      plannedAt: run?.dueAt,
      source: 'enqueued',
      idempotencyKey: 'k',
      queue: 'other',
      traceparent: expect.stringMatching(new RegExp(`^00-${trace}-(?!b7ad6b7169203331)[0-9a-f]{16}-01$`)),
    })
  })

  it('that throws is tried again after its backoff, and parks when its attempts are used up', async () => {
    const clock = new TestClock()
    const here = await stage({ clock })
    const attempts: number[] = []
    here.handle('work', ({ fence }) => {
      attempts.push(fence)
      throw new Error(`no ${fence}`)
    })
    const id = await here.enqueue({ target })
    await here.engine.drain()
    expect(here.of('run.retrying')).toMatchObject([{ reason: 'no 1', nextEligibleAt: clock.now() + 1_000 }])
    clock.advance(999)
    await here.engine.drain()
    expect(attempts).toEqual([1])
    clock.advance(1)
    await here.engine.drain()
    clock.advance(2_000)
    await here.engine.drain()
    expect(attempts).toEqual([1, 2, 3])
    expect(here.of('run.parked')).toMatchObject([{ runId: id, reason: 'no 3 (attempt 3/3)' }])
    clock.advance(86_400_000)
    await here.engine.drain()
    expect(attempts).toEqual([1, 2, 3])
  })

  it('that throws what is no error touches nobody', async () => {
    const here = await stage()
    here.handle('work', ({ payload }) => {
      if (payload === 'fine') return
      throw payload === 'hostile' ? Object.create(null) : undefined
    })
    await here.engine.start()
    for (const payload of ['hostile', 'nothing', 'fine']) await here.enqueue({ target, payload })
    await here.until('run.completed')
    await here.until('run.retrying', 2)
    expect(here.of('worker.failed')).toEqual([])
  })

  it('is stopped by its timeout, which is apart from its lease', async () => {
    const clock = new TestClock()
    const here = await stage({ clock })
    const began = deferred()
    here.handle('work', async (attempt) => {
      began.resolve()
      await stopped(attempt)
      throw new Error('stopped')
    })
    await here.engine.start()
    await here.enqueue({ target, options: { timeoutMs: 5_000 } })
    await began.promise
    clock.advance(4_999)
    expect(here.of('run.retrying')).toEqual([])
    clock.advance(1)
    expect(await here.until('run.retrying')).toMatchObject({ reason: 'timeout after 5s' })
  })

  it('that does not stop when it is told to is left behind, and its slot goes to others', async () => {
    const clock = new TestClock()
    const here = await stage({ clock, maxConcurrent: 1 })
    here.handle('hangs', () => new Promise(() => undefined)).handle('work', () => 'done')
    await here.engine.start({ slots: 1 })
    await here.enqueue({ target: { handler: 'hangs' }, options: { timeoutMs: 1_000 } })
    await here.until('run.started')
    await here.enqueue({ target })
    clock.advance(1_000)
    clock.advance(200)
    expect(await here.until('run.retrying')).toMatchObject({ reason: 'timeout after 1s, and it did not stop' })
    await here.until('run.completed')
  })

  it('goes only to a worker that can execute it', async () => {
    const here = await stage()
    here.handle('work', () => 'done')
    await here.engine.start()
    const other = await here.enqueue({ target: { handler: 'other' } })
    const payloadOnly = await here.enqueue({ payload: 1 })
    await here.enqueue({ target })
    await here.until('run.completed')
    for (const id of [other, payloadOnly]) expect((await here.store.read.run(id))?.status).toBe('ready')
    here.handle('other', () => 'done')
    here.engine.executorsChanged()
    expect(await here.until('run.completed', 2)).toMatchObject({ runId: other })
  })

  it('waits for no slot that its worker does not have', async () => {
    const here = await stage({ maxConcurrent: 10 })
    const gate = deferred()
    let [under, most] = [0, 0]
    here.handle('work', async () => {
      most = Math.max(most, ++under)
      await gate.promise
      under--
    })
    await here.engine.start({ slots: 2 })
    for (let run = 0; run < 6; run++) await here.enqueue({ target })
    await here.until('run.started', 2)
    gate.resolve()
    await here.until('run.completed', 6)
    expect(most).toBe(2)
  })

  it('says what it does while it does it, and all of it is there at its end', async () => {
    const clock = new TestClock()
    const here = await stage({ clock })
    const gate = deferred()
    here.handle('work', async (attempt) => {
      attempt.output('first\n')
      await gate.promise
      attempt.output('last\n')
    })
    await here.engine.start()
    const id = await here.enqueue({ target })
    await here.until('run.started')
    clock.advance(250)
    await expect.poll(async () => (await here.store.read.output(id))?.text).toBe('first\n')
    gate.resolve()
    await here.until('run.completed')
    expect(await here.store.read.output(id)).toMatchObject({ text: 'first\nlast\n' })
  })

  it('that floods its output is slowed down, and keeps its beginning and its end', async () => {
    const here = await stage()
    const line = `${'x'.repeat(1023)}\n`
    let held = 0
    here.handle('work', async (attempt) => {
      attempt.output('the beginning\n')
      for (let lines = 0; lines < 4_096; lines++) {
        attempt.output(line)
        if (lines % 256 === 255) {
          held++
          await attempt.drained()
        }
      }
      attempt.output('the end\n')
    })
    await here.engine.start()
    const id = await here.enqueue({ target })
    await here.until('run.completed')
    const output = await here.store.read.output(id)
    expect(held).toBe(16)
    expect(output?.text.startsWith('the beginning\n')).toBe(true)
    expect(output?.text.endsWith('the end\n')).toBe(true)
    expect(output?.droppedBytes).toBeGreaterThan(3_000_000)
  })

  it('is not leased by a worker that serves other queues', async () => {
    const here = await stage()
    here.handle('work', () => 'done')
    await here.engine.start({ queues: ['mine'] })
    const id = await here.enqueue({ target, queue: 'yours' })
    await here.enqueue({ target, queue: 'mine' })
    await here.until('run.completed')
    expect((await here.store.read.run(id))?.status).toBe('ready')
  })

  it('tells how late it started and how long it was in the queue', async () => {
    const clock = new TestClock()
    const here = await stage({ clock })
    here.handle('work', () => 'done')
    await here.enqueue({ target, notBefore: clock.now() + 5_000 })
    clock.advance(7_000)
    await here.engine.drain()
    expect(here.of('run.started')).toMatchObject([{ latenessMs: 2_000, queueAgeMs: 7_000 }])
  })
})

describe('a ceiling', () => {
  it('is never passed by a worker with slots to spare, and is filled again as runs end', async () => {
    const here = await stage({ maxConcurrent: 3 })
    let [under, most] = [0, 0]
    here.handle('work', async () => {
      most = Math.max(most, ++under)
      await new Promise((resolve) => setImmediate(resolve))
      under--
    })
    await here.store.enqueue(Array.from({ length: 50 }, () => ({ target })))
    await here.engine.start()
    await here.until('run.completed', 50)
    expect(most).toBe(3)
  })

  it('that is raised lets waiting runs go at once', async () => {
    const here = await stage({ maxConcurrent: 1 })
    here.handle('work', stopped)
    await here.engine.start()
    await here.store.enqueue([{ target }, { target }])
    await here.until('run.started')
    await here.store.setQueue('default', { policy: { maxConcurrent: 2 }, actor })
    await here.until('run.started', 2)
  })

  it('that leaves no room does not hide what becomes due in other queues', async () => {
    const clock = new TestClock()
    const here = await stage({ clock, maxConcurrent: 1 })
    here.handle('holds', stopped).handle('work', () => 'done')
    await here.engine.start()
    await here.store.enqueue([{ target: { handler: 'holds' } }])
    await here.until('run.started')
    await here.store.enqueue([{ target, notBefore: clock.now() + 100 }])
    await here.store.enqueue([{ target, queue: 'other', notBefore: clock.now() + 300 }])
    for (let step = 0; step < 3; step++) {
      await settleDown()
      clock.advance(100)
    }
    expect(await here.until('run.completed')).toMatchObject({ queue: 'other' })
  })
})

describe('a rate', () => {
  it('that is used up is slept towards, and the next run starts when it allows', async () => {
    const clock = new TestClock()
    const here = await stage({ clock, maxConcurrent: 10 })
    await here.store.setQueue('default', { policy: { rateLimit: { startsMax: 2, perMs: 5_000 } }, actor })
    here.handle('work', () => 'done')
    await here.engine.start()
    await here.store.enqueue(Array.from({ length: 4 }, () => ({ target })))
    await here.until('run.completed', 2)
    await settleDown()
    clock.advance(4_999)
    await settleDown()
    expect(here.of('run.started')).toHaveLength(2)
    clock.advance(1)
    await here.until('run.completed', 4)
  })
})
