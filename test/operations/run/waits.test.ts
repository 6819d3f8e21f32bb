import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { BelfryError } from '../../../src/core/error.ts'
import type { EngineEvents } from '../../../src/engine/events.ts'
import { Events } from '../../../src/engine/events.ts'
import { openStore } from '../../../src/open-store.ts'
import { Waits } from '../../../src/operations/run/waits.ts'
import type { Store } from '../../../src/store/port.ts'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { findRun } from '../../../src/store/reads/find-run.ts'
import { TestClock } from '../../../src/testing/test-clock.ts'
import { postgresUrl } from '../../postgres.ts'
import { atDesk, Desk, errorOf, problemsIn, verbsAt } from '../desk.ts'

const desk = atDesk()
const { runs } = verbsAt(() => desk().context)

function ended(runId: string): EngineEvents['run.completed'] {
  const name = { runId, fence: 1, queue: 'default', scheduleId: null }
  return { ...name, status: 'completed', reason: 'success', durationMs: 1, source: 'enqueued' }
}

/** Whether a promise has come to its end by the time everything that was under way is done. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let isDone = false
  const note = () => {
    isDone = true
  }
  promise.then(note, note)
  await new Promise((resolve) => setImmediate(resolve))
  return isDone
}

/** The store, but for the first time somebody reads a run. */
function refusingOnce(store: Store, error: Error): Store {
  let isFirst = true
  const look: Store['look'] = async (read, ...args) => {
    if (!isFirst || read.name !== 'findRun') return store.look(read, ...args)
    isFirst = false
    throw error
  }
  return Object.assign(Object.create(store) as Store, { look, listen: store.listen.bind(store) })
}

describe('whoever waits for a run', () => {
  it('hears of its end from the worker of this process at once, though the clock stands still', async () => {
    const at = desk()
    const { id } = await runs.enqueue({ target: { handler: 'report' } })
    const waiting = runs.wait(id)
    expect(await isSettled(waiting)).toBe(false)
    await at.work()
    expect(await isSettled(waiting)).toBe(false)
    at.events.tell('run.completed', ended(id))
    expect(await isSettled(waiting)).toBe(true)
    expect(await waiting).toMatchObject({ id, status: 'completed' })
  })

  it('is answered at once where it has ended already, and when it is parked', async () => {
    const at = desk()
    const { id } = await runs.enqueue({ target: null })
    const waiting = runs.wait(id)
    const [lease] = await at.lease()
    const outcome = { kind: 'failed', reason: 'broken', retryable: false } as const
    await at.store.settle([{ runId: id, fence: lease?.fence ?? 0, outcome }])
    at.events.tell('run.parked', { ...ended(id), status: 'parked' })
    expect(await waiting).toMatchObject({ status: 'parked', parked: { reason: 'broken (not retryable)' } })
    expect(await runs.wait(id)).toMatchObject({ status: 'parked' })
  })

  it('goes on waiting while the run is only tried again', async () => {
    const at = desk()
    const { id } = await runs.enqueue({ target: null })
    const waiting = runs.wait(id)
    const [lease] = await at.lease()
    await at.store.settle([{ runId: id, fence: lease?.fence ?? 0, outcome: { kind: 'failed', reason: 'once' } }])
    at.events.tell('run.reclaimed', { runId: id, fence: 1, status: 'ready', reason: 'lost', because: 'expired' })
    at.clock.advance(1_000)
    expect(await isSettled(waiting)).toBe(false)
    at.context.waits.close()
    expect((await errorOf(waiting)).code).toBe('unavailable')
  })

  it('finds by looking every second what nobody told', async () => {
    const at = desk()
    const { id } = await runs.enqueue({ target: null })
    const waiting = runs.wait(id)
    await at.work()
    at.clock.advance(999)
    expect(await isSettled(waiting)).toBe(false)
    at.clock.advance(1)
    expect(await isSettled(waiting)).toBe(true)
  })

  it.each(['unavailable', 'commit-unknown'] as const)('goes on waiting over what passes: %s', async (code) => {
    const at = desk()
    const store = refusingOnce(at.store, new BelfryError(code, 'It broke off.'))
    const waits = new Waits({ store, clock: at.clock, events: at.events })
    const { id } = await runs.enqueue({ target: null })
    const waiting = waits.wait(id)
    await at.work()
    expect(await isSettled(waiting)).toBe(false)
    at.clock.advance(1_000)
    expect(await waiting).toMatchObject({ status: 'completed' })
  })

  it.each([
    ['a defect', new TypeError('undefined is not a function')],
    ['a store that was closed', new BelfryError('unavailable', 'It was closed.', { details: { closed: true } })],
  ])('is told of what will not pass: %s', async (_, error) => {
    const at = desk()
    const waits = new Waits({ store: refusingOnce(at.store, error), clock: at.clock, events: at.events })
    const { id } = await runs.enqueue({ target: null })
    await expect(waits.wait(id)).rejects.toBe(error)
  })

  it('hears of a cancellation of its run in this process', async () => {
    const { id } = await runs.enqueue({ target: null })
    const waiting = runs.wait(id)
    await runs.cancel(id)
    expect(await isSettled(waiting)).toBe(true)
    expect(await waiting).toMatchObject({ status: 'cancelled' })
  })

  it('may give up after a time, or by a signal, and the run goes on', async () => {
    const at = desk()
    const { id } = await runs.enqueue({ target: null })
    const late = runs.wait(id, { timeout: '90s' })
    at.clock.advance(90_000)
    const error = await errorOf(late)
    expect(error).toMatchObject({ code: 'unavailable', details: { id, timeoutMs: 90_000 } })
    expect(error.message).toContain('1m30s')

    const controller = new AbortController()
    const aborted = runs.wait(id, { signal: controller.signal })
    controller.abort('enough')
    await expect(aborted).rejects.toBe('enough')
    await expect(runs.wait(id, { signal: AbortSignal.abort('before') })).rejects.toBe('before')
    expect(await runs.get(id)).toMatchObject({ status: 'ready' })
  })

  it('is refused what nobody can wait by', async () => {
    const { id } = await runs.enqueue({ target: null })
    for (const input of [{ timeout: 5 }, { timeout: '5s', timeoutMs: 5_000 }, { signal: {} }, { until: 1 }]) {
      expect(await problemsIn(runs.wait(id, input as never))).toHaveLength(1)
    }
  })

  it('leaves nothing behind: no listener and no timer, though a thousand waited', async () => {
    const at = desk()
    const inputs = Array.from({ length: 1_000 }, () => ({ target: { handler: 'report' } }))
    await runs.enqueueMany(inputs)
    const { runs: listed } = await runs.list({ limit: 1_000 })
    const waiting = Promise.all(listed.map(({ id }) => runs.wait(id)))
    expect(at.events.listenerCount('run.completed')).toBe(1)
    await at.store.do(setQueue, 'default', { policy: { maxConcurrent: 1_000 }, actor: at.context.actor })
    for (let left = 1_000; left > 0; left -= 100) await at.work()
    for (const { id } of listed) at.events.tell('run.completed', ended(id))
    expect(new Set((await waiting).map(({ status }) => status))).toEqual(new Set(['completed']))
    expect(at.events.listenerCount('run.completed')).toBe(0)
    // Whoever still looked would find the store closed, and the clock would still have an alarm for it.
    await at.store.close()
    at.clock.advance(10_000)
  })
})

