import { describe, expect, it } from 'vitest'
import { ClockWatch } from '../../src/engine/clock-watch.ts'
import { Events } from '../../src/engine/events.ts'
import { Firer } from '../../src/engine/firer.ts'
import { Holdings } from '../../src/engine/leases/holdings.ts'
import { settingsOf } from '../../src/engine/settings.ts'
import { noSignal } from '../../src/engine/signals.ts'
import { cancelRun } from '../../src/store/runs/cancel-run.ts'
import { databaseOf } from '../../src/store/sql-store.ts'
import { both, one } from '../../src/store/statement.ts'
import { registerWorker } from '../../src/store/workers/register-worker.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
import { faulty } from './faulty-store.ts'
import { deferred, openPlace, settleDown, stage, stopped } from './stage.ts'

const target = { handler: 'work' }

describe('starts and stops that come together', () => {
  it('happen in the order in which they were asked for', async () => {
    const here = await stage()
    await here.engine.start()
    const stopping = here.engine.stop()
    await here.engine.start()
    await stopping
    expect(here.engine.isRunning).toBe(true)
    const words = [here.engine.stop(), here.engine.start(), here.engine.stop()]
    await Promise.all(words)
    expect(here.engine.isRunning).toBe(false)
  })

  it('do not change what a worker runs with: other options are refused', async () => {
    const here = await stage()
    await here.engine.start({ slots: 2 })
    await here.engine.start()
    await here.engine.start({ slots: 2 })
    await expect(here.engine.start({ slots: 3 })).rejects.toThrow(/runs already, with other slots/)
    await expect(here.engine.start({ queues: ['a'] })).rejects.toThrow(/other queues/)
    expect(here.engine.isRunning).toBe(true)
  })

  it('leave no signal of an earlier start that could stop a later one', async () => {
    const here = await stage()
    const controller = new AbortController()
    await here.engine.start({ signal: controller.signal })
    await here.engine.stop()
    await here.engine.start()
    controller.abort()
    await settleDown()
    expect(here.engine.isRunning).toBe(true)
  })

  it('go on after a start that failed', async () => {
    const world = faulty(await openPlace())
    const here = await stage({ store: world.store })
    world.fault = (verb) => (verb === 'registerWorker' ? 'before' : undefined)
    await expect(here.engine.start()).rejects.toThrow(/broke off/)
    world.fault = () => undefined
    await here.engine.start()
    expect(here.engine.isRunning).toBe(true)
  })
})

describe('an attempt', () => {
  it('that came to its end keeps it, though it is told to stop while its last words are written', async () => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    const here = await stage({ clock, store: world.store })
    const writing = deferred()
    const began = deferred()
    here.kinds.set('command', async (attempt) => {
      attempt.output('last words')
      return { facts: { exitCode: 0 }, result: { exitCode: 0 } }
    })
    world.fault = (verb) => {
      if (verb !== 'appendOutput') return undefined
      began.resolve()
      return writing.promise
    }
    const id = await here.enqueue({ target: { command: ['true'] }, repeatable: false })
    await here.engine.start()
    await began.promise
    await here.store.do(cancelRun, id, 'too late')
    await settleDown()
    writing.resolve()
    expect(await here.until('run.completed')).toMatchObject({ runId: id })
  })

  it('whose lease came too late to be trusted is given back, and nothing of it is begun', async () => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    const here = await stage({ clock, store: world.store })
    let begun = 0
    here.handle('work', () => ++begun)
    const slow = deferred()
    world.fault = (verb, call) => (verb === 'lease' && call === 1 ? slow.promise : undefined)
    await here.enqueue({ target })
    await here.engine.start()
    await settleDown()
    clock.advance(24_000)
    await settleDown()
    slow.resolve()
    expect(await here.until('run.retrying')).toMatchObject({ reason: 'released', fence: 1 })
    await here.until('run.completed')
    expect(begun).toBe(1)
    expect(here.of('run.lease-lost')).toEqual([])
  })

  it('that was stopped and answered leaves no timer behind', async () => {
    const alarms = new Set<number>()
    class Watched extends TestClock {
      override after(ms: number, act: () => void): () => void {
        const key = alarms.size + Math.random()
        alarms.add(key)
        const cancel = super.after(ms, () => {
          alarms.delete(key)
          act()
        })
        return () => {
          alarms.delete(key)
          cancel()
        }
      }
    }
    const clock = new Watched()
    const here = await stage({ clock })
    here.handle('work', async (attempt) => {
      await stopped(attempt)
      throw new Error('stopped')
    })
    await here.engine.start()
    const id = await here.enqueue({ target, options: { timeoutMs: 60_000 } })
    await here.until('run.started')
    await here.store.do(cancelRun, id, 'enough')
    await here.until('run.cancelled')
    await here.engine.stop()
    expect(alarms.size).toBe(0)
  })
})

