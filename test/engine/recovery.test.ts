import { describe, expect, it } from 'vitest'
import type { NewWorker } from '../../src/store/port.ts'
import { setQueue } from '../../src/store/queues/set-queue.ts'
import { findRun } from '../../src/store/reads/find-run.ts'
import { listAttempts } from '../../src/store/reads/list-attempts.ts'
import { listWorkers } from '../../src/store/reads/list-workers.ts'
import { putSchedule } from '../../src/store/schedules/put-schedule.ts'
import { registerWorker } from '../../src/store/workers/register-worker.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
import { faulty } from './faulty-store.ts'
import { actor, deferred, openPlace, pass, settleDown, stage, stopped } from './stage.ts'

const target = { handler: 'work' }
const can = { kinds: ['handler'] }

describe('a lease', () => {
  it('is renewed for as long as its run takes', async () => {
    const clock = new TestClock()
    const here = await stage({ clock })
    const gate = deferred()
    here.handle('work', () => gate.promise)
    await here.engine.start()
    const id = await here.enqueue({ target })
    await here.until('run.started')
    await pass(clock, 120_000)
    expect((await here.store.look(findRun, id))?.lease?.expiresAt).toBeGreaterThan(clock.now() + 19_000)
    gate.resolve()
    expect(await here.until('run.completed')).toMatchObject({ fence: 1 })
  })

  it('that was taken back stops its run, and nothing of the run is written', async () => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    const here = await stage({ clock, store: world.store })
    here.handle('work', stopped)
    await here.engine.start()
    const id = await here.enqueue({ target })
    await here.until('run.started')
    // Its worker hears nothing for a while, and somebody else takes the lease back.
    world.fault = (verb) => (verb === 'renew' || verb === 'reclaim' ? 'before' : undefined)
    await pass(clock, 23_000)
    clock.advance(8_000)
    expect(await world.real.reclaim({ limit: 10 })).toMatchObject([{ runId: id, because: 'expired' }])
    world.fault = () => undefined
    await pass(clock, 11_000)
    expect(here.of('run.lease-lost').map(({ because }) => because)).toContain('not-renewed')
    expect(here.of('run.completed')).toEqual([])
    expect(await world.real.look(listAttempts, id)).toMatchObject([{ fence: 1, outcome: 'lost' }])
  })

  it('is trusted for four fifths of its length from the start of the last renewal, then its run is stopped', async () => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    const here = await stage({ clock, store: world.store })
    const wasStopped = deferred<unknown>()
    here.handle('work', async (attempt) => {
      await stopped(attempt)
      wasStopped.resolve(attempt.signal.reason)
      throw new Error('stopped')
    })
    await here.engine.start()
    await here.enqueue({ target })
    await here.until('run.started')
    const frozen = deferred()
    world.fault = (verb) => (verb === 'renew' ? frozen.promise : undefined)
    await pass(clock, 23_500)
    expect(here.of('run.lease-lost')).toEqual([])
    await pass(clock, 500)
    expect(await wasStopped.promise).toBe('lease-lost')
    // Nobody has taken the lease, so its holder may still say how it ended.
    expect(await here.until('run.retrying')).toMatchObject({ reason: expect.stringContaining('could not be renewed') })
    world.fault = () => undefined
    frozen.resolve()
  })

  it('that expired in the hands of a worker that was held up is kept, if nobody has taken it', async () => {
    const clock = new TestClock()
    const here = await stage({ clock })
    const gate = deferred()
    here.handle('work', () => gate.promise)
    await here.engine.start()
    await here.enqueue({ target })
    await here.until('run.started')
    clock.set(clock.now() + 1)
    // The whole process stands still for longer than the lease, and then everything is due at once.
    const signal = here.next('reclaim.ticked')
    clock.advance(60_000)
    await signal
    await settleDown()
    gate.resolve()
    await here.when(() => here.of('run.completed').length + here.of('run.retrying').length > 0)
    expect(here.of('run.reclaimed')).toEqual([])
    expect(here.of('run.started')).toHaveLength(1)
  })
})