describe('a run that another process ends', () => {
  /** Two openings of one store, as two processes have them. */
  async function two(url: string, schema?: string): Promise<[Store, Store]> {
    const options = schema === undefined ? {} : { schema, allowNonDurable: true }
    const [mine, other] = await Promise.all([openStore(url, options), openStore(url, options)])
    onTestFinished(async () => {
      await Promise.all([mine.close(), other.close()])
    })
    return [mine, other]
  }

  async function endElsewhere(other: Store, clock: TestClock, id: string) {
    const at = new Desk(other, clock)
    await at.work()
    expect((await other.look(findRun, id))?.status).toBe('completed')
  }

  it('is noticed on the same SQLite file without looking in vain', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'belfry-wait-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const [mine, other] = await two(`sqlite:${join(folder, 'belfry.db')}`)
    // The waits' own clock stands still, so that nothing but the store's wake-up can make them look.
    const clock = new TestClock()
    const waits = new Waits({ store: mine, clock, events: new Events() })
    const [{ id } = { id: '' }] = await mine.enqueue([{}])
    const waiting = waits.wait(id)
    await endElsewhere(other, clock, id)
    expect(await waiting).toMatchObject({ status: 'completed' })
  })

  it('is noticed on PostgreSQL, where an end wakes nobody, by looking', async () => {
    const [mine, other] = await two(postgresUrl(), `waits_${process.pid}`)
    const waits = new Waits({ store: mine, clock: systemClock, events: new Events() })
    const [{ id } = { id: '' }] = await mine.enqueue([{}])
    const waiting = waits.wait(id)
    await endElsewhere(other, new TestClock(), id)
    expect(await waiting).toMatchObject({ status: 'completed' })
  })
})
