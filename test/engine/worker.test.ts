import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { openStore } from '../../src/open-store.ts'
import { findRun } from '../../src/store/reads/find-run.ts'
import { listWorkers } from '../../src/store/reads/list-workers.ts'
import { putSchedule } from '../../src/store/schedules/put-schedule.ts'
import { ownIdentity } from '../../src/store/workers/process-identity.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
import { faulty } from './faulty-store.ts'
import { actor, CountingClock, deferred, openPlace, pass, settleDown, stage, stopped } from './stage.ts'

const target = { handler: 'work' }

async function scene() {
  const clock = new TestClock()
  const world = faulty(await openPlace({ clock }))
  const here = await stage({ clock, store: world.store })
  return { clock, world, here }
}

describe('a worker in the store', () => {
  it('is known with its process, and with what it can do as soon as that changes', async () => {
    const { here } = await scene()
    here.handle('work', () => 'done')
    await here.engine.start({ slots: 7 })
    const [known] = await here.store.look(listWorkers)
    expect(known).toMatchObject({ slots: 7, process: ownIdentity(), can: { handlers: ['work'] } })
    here.handle('more', () => 'done')
    here.engine.executorsChanged()
    await settleDown()
    expect((await here.store.look(listWorkers))[0]?.can).toMatchObject({ handlers: ['work', 'more'] })
  })

  it('is known with the queues it works for, also after a beat, and without any where it works for all', async () => {
    const { world, here } = await scene()
    here.handle('work', () => 'done')
    world.fault = (verb) => (verb === 'beat' ? 'before' : undefined)
    await here.engine.start({ queues: ['a', 'b'] })
    const queues = async () => (await here.store.look(listWorkers))[0]?.can.queues
    expect(await queues()).toEqual(['a', 'b'])
    world.fault = () => undefined
    here.handle('more', () => 'done')
    here.engine.executorsChanged()
    await settleDown()
    expect((await here.store.look(listWorkers))[0]?.can).toMatchObject({
      handlers: ['work', 'more'],
      queues: ['a', 'b'],
    })
    const { here: other } = await scene()
    await other.engine.start()
    expect((await other.store.look(listWorkers))[0]?.can).not.toHaveProperty('queues')
  })

  it('begins what it can do from now on at once, whether or not it hears of it', async () => {
    const { world, here } = await scene()
    world.losesWakes = true
    await here.enqueue({ target })
    await here.engine.start()
    await settleDown()
    here.handle('work', () => 'done')
    here.engine.executorsChanged()
    await here.until('run.completed')
  })

  it('stops all the same when it cannot say goodbye', async () => {
    const { world, here } = await scene()
    await here.engine.start()
    await settleDown()
    world.fault = (verb) => (verb === 'beat' ? 'before' : undefined)
    await here.engine.stop()
    expect(here.of('store.unavailable')).toMatchObject([{ doing: 'stop' }])
    expect(here.of('worker.stopped')).toHaveLength(1)
  })
})

