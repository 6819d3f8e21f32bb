import { describe, expect, it } from 'vitest'
import { BelfryError } from '../../src/core/error.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
import { faulty } from './faulty-store.ts'
import { deferred, openPlace, pass, settleDown, stage, stopped } from './stage.ts'

const target = { handler: 'work' }

function fail(message: string): never {
  throw new BelfryError('unavailable', message)
}

async function scene() {
  const clock = new TestClock()
  const world = faulty(await openPlace({ clock }))
  const here = await stage({ clock, store: world.store })
  return { clock, world, here }
}

describe('a start', () => {
  it('that failed can be made again', async () => {
    const { world, here } = await scene()
    world.fault = (verb, call) => (verb === 'registerWorker' && call === 1 ? 'before' : undefined)
    await expect(here.engine.start()).rejects.toThrow(/broke off/)
    expect(here.engine.isRunning).toBe(false)
    await here.engine.stop()
    await here.engine.start()
    expect(here.engine.isRunning).toBe(true)
    expect(here.of('worker.started')).toHaveLength(1)
  })

  it('that fails while it is to be stopped leaves nothing to stop', async () => {
    const { world, here } = await scene()
    const slow = deferred()
    world.fault = (verb) =>
      verb === 'registerWorker' ? () => slow.promise.then(() => fail('It broke off.')) : undefined
    const starting = expect(here.engine.start()).rejects.toThrow(/broke off/)
    await settleDown()
    const stopping = here.engine.stop()
    await settleDown()
    slow.resolve()
    await Promise.all([starting, stopping])
    expect(here.engine.isRunning).toBe(false)
  })

  it('that is under way is waited for by a stop, which then stops it', async () => {
    const { world, here } = await scene()
    const slow = deferred()
    world.fault = (verb) => (verb === 'registerWorker' ? slow.promise : undefined)
    const starting = here.engine.start()
    await settleDown()
    const stopping = here.engine.stop()
    await settleDown()
    slow.resolve()
    await Promise.all([starting, stopping])
    expect(here.of('worker.stopped')).toHaveLength(1)
    expect(here.engine.isRunning).toBe(false)
  })

  it('during a stop waits for it, and makes another worker', async () => {
    const { here } = await scene()
    const gate = deferred()
    here.handle('work', () => gate.promise)
    await here.engine.start()
    const first = here.engine.workerId
    await here.enqueue({ target })
    await here.until('run.started')
    const stopping = here.engine.stop()
    await here.until('worker.stopping')
    expect(here.engine.isRunning).toBe(false)
    const starting = here.engine.start()
    await settleDown()
    expect(here.of('worker.started')).toHaveLength(1)
    gate.resolve()
    await Promise.all([stopping, starting])
    expect(here.engine.isRunning).toBe(true)
    expect(here.engine.workerId).not.toBe(first)
  })

  it('whose signal is aborted while it is under way is followed by a stop', async () => {
    const { world, here } = await scene()
    const slow = deferred()
    world.fault = (verb) => (verb === 'registerWorker' ? slow.promise : undefined)
    const controller = new AbortController()
    const starting = here.engine.start({ signal: controller.signal })
    await settleDown()
    controller.abort()
    slow.resolve()
    await starting
    await here.until('worker.stopped')
    expect(here.engine.isRunning).toBe(false)
  })
})

describe('a stop', () => {
  it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])('refuses a grace of %s ms', async (graceMs) => {
    const { here } = await scene()
    await here.engine.start()
    await expect(here.engine.stop({ graceMs })).rejects.toThrow(/graceMs is .*; it must be a whole number/)
    expect(here.engine.isRunning).toBe(true)
  })

  it('gives what runs 25 s where nothing is said', async () => {
    const { clock, here } = await scene()
    here.handle('work', async (attempt) => {
      await stopped(attempt)
      throw new Error('interrupted')
    })
    await here.engine.start()
    await here.enqueue({ target })
    await here.until('run.started')
    const stopping = here.engine.stop()
    await here.until('worker.stopping')
    await pass(clock, 24_500)
    await pass(clock, 499)
    expect(here.of('run.retrying')).toEqual([])
    clock.advance(1)
    await stopping
    expect(here.of('worker.stopped')).toMatchObject([{ forced: 1 }])
  })
})

describe('a drain', () => {
  it('of a worker that runs leaves it running', async () => {
    const { here } = await scene()
    here.handle('work', () => 'done')
    await here.engine.start()
    const first = here.engine.workerId
    await here.enqueue({ target })
    await here.engine.drain()
    expect(here.of('run.completed')).toHaveLength(1)
    expect(here.engine.isRunning).toBe(true)
    expect(here.engine.workerId).toBe(first)
  })

  it('looks for itself, because it may not have heard of what is there', async () => {
    const { world, here } = await scene()
    world.losesWakes = true
    here.handle('work', () => 'done')
    await here.engine.start()
    await settleDown()
    await here.enqueue({ target })
    await here.engine.drain()
    expect(here.of('run.completed')).toHaveLength(1)
  })

  it('without a worker leaves none behind', async () => {
    const { here } = await scene()
    await here.engine.drain()
    expect(here.engine.isRunning).toBe(false)
    expect(here.of('worker.stopped')).toHaveLength(1)
  })

  it('waits for what runs, and for what its end makes', async () => {
    const { here } = await scene()
    const gate = deferred()
    here.handle('first', async () => {
      await gate.promise
      await here.enqueue({ target })
    })
    here.handle('work', () => 'done')
    await here.engine.start()
    await here.enqueue({ target: { handler: 'first' } })
    let isOver = false
    const draining = here.engine.drain().then(() => {
      isOver = true
    })
    await here.until('run.started')
    await settleDown()
    expect(isOver).toBe(false)
    gate.resolve()
    await draining
    expect(here.of('run.completed')).toHaveLength(2)
  })
})