describe('a worker that died', () => {
  const dead: NewWorker = {
    name: 'dead',
    host: 'here',
    can,
    beatMs: 60_000,
    process: { pid: 1, startedAt: '1', bootId: 'b', pidNamespace: 'p' },
  }

  it('has its runs taken back at the next start, long before its leases expire', async () => {
    const clock = new TestClock()
    const cleared: string[] = []
    const here = await stage({
      clock,
      coroner: {
        isDead: ({ name }) => name === 'dead',
        endLeftovers: async (leases) => cleared.push(...leases.map(({ runId, claimId }) => `${runId} ${claimId}`)),
      },
    })
    here.handle('work', () => 'done')
    const id = await here.enqueue({ target })
    const workerId = await here.store.do(registerWorker, dead)
    await here.store.lease({ queue: 'default', workerId, claimId: 'c', can, limit: 1, leaseMs: 30_000 })
    await here.engine.drain()
    expect(here.of('run.reclaimed')).toMatchObject([{ runId: id, because: 'holder-dead' }])
    expect(cleared).toEqual([`${id} c`])
    clock.advance(1_000)
    await here.engine.drain()
    expect(here.of('run.completed')).toMatchObject([{ runId: id, fence: 2 }])
    const found = (await here.store.look(listWorkers)).find(({ id: one }) => one === workerId)
    expect(found?.stoppedAt).not.toBe(null)
  })

  it('is found within five seconds by workers that are there', async () => {
    const clock = new TestClock()
    const here = await stage({ clock, coroner: { isDead: ({ name }) => name === 'dead' } })
    await here.engine.start()
    await settleDown()
    const id = await here.enqueue({ target })
    const workerId = await here.store.do(registerWorker, dead)
    await here.store.lease({ queue: 'default', workerId, claimId: 'c', can, limit: 1, leaseMs: 30_000 })
    clock.advance(5_000)
    expect(await here.until('run.reclaimed')).toMatchObject({ runId: id, because: 'holder-dead' })
  })

  it('three times with the same run in its hands has met poison, and the run parks', async () => {
    const clock = new TestClock()
    const here = await stage({ clock, coroner: { isDead: ({ name }) => name === 'dead' } })
    await here.store.do(setQueue, 'default', { policy: { maxAttempts: 10 }, actor })
    const id = await here.enqueue({ target })
    for (let death = 1; death <= 3; death++) {
      const workerId = await here.store.do(registerWorker, dead)
      await here.store.lease({ queue: 'default', workerId, claimId: `c${death}`, can, limit: 1, leaseMs: 30_000 })
      await here.engine.drain()
      clock.advance(60_000)
    }
    expect(await here.store.look(findRun, id)).toMatchObject({ status: 'parked', parked: { reason: 'poison' } })
  })

  it('of which nothing is certain keeps its lease until it expires', async () => {
    const clock = new TestClock()
    const here = await stage({ clock })
    await here.engine.start()
    const id = await here.enqueue({ target })
    const workerId = await here.store.do(registerWorker, dead)
    await here.store.lease({ queue: 'default', workerId, claimId: 'c', can, limit: 1, leaseMs: 30_000 })
    await pass(clock, 29_500)
    expect(here.of('run.reclaimed')).toEqual([])
    await pass(clock, 5_500)
    expect(here.of('run.reclaimed')).toMatchObject([{ runId: id, because: 'expired' }])
  })
})

describe('a store that does not answer', () => {
  it('is told of once, and work goes on when it is back', async () => {
    const world = faulty(await openPlace())
    const here = await stage({ store: world.store })
    here.handle('work', () => 'done')
    let refusals = 0
    world.fault = (verb) => (verb === 'lease' && ++refusals <= 3 ? 'before' : undefined)
    await here.engine.start()
    await here.enqueue({ target })
    await here.until('run.completed')
    expect(here.of('store.unavailable')).toHaveLength(1)
    expect(here.of('store.back').length).toBeGreaterThanOrEqual(1)
  })

  it('after it granted a lease is asked what it granted, and nothing is lost or done twice', async () => {
    const world = faulty(await openPlace())
    const here = await stage({ store: world.store })
    let done = 0
    here.handle('work', () => ++done)
    world.fault = (verb, call) => (verb === 'lease' && call === 1 ? 'after' : undefined)
    const id = await here.enqueue({ target })
    await here.engine.start()
    expect(await here.until('run.completed')).toMatchObject({ runId: id, fence: 1 })
    expect(done).toBe(1)
  })

  it('and cannot tell what it granted while that is trusted is asked on, and what it granted is given back', async () => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    const here = await stage({ clock, store: world.store })
    let done = 0
    here.handle('work', () => ++done)
    let isAway = true
    world.fault = (verb, call) => {
      if (verb === 'lease' && call === 1) return 'after'
      return verb === 'read.leasesOf' && isAway ? 'before' : undefined
    }
    const id = await here.enqueue({ target })
    await here.engine.start()
    await pass(clock, 25_000)
    // By this clock the lease would not expire for an hour.
    clock.set(clock.now() - 3_600_000)
    isAway = false
    await pass(clock, 2_000)
    expect(await here.until('run.completed')).toMatchObject({ runId: id, fence: 2 })
    expect(done).toBe(1)
    const attempts = await here.store.look(listAttempts, id)
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['released', 'success'])
    expect(here.of('run.lease-lost')).toEqual([])
  })

  it('after it wrote an end is asked again, and the end stands once', async () => {
    const world = faulty(await openPlace())
    const here = await stage({ store: world.store })
    here.handle('work', () => 'done')
    world.fault = (verb, call) => (verb === 'settle' && call === 1 ? 'after' : undefined)
    const id = await here.enqueue({ target })
    await here.engine.start()
    expect(await here.until('run.completed')).toMatchObject({ runId: id, status: 'completed' })
    expect(await here.store.look(listAttempts, id)).toMatchObject([{ fence: 1, outcome: 'success' }])
  })

  it('keeps a finished run leased until its end is written', async () => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    const here = await stage({ clock, store: world.store })
    here.handle('work', () => 'done')
    world.fault = (verb) => (verb === 'settle' ? 'before' : undefined)
    await here.engine.start()
    const id = await here.enqueue({ target })
    await here.until('run.started')
    await pass(clock, 90_000)
    expect(await here.store.look(findRun, id)).toMatchObject({ status: 'leased', fence: 1 })
    world.fault = () => undefined
    await pass(clock, 5_000)
    expect(await here.until('run.completed')).toMatchObject({ fence: 1 })
  })
})

describe('wake-ups', () => {
  it('may all be lost: work is late, and done', async () => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    world.losesWakes = true
    const here = await stage({ clock, store: world.store })
    here.handle('work', () => 'done')
    await here.engine.start()
    await settleDown()
    await here.enqueue({ target })
    await world.store.do(
      putSchedule,
      { name: 's', timing: { everyMs: 1_000 }, startNow: true, target },
      { mode: 'create', actor },
    )
    await settleDown()
    expect(here.of('run.started')).toEqual([])
    await pass(clock, 61_000, 1_000)
    expect(here.of('run.completed').length).toBeGreaterThanOrEqual(2)
  })
})