describe('a worker that stops', () => {
  it('listens no more and leaves no alarm behind, so that its program can end', async () => {
    const clock = new CountingClock()
    const world = faulty(await openPlace({ clock }))
    const here = await stage({ clock, store: world.store })
    const gate = deferred()
    here.handle('work', (attempt) => {
      attempt.output('a word')
      return gate.promise
    })
    await here.engine.start()
    expect(world.listeners).toBe(1)
    await here.enqueue({ target, options: { timeoutMs: 3_600_000 } })
    await here.until('run.started')
    const stopping = here.engine.stop({ graceMs: 3_600_000 })
    await here.until('worker.stopping')
    const hurried = here.engine.stop({ graceMs: 1_800_000 })
    gate.resolve()
    await Promise.all([stopping, hurried])
    expect(world.listeners).toBe(0)
    expect(clock.alarms).toBe(0)
  })

  it('asks for nothing more, also when it was in the middle of asking queue after queue', async () => {
    const { world, here } = await scene()
    here.handle('work', () => 'done')
    await here.store.enqueue([
      { target, queue: 'one' },
      { target, queue: 'two' },
    ])
    const slow = deferred()
    const asked = deferred()
    let leases = 0
    world.fault = (verb) => {
      if (verb !== 'lease') return undefined
      leases++
      asked.resolve()
      return slow.promise
    }
    await here.engine.start()
    await asked.promise
    const stopping = here.engine.stop()
    await here.until('worker.stopping')
    slow.resolve()
    await stopping
    expect(leases).toBe(1)
    expect(here.of('run.started')).toEqual([])
  })

  it('fires nothing more while it waits for what runs', async () => {
    const { clock, here } = await scene()
    const gate = deferred()
    here.handle('work', () => gate.promise)
    await here.engine.start()
    await here.enqueue({ target })
    await here.until('run.started')
    const stopping = here.engine.stop({ graceMs: 60_000 })
    await here.until('worker.stopping')
    await here.store.do(putSchedule, { name: 's', timing: { at: clock.now() + 1_000 }, target }, { mode: 'put', actor })
    await pass(clock, 2_000)
    expect(here.of('schedule.fired')).toEqual([])
    gate.resolve()
    await stopping
    expect(here.of('run.started')).toHaveLength(1)
  })

  it('does not wait out its grace for a run that has ended, only because its end cannot be written', async () => {
    const { clock, world, here } = await scene()
    const gate = deferred()
    here.handle('work', () => gate.promise)
    await here.engine.start()
    await here.enqueue({ target })
    await here.until('run.started')
    world.fault = (verb) => (verb === 'settle' ? 'before' : undefined)
    const stopping = here.engine.stop({ graceMs: 3_600_000 })
    await here.until('worker.stopping')
    await settleDown()
    gate.resolve()
    await pass(clock, 15_000)
    expect(here.of('worker.stopped')).toMatchObject([{ forced: 0 }])
    await stopping
  })

  it('leaves no alarm behind for a run that was lost after it had ended', async () => {
    const clock = new CountingClock()
    const world = faulty(await openPlace({ clock }))
    const here = await stage({ clock, store: world.store, settings: { leaveAfterMs: 3_600_000 } })
    here.handle('work', () => 'done')
    world.fault = (verb) => (verb === 'settle' ? 'before' : undefined)
    await here.engine.start()
    await here.enqueue({ target })
    await here.until('store.unavailable')
    await world.real.reclaim({ deadWorkers: [here.engine.workerId as string], limit: 10 })
    clock.advance(500)
    await settleDown()
    here.handlers.delete('work')
    await pass(clock, 10_000)
    expect(here.of('run.lease-lost')).toHaveLength(1)
    world.fault = () => undefined
    await pass(clock, 10_000)
    await here.engine.stop()
    expect(clock.alarms).toBe(0)
  })

  it('leaves nothing behind at the signal that could have stopped it', async () => {
    const { here } = await scene()
    const { signal } = new AbortController()
    await here.engine.start({ signal })
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    await here.engine.stop()
    await settleDown()
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('is not slowed down by a second call with a longer grace', async () => {
    const { clock, here } = await scene()
    here.handle('work', async (attempt) => {
      await stopped(attempt)
      throw new Error('interrupted')
    })
    await here.engine.start()
    await here.enqueue({ target })
    await here.until('run.started')
    const stopping = here.engine.stop({ graceMs: 1_000 })
    await here.until('worker.stopping')
    const second = here.engine.stop({ graceMs: 3_600_000 })
    await settleDown()
    clock.advance(1_000)
    await Promise.all([stopping, second])
    expect(here.of('worker.stopped')).toMatchObject([{ forced: 1 }])
  })

  it('waits for what it forced to stop, until its end is written or it is left behind', async () => {
    const clock = new TestClock()
    const here = await stage({ clock, settings: { leaveAfterMs: 10_000 } })
    const isStopping = deferred()
    here.handle('slow', async (attempt) => {
      await stopped(attempt)
      isStopping.resolve()
      await new Promise<void>((resolve) => attempt.clock.after(9_000, resolve))
      throw new Error('interrupted')
    })
    here.handle('hangs', () => new Promise(() => undefined))
    await here.engine.start()
    const slow = await here.enqueue({ target: { handler: 'slow' } })
    const hangs = await here.enqueue({ target: { handler: 'hangs' } })
    await here.until('run.started', 2)
    const stopping = here.engine.stop({ graceMs: 0 })
    await isStopping.promise
    await pass(clock, 10_000)
    await stopping
    for (const id of [slow, hangs]) {
      expect(await here.store.look(findRun, id)).toMatchObject({ status: 'ready', attempts: 0, lease: null })
    }
    expect(here.of('worker.stopped')).toMatchObject([{ forced: 2 }])
  })

  it('counts as forced only what it stopped itself', async () => {
    const { clock, here } = await scene()
    here.handle('work', () => new Promise(() => undefined))
    await here.engine.start()
    await here.enqueue({ target, options: { timeoutMs: 1_000 } })
    await here.until('run.started')
    clock.advance(1_000)
    const stopping = here.engine.stop({ graceMs: 0 })
    await here.until('worker.stopping')
    await pass(clock, 200, 50)
    await stopping
    expect(here.of('worker.stopped')).toMatchObject([{ forced: 0 }])
    expect(here.of('run.retrying')).toMatchObject([{ reason: 'timeout after 1s, and it did not stop' }])
  })
})

describe('a worker that hears nothing of others', () => {
  it('says so after five seconds, and not for a moment of deafness', async () => {
    const { clock, world, here } = await scene()
    await here.engine.start()
    await settleDown()
    for (let times = 0; times < 3; times++) {
      world.isDeaf = true
      await pass(clock, 4_000)
      world.isDeaf = false
      await pass(clock, 2_000)
    }
    expect(here.of('store.hears')).toEqual([])
    world.isDeaf = true
    await pass(clock, 5_000)
    expect(here.of('store.hears')).toEqual([])
    await pass(clock, 1_000)
    expect(here.of('store.hears')).toEqual([{ hears: false }])
  })
})

describe('what another process writes', () => {
  it('is fired without waiting for the next look', async () => {
    const here = await stage({ place: 'sqlite' })
    here.handle('work', () => 'done')
    await here.engine.start()
    await here.engine.drain()
    const other = await openStore(`sqlite:${here.store.place}`)
    try {
      const spec = { name: 's', timing: { everyMs: 3_600_000 }, startNow: true, target }
      await other.do(putSchedule, spec, { mode: 'create', actor })
      await here.until('run.completed')
    } finally {
      await other.close()
    }
  })
})
