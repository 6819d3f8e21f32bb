import { describe, expect, it } from 'vitest'
import { findRun } from '../../src/store/reads/find-run.ts'
import { listRuns } from '../../src/store/reads/list-runs.ts'
import { listWorkers } from '../../src/store/reads/list-workers.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
import { faulty } from './faulty-store.ts'
import { CountingClock, deferred, openPlace, settleDown, stage, stopped } from './stage.ts'

const target = { handler: 'work' }

describe('stopping a worker', () => {
  it('lets what runs come to its end, and takes nothing new', async () => {
    const here = await stage({ maxConcurrent: 1 })
    const gate = deferred()
    here.handle('work', () => gate.promise)
    await here.engine.start()
    const first = await here.enqueue({ target })
    await here.until('run.started')
    const second = await here.enqueue({ target })
    const stopping = here.engine.stop()
    await here.until('worker.stopping')
    gate.resolve()
    await stopping
    expect(here.of('run.completed')).toMatchObject([{ runId: first }])
    expect(await here.store.look(findRun, second)).toMatchObject({ status: 'ready', fence: 0 })
    expect(here.of('worker.stopped')).toMatchObject([{ forced: 0 }])
  })

  it('gives back what does not end within the grace, without counting an attempt', async () => {
    const clock = new TestClock()
    const here = await stage({ clock })
    here.handle('work', async (attempt) => {
      await stopped(attempt)
      throw new Error('interrupted')
    })
    await here.engine.start()
    const id = await here.enqueue({ target })
    await here.until('run.started')
    const stopping = here.engine.stop({ graceMs: 5_000 })
    await here.until('worker.stopping')
    clock.advance(5_000)
    await stopping
    expect(await here.store.look(findRun, id)).toMatchObject({ status: 'ready', fence: 1, attempts: 0 })
    expect(here.of('worker.stopped')).toMatchObject([{ forced: 1 }])
  })

  it('is hurried by a second call with a shorter grace', async () => {
    const here = await stage()
    here.handle('work', async (attempt) => {
      await stopped(attempt)
      throw new Error('interrupted')
    })
    await here.engine.start()
    await here.enqueue({ target })
    await here.until('run.started')
    const patient = here.engine.stop({ graceMs: 3_600_000 })
    await here.until('worker.stopping')
    await here.engine.stop({ graceMs: 0 })
    await patient
    expect(here.of('worker.stopped')).toMatchObject([{ forced: 1 }])
  })

  it('sets no alarm that outlives it when it is hurried after what ran has ended', async () => {
    const clock = new CountingClock()
    const world = faulty(await openPlace({ clock }))
    const here = await stage({ clock, store: world.store })
    await here.engine.start()
    const slow = deferred()
    world.fault = (verb) => (verb === 'beat' ? slow.promise : undefined)
    const stopping = here.engine.stop()
    await settleDown()
    const hurried = here.engine.stop({ graceMs: 20_000 })
    slow.resolve()
    await Promise.all([stopping, hurried])
    expect(clock.alarms).toBe(0)
  })

  it('keeps the word of a handler that came to its end although it was told to stop', async () => {
    const here = await stage()
    here.handle('work', async (attempt) => {
      await stopped(attempt)
      return 'done after all'
    })
    await here.engine.start()
    const id = await here.enqueue({ target, repeatable: false })
    await here.until('run.started')
    await here.engine.stop({ graceMs: 0 })
    expect(await here.store.look(findRun, id)).toMatchObject({ status: 'completed' })
  })

  it('parks what must not be repeated when it was forced', async () => {
    const here = await stage()
    here.handle('work', async (attempt) => {
      await stopped(attempt)
      throw new Error('interrupted')
    })
    await here.engine.start()
    const id = await here.enqueue({ target, repeatable: false })
    await here.until('run.started')
    await here.engine.stop({ graceMs: 0 })
    expect(await here.store.look(findRun, id)).toMatchObject({ status: 'parked', parked: { reason: 'effect-unknown' } })
  })

  it.each([25_000, 0])(
    'gives back untouched what it was granted while it stopped (grace of %i ms)',
    async (graceMs) => {
      const world = faulty(await openPlace())
      const here = await stage({ store: world.store })
      let began = 0
      here.handle('work', () => ++began)
      const slow = deferred()
      const asked = deferred()
      world.fault = (verb) => {
        if (verb !== 'lease') return undefined
        asked.resolve()
        return slow.promise
      }
      const id = await here.enqueue({ target })
      await here.engine.start()
      await asked.promise
      const stopping = here.engine.stop({ graceMs })
      await here.until('worker.stopping')
      await settleDown()
      slow.resolve()
      await stopping
      expect(began).toBe(0)
      expect(await here.store.look(findRun, id)).toMatchObject({ status: 'ready', attempts: 0 })
    },
  )

  it('does not wait for a store that never answers', async () => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    const here = await stage({ clock, store: world.store })
    here.handle('work', () => 'done')
    await here.engine.start()
    world.fault = (verb) => (verb === 'settle' || verb === 'beat' ? new Promise(() => undefined) : undefined)
    await here.enqueue({ target })
    await here.until('run.started')
    let isOver = false
    const stopping = here.engine.stop({ graceMs: 1_000 }).then(() => {
      isOver = true
    })
    while (!isOver) {
      clock.advance(500)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await stopping
    expect(here.of('worker.stopped')).toHaveLength(1)
  })

  it('says in the store that it has stopped', async () => {
    const here = await stage()
    await here.engine.start()
    const id = here.engine.workerId
    await here.engine.stop()
    const worker = (await here.store.look(listWorkers)).find((one) => one.id === id)
    expect(worker?.stoppedAt).not.toBe(null)
    expect(here.engine.workerId).toBe(null)
  })
})

