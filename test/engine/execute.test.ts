import { describe, expect, it } from 'vitest'
import { promptSpread } from '../../src/core/timing/spread.ts'
import { findRun } from '../../src/store/reads/find-run.ts'
import { listAttempts } from '../../src/store/reads/list-attempts.ts'
import { readOutput } from '../../src/store/reads/read-output.ts'
import { cancelRun } from '../../src/store/runs/cancel-run.ts'
import { putSchedule } from '../../src/store/schedules/put-schedule.ts'
import type { Attempt } from '../../src/targets/attempt.ts'
import { commandKind } from '../../src/targets/command/kind.ts'
import { handlerKind } from '../../src/targets/handler/kind.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
import { faulty } from './faulty-store.ts'
import { actor, deferred, openPlace, pass, settleDown, stage, stopped } from './stage.ts'

const target = { handler: 'work' }

describe('a run', () => {
  it('is executed, and its result kept', async () => {
    const here = await stage()
    here.handle('work', ({ payload }) => ({ twice: (payload as number) * 2 }))
    await here.engine.start()
    const id = await here.enqueue({ target, payload: 21 })
    const ended = await here.until('run.completed')
    expect(ended).toMatchObject({ runId: id, fence: 1, queue: 'default', status: 'completed' })
    expect(await here.store.look(findRun, id)).toMatchObject({ status: 'completed', result: { value: { twice: 42 } } })
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
    const run = await here.store.look(findRun, id)
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
    expect((await here.store.look(listAttempts, id)).map(({ outcome }) => outcome)).toEqual([
      'failed',
      'failed',
      'failed',
    ])
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

  it.each([
    ['http', 30_000, { http: 'http://example.org/' }, '30s'],
    ['command', 3_600_000, { command: ['true'] }, '1h'],
  ] as const)('of an %s target may take %i ms where nothing is said', async (kind, timeoutMs, given, said) => {
    const clock = new TestClock()
    const here = await stage({ clock })
    here.kinds.set(kind, async (attempt) => {
      await stopped(attempt)
      throw new Error('stopped')
    })
    await here.engine.start()
    await here.enqueue({ target: given })
    await here.until('run.started')
    await pass(clock, timeoutMs - 1_000, 5_000)
    await pass(clock, 999)
    expect(here.of('run.retrying')).toEqual([])
    await pass(clock, 1)
    expect(here.of('run.retrying')).toMatchObject([{ reason: `timeout after ${said}` }])
  })

  it('of a handler may take as long as it likes', async () => {
    const clock = new TestClock()
    const here = await stage({ clock })
    const gate = deferred()
    here.handle('work', () => gate.promise)
    await here.engine.start()
    await here.enqueue({ target })
    await here.until('run.started')
    await pass(clock, 2 * 3_600_000, 5_000)
    gate.resolve()
    expect(await here.until('run.completed')).toMatchObject({ fence: 1, durationMs: 2 * 3_600_000 })
  })

  it('that came to its end in time is not overtaken by its timeout while its last words are written', async () => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    const here = await stage({ clock, store: world.store })
    const slow = deferred()
    const asked = deferred()
    world.fault = (verb) => {
      if (verb !== 'appendOutput') return undefined
      asked.resolve()
      return slow.promise
    }
    here.handle('work', (attempt) => attempt.output('last words'))
    await here.engine.start()
    await here.enqueue({ target, options: { timeoutMs: 1_000 } })
    await asked.promise
    clock.advance(1_000)
    slow.resolve()
    await here.until('run.completed')
  })

  it('that was stopped by its timeout counts as failed, whatever it still says', async () => {
    const clock = new TestClock()
    const here = await stage({ clock })
    here.handle('work', async (attempt) => {
      await stopped(attempt)
      return 'done after all'
    })
    await here.engine.start()
    const id = await here.enqueue({ target, options: { timeoutMs: 5_000 } })
    await here.until('run.started')
    clock.advance(5_000)
    await here.until('run.retrying')
    expect(await here.store.look(listAttempts, id)).toMatchObject([{ fence: 1, outcome: 'failed' }])
  })

  it('that was cancelled and did not stop says so', async () => {
    const clock = new TestClock()
    const here = await stage({ clock })
    here.handle('work', () => new Promise(() => undefined))
    await here.engine.start()
    const id = await here.enqueue({ target })
    await here.until('run.started')
    await here.store.do(cancelRun, id, 'not needed')
    await settleDown()
    clock.advance(200)
    expect((await here.until('run.cancelled')).reason).toContain('did not stop')
  })

  it.each([
    ['a program', commandKind, async () => ({ facts: { exitCode: 0 } })],
    ['a handler that failed', handlerKind, async () => ({ facts: { error: 'half done' } })],
  ])(
    'of %s that the worker had to stop is given back uncounted, whatever it still says',
    async (_who, kind, answer) => {
      const here = await stage()
      const execute = async (attempt: Attempt) => {
        await stopped(attempt)
        return answer()
      }
      here.kinds.set('command', execute, kind)
      await here.engine.start()
      const id = await here.enqueue({ target: { command: ['true'] } })
      await here.until('run.started')
      await here.engine.stop({ graceMs: 0 })
      expect(await here.store.look(findRun, id)).toMatchObject({ status: 'ready', attempts: 0 })
      expect(await here.store.look(listAttempts, id)).toMatchObject([{ outcome: 'forced-stop' }])
    },
  )

  it('that ended fine but not as expected has failed, with the rule in its reason', async () => {
    const here = await stage()
    here.handle('work', () => ({ status: 'half' }))
    await here.engine.start()
    await here.enqueue({ target, options: { expect: { json: { status: 'whole' } } } })
    expect((await here.until('run.retrying')).reason).toContain('whole')
  })

  it('whose executor threw nothing that can be read has a reason all the same', async () => {
    const here = await stage()
    here.handle('work', () => {
      throw new Error('')
    })
    await here.engine.start()
    await here.enqueue({ target })
    expect(await here.until('run.retrying')).toMatchObject({ reason: 'its executor threw an error without a message' })
  })

  it('whose executor breaks its contract ends as unknown, and is told of as a defect', async () => {
    const here = await stage()
    here.handlers.set('work', async () => undefined as never)
    await here.engine.start()
    const id = await here.enqueue({ target })
    await here.until('run.retrying')
    expect(here.of('worker.failed')).toMatchObject([{ loop: 'execute' }])
    expect(await here.store.look(listAttempts, id)).toMatchObject([{ outcome: 'unknown' }])
  })

  it('whose handler was taken away while it was leased is given back untouched', async () => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    const here = await stage({ clock, store: world.store })
    here.handle('work', () => 'done')
    world.fault = (verb) => {
      if (verb !== 'lease') return undefined
      return async (call) => {
        const answer = await call()
        here.handlers.delete('work')
        return answer
      }
    }
    const id = await here.enqueue({ target })
    await here.engine.start()
    await here.until('run.retrying')
    expect(await here.store.look(findRun, id)).toMatchObject({ status: 'ready', fence: 1, attempts: 0 })
    expect(await here.store.look(listAttempts, id)).toMatchObject([{ outcome: 'released' }])
  })

  it('of an occurrence that was spread is told its nominal instant, and its own id for want of a key', async () => {
    const clock = new TestClock()
    const here = await stage({ clock })
    const seen = deferred<{ runId: string; plannedAt: number; idempotencyKey: string }>()
    here.handle('work', ({ runId, plannedAt, idempotencyKey }) => seen.resolve({ runId, plannedAt, idempotencyKey }))
    const spec = { name: 's', timing: { cron: '0 * * * *', zone: 'UTC' }, spread: promptSpread, target }
    await here.store.do(putSchedule, spec, { mode: 'put', actor })
    await here.engine.start()
    const plannedAt = clock.now() + 3_600_000
    await pass(clock, 3_600_000 + 360_000, 30_000)
    const { runId, ...told } = await seen.promise
    expect(told).toEqual({ plannedAt, idempotencyKey: runId })
    expect((await here.store.look(findRun, runId))?.dueAt).toBeGreaterThan(plannedAt)
  })

  it('goes only to a worker that can execute it', async () => {
    const here = await stage()
    here.handle('work', () => 'done')
    await here.engine.start()
    const other = await here.enqueue({ target: { handler: 'other' } })
    const payloadOnly = await here.enqueue({ payload: 1 })
    await here.enqueue({ target })
    await here.until('run.completed')
    for (const id of [other, payloadOnly]) expect((await here.store.look(findRun, id))?.status).toBe('ready')
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
    await expect.poll(async () => (await here.store.look(readOutput, id))?.text).toBe('first\n')
    gate.resolve()
    await here.until('run.completed')
    expect(await here.store.look(readOutput, id)).toMatchObject({ text: 'first\nlast\n' })
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
    const output = await here.store.look(readOutput, id)
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
    expect((await here.store.look(findRun, id))?.status).toBe('ready')
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