describe('a store that does not answer', () => {
  it('does not make a worker wait out its grace when nothing runs any more', async () => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    const here = await stage({ clock, store: world.store })
    here.handle('work', () => 'done')
    world.fault = (verb) => (verb === 'settle' ? 'before' : undefined)
    await here.engine.start()
    await here.enqueue({ target })
    await here.until('run.started')
    await settleDown()
    let isOver = false
    const from = clock.monotonic()
    const stopping = here.engine.stop({ graceMs: 3_600_000 }).then(() => {
      isOver = true
    })
    while (!isOver) {
      clock.advance(100)
      await settleDown(5)
    }
    await stopping
    expect(clock.monotonic() - from).toBeLessThan(15_000)
  })

  it('leaves nobody behind who goes on trying to write output', async () => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    const here = await stage({ clock, store: world.store })
    here.handle('work', (attempt) => attempt.output('never kept'))
    let tries = 0
    world.fault = (verb) => {
      if (verb === 'appendOutput') tries++
      return verb === 'appendOutput' ? 'before' : undefined
    }
    await here.engine.start()
    await here.enqueue({ target })
    await here.until('run.started')
    await settleDown()
    let isOver = false
    const stopping = here.engine.stop({ graceMs: 0 }).then(() => {
      isOver = true
    })
    while (!isOver) {
      clock.advance(500)
      await settleDown(5)
    }
    await stopping
    clock.advance(1_000)
    await settleDown()
    const triesAfter = tries
    for (let step = 0; step < 20; step++) {
      clock.advance(1_000)
      await settleDown(5)
    }
    expect(tries).toBe(triesAfter)
  })
})

describe('a queue', () => {
  it('whose lease fails by a defect keeps no other queue from going', async () => {
    const world = faulty(await openPlace())
    const { store } = world
    const here = await stage({ store })
    here.handle('work', () => 'done')
    const lease = world.real.lease.bind(world.real)
    world.real.lease = (request) => (request.queue === 'bad' ? Promise.reject(new Error('defect')) : lease(request))
    await store.enqueue([
      { target, queue: 'bad' },
      { target, queue: 'good' },
    ])
    await here.engine.start()
    expect(await here.until('run.completed')).toMatchObject({ queue: 'good' })
    expect(here.of('worker.failed').length).toBeGreaterThan(0)
  })

  it('that was full is asked at once when others say that something changed, and not before', async () => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    const here = await stage({ clock, store: world.store, maxConcurrent: 1 })
    here.handle('work', () => 'done')
    const workerId = await world.real.do(registerWorker, {
      name: 'other',
      host: 'h',
      can: { kinds: [] },
      beatMs: 60_000,
    })
    const can = { kinds: ['handler'] }
    await world.real.enqueue([{ target }, { target }])
    const { leases } = await world.real.lease({ queue: 'default', workerId, claimId: 'c', can, limit: 1 })
    let asked = 0
    world.fault = (verb) => {
      if (verb === 'lease') asked++
      return undefined
    }
    await here.engine.start()
    await settleDown()
    await world.real.enqueue([{ target, queue: 'other' }])
    await here.until('run.completed')
    await settleDown()
    expect(asked).toBeLessThanOrEqual(3)
    // Somebody else's end frees the slot. His wake-up names no queue.
    world.losesWakes = true
    await world.real.settle(leases.map((lease) => ({ ...lease, outcome: { kind: 'success' } })))
    world.losesWakes = false
    await settleDown()
    expect(here.of('run.completed')).toHaveLength(1)
    world.wake({ from: 'elsewhere', what: 'anything' })
    await here.until('run.completed', 2)
  })
})

describe('a worker', () => {
  it('that lost a race for what was due begins anew with the next instant', async () => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    const events = new Events()
    const settings = settingsOf()
    const holdings = new Holdings()
    const context = { store: world.store, clock, events, settings, signal: noSignal, holdings, executors: new Map() }
    const firer = new Firer({ context, watch: new ClockWatch(settings), jumped: () => undefined })
    let scheduleAt = clock.now()
    const nothing = { runs: [], skipped: [], broken: [], schedules: 0, more: false }
    world.fault = (verb) => {
      if (verb === 'read.nextInstants') return async () => ({ now: clock.now(), scheduleAt, leaseExpiresAt: null })
      return verb === 'fireDue' ? async () => nothing : undefined
    }
    expect([await firer.tick(), await firer.tick(), await firer.tick()]).toEqual([20, 40, 80])
    scheduleAt = clock.now() + 100
    expect(await firer.tick()).toBe(100)
    clock.advance(100)
    expect(await firer.tick()).toBe(20)
  })

  it('that was registered anew still hears of cancels of what it leased before', async () => {
    const clock = new TestClock()
    const here = await stage({ clock })
    here.handle('work', async (attempt) => {
      await stopped(attempt)
      throw new Error('stopped')
    })
    await here.engine.start()
    const id = await here.enqueue({ target })
    await here.until('run.started')
    const first = here.engine.workerId
    await databaseOf(here.store).write(() => one(both('test forget worker', 'delete from belfry.worker')))
    here.engine.executorsChanged()
    await settleDown()
    expect(here.engine.workerId).not.toBe(first)
    await here.store.do(cancelRun, id, 'enough')
    await here.until('run.cancelled')
  })
})