describe('starting and stopping', () => {
  it('twice is the same as once', async () => {
    const here = await stage()
    await here.engine.stop()
    await Promise.all([here.engine.start(), here.engine.start()])
    await here.engine.start()
    expect(here.of('worker.started')).toHaveLength(1)
    await Promise.all([here.engine.stop(), here.engine.stop()])
    await here.engine.stop()
    expect(here.of('worker.stopped')).toHaveLength(1)
  })

  it('at random loses no run and does none twice', async () => {
    const here = await stage({ maxConcurrent: 5 })
    const done = new Map<string, number>()
    here.handle('work', async ({ runId }) => {
      await new Promise((resolve) => setImmediate(resolve))
      done.set(runId, (done.get(runId) ?? 0) + 1)
    })
    const answers = await here.store.enqueue(Array.from({ length: 200 }, () => ({ target })))
    for (let round = 0; done.size < 200; round++) {
      await here.engine.start()
      const starting = round % 5 === 0 ? here.engine.start() : undefined
      for (let turn = 0; turn < round % 7; turn++) await new Promise((resolve) => setImmediate(resolve))
      await here.engine.stop()
      await starting
    }
    await here.engine.stop()
    expect(done.size).toBe(200)
    expect([...done.values()].every((times) => times === 1)).toBe(true)
    const { runs } = await here.store.look(listRuns, { status: 'completed', limit: 500 })
    expect(runs).toHaveLength(answers.length)
  })

  it('obeys a signal that is aborted before, and one that is aborted later', async () => {
    const here = await stage()
    await expect(here.engine.start({ signal: AbortSignal.abort() })).rejects.toThrow()
    expect(here.engine.isRunning).toBe(false)
    const controller = new AbortController()
    await here.engine.start({ signal: controller.signal })
    controller.abort()
    await here.until('worker.stopped')
    expect(here.engine.isRunning).toBe(false)
  })

  it('may begin again after an end, as another worker', async () => {
    const here = await stage()
    here.handle('work', () => 'done')
    await here.engine.start()
    const first = here.engine.workerId
    await here.engine.stop()
    await here.enqueue({ target })
    await here.engine.start()
    expect(here.engine.workerId).not.toBe(first)
    await here.until('run.completed')
  })
})
