import { describe, expect, it } from 'vitest'
import type { EngineSettings } from '../../src/engine/settings.ts'
import { setQueue } from '../../src/store/queues/set-queue.ts'
import { leasesOfWorkers } from '../../src/store/reads/find-leases.ts'
import { findRun } from '../../src/store/reads/find-run.ts'
import { listWorkers } from '../../src/store/reads/list-workers.ts'
import { registerWorker } from '../../src/store/workers/register-worker.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
import { faulty } from './faulty-store.ts'
import { actor, deferred, openPlace, pass, settleDown, stage } from './stage.ts'

const target = { handler: 'elsewhere' }
const can = { kinds: ['handler'] }
const isDead = ({ name }: { name: string }) => name === 'dead'

async function scene(deaths: string[] = [], settings: Partial<EngineSettings> = {}) {
  const clock = new TestClock()
  const world = faulty(await openPlace({ clock }))
  const looked: string[] = []
  const here = await stage({
    clock,
    store: world.store,
    maxConcurrent: 2_000,
    settings,
    coroner: {
      isDead: (worker) => {
        looked.push(worker.id)
        return isDead(worker)
      },
      endLeftovers: async (leases) => deaths.push(`ended ${leases.length}`),
    },
  })
  here.events.on('run.reclaimed', ({ because }) => deaths.push(because))
  const holder = async (name: string, leaseMs: number, runs = 1) => {
    const workerId = await world.real.do(registerWorker, { name, host: 'h', can, beatMs: 60_000 })
    await world.real.enqueue(Array.from({ length: runs }, () => ({ target })))
    for (let left = runs; left > 0; left -= 500) {
      const claimId = `${name} ${left}`
      await world.real.lease({ queue: 'default', workerId, claimId, can, limit: Math.min(left, 500), leaseMs })
    }
    return workerId
  }
  const stoppedAt = async (id: string) => (await world.real.look(listWorkers)).find((one) => one.id === id)?.stoppedAt
  return { clock, world, here, holder, looked, stoppedAt }
}

describe('taking back', () => {
  it('from the dead comes before all else, and what they left running is ended before their runs are given out', async () => {
    const order: string[] = []
    const { clock, here, holder } = await scene(order)
    await holder('dead', 1_000)
    // By now the lease has expired as well, but whoever expires only need not have left anything running.
    clock.advance(2_000)
    await here.engine.drain()
    expect(order).toEqual(['ended 1', 'holder-dead'])
  })

  it('from the dead goes on until they hold nothing, and only then are they done with', async () => {
    const order: string[] = []
    const { clock, world, here, holder, stoppedAt } = await scene(order)
    const id = await holder('dead', 3_600_000, 600)
    await here.engine.start()
    await settleDown()
    expect(here.of('run.reclaimed')).toHaveLength(500)
    expect(await stoppedAt(id)).toBe(null)
    await pass(clock, 5_000)
    expect(here.of('run.reclaimed')).toHaveLength(600)
    expect(await stoppedAt(id)).not.toBe(null)
    expect(order.filter((one) => one.startsWith('ended'))).toEqual(['ended 500', 'ended 100'])
    const buried = (await world.real.look(listWorkers)).find((one) => one.id === id)
    expect(buried).toMatchObject({ diedAt: buried?.stoppedAt, lost: { count: 600, runs: { length: 20 } } })
  })

  it('asks after nobody who has stopped, and never after oneself', async () => {
    const { clock, world, here, holder, looked } = await scene()
    const gone = await holder('dead', 3_600_000)
    await world.real.beat([gone], { stopped: true })
    await here.engine.start()
    await pass(clock, 10_000)
    expect(looked).toEqual([])
    expect(here.of('run.reclaimed')).toEqual([])
  })

  it('of what has expired happens at that instant, and not at the next look at local deaths', async () => {
    const { clock, here, holder } = await scene()
    await holder('silent', 12_345)
    await here.engine.start()
    await pass(clock, 12_000)
    await pass(clock, 344)
    expect(here.of('run.reclaimed')).toEqual([])
    await pass(clock, 1)
    expect(here.of('run.reclaimed')).toMatchObject([{ because: 'expired' }])
  })

  it('does not oversleep what expires a moment after the first', async () => {
    const { clock, here, holder } = await scene()
    await holder('silent', 12_000)
    await holder('silent too', 12_001)
    await here.engine.start()
    await pass(clock, 12_000)
    expect(here.of('run.reclaimed')).toHaveLength(1)
    await pass(clock, 1)
    expect(here.of('run.reclaimed')).toHaveLength(2)
  })

  it('does not oversleep a lease that is granted after the look, and is shorter than the time between looks at deaths', async () => {
    const { clock, here, holder } = await scene([], { leaseMs: 1_000 })
    await here.engine.start()
    await settleDown()
    await holder('silent', 1_000)
    await pass(clock, 1_000)
    expect(here.of('run.reclaimed')).toMatchObject([{ because: 'expired' }])
  })

  it('is tried again soon where somebody else was at it, because he may leave it', async () => {
    const { clock, world, here, holder } = await scene()
    await holder('silent', 12_000)
    await here.engine.start()
    let tries = 0
    world.fault = (verb) => (verb === 'reclaim' && ++tries === 1 ? () => [] : undefined)
    await pass(clock, 12_000)
    expect(here.of('run.reclaimed')).toEqual([])
    await pass(clock, 50)
    expect(here.of('run.reclaimed')).toMatchObject([{ because: 'expired' }])
  })

  it('of more than one step can take goes on at once', async () => {
    const { clock, here, holder } = await scene()
    await here.store.do(setQueue, 'default', { policy: { maxConcurrent: 2_000 }, actor })
    await holder('silent', 1_000, 600)
    await here.engine.start()
    await settleDown()
    clock.advance(1_000)
    await settleDown()
    expect(here.of('run.reclaimed')).toHaveLength(600)
  })

  it('does not forget the dead while it sleeps towards the expiry of the living', async () => {
    const { clock, here, holder } = await scene()
    await holder('alive', 3_600_000)
    await here.engine.start()
    await settleDown()
    await holder('dead', 3_600_000)
    await pass(clock, 5_000)
    expect(here.of('run.reclaimed')).toMatchObject([{ because: 'holder-dead' }])
  })

  it('is tried by renewing first: what has expired may be in our own hands', async () => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    const here = await stage({ clock, store: world.store, settings: { leaveAfterMs: 600_000 } })
    const gate = deferred()
    here.handle('work', () => gate.promise)
    await here.engine.start()
    const id = await here.enqueue({ target: { handler: 'work' } })
    await here.until('run.started')
    const never = deferred()
    let renewals = 0
    // The worker's own renewal is not answered, so that the lease expires before there is another one.
    world.fault = (verb) => (verb === 'renew' && ++renewals === 1 ? never.promise : undefined)
    await pass(clock, 30_000)
    expect(here.of('run.reclaimed')).toEqual([])
    expect((await here.store.look(findRun, id))?.lease?.expiresAt).toBe(clock.now() + 30_000)
    never.resolve()
    gate.resolve()
    expect(await here.until('run.completed')).toMatchObject({ runId: id, fence: 1 })
  })

  it('from the dead does not take from the living after a jump of the clock, whatever seems to have expired', async () => {
    const { clock, here, holder } = await scene()
    const living = await holder('alive', 30_000)
    await here.engine.start()
    await settleDown()
    clock.set(clock.now() + 3_600_000)
    clock.advance(5_000)
    await settleDown()
    expect(here.of('clock.jumped')).toHaveLength(1)
    await holder('dead', 3_600_000)
    clock.advance(5_000)
    await settleDown()
    expect(here.of('run.reclaimed')).toMatchObject([{ because: 'holder-dead' }])
    expect(await here.store.look(leasesOfWorkers, [living], 10)).toHaveLength(1)
  })

  it('does not happen where the clock is seen to jump while we renew what is our own', async () => {
    const { clock, world, here, holder } = await scene()
    const handled = deferred()
    here.handle('work', () => handled.promise)
    await here.engine.start()
    await here.enqueue({ target: { handler: 'work' } })
    await here.until('run.started')
    const silent = await holder('silent', 12_000)
    await pass(clock, 11_999)
    const renewed = deferred()
    world.fault = (verb) => (verb === 'renew' ? renewed.promise : undefined)
    await pass(clock, 1)
    clock.set(clock.now() + 5_000)
    world.wake({ from: 'elsewhere', what: 'anything' })
    await settleDown()
    expect(here.of('clock.jumped')).toHaveLength(1)
    renewed.resolve()
    await settleDown()
    expect(here.of('run.reclaimed')).toEqual([])
    // After the length of a lease it has certainly expired.
    world.fault = () => undefined
    await pass(clock, 29_999)
    expect(await here.store.look(leasesOfWorkers, [silent], 10)).toHaveLength(1)
    await pass(clock, 5_000)
    expect(here.of('run.reclaimed')).toMatchObject([{ because: 'expired' }])
    handled.resolve()
  })

  it('tells of a run that parks by it as of any other that parks', async () => {
    const { clock, world, here } = await scene()
    const workerId = await world.real.do(registerWorker, { name: 'dead', host: 'h', can, beatMs: 60_000 })
    const id = await here.enqueue({ target, repeatable: false })
    await world.real.lease({ queue: 'default', workerId, claimId: 'c', can, limit: 1, leaseMs: 60_000 })
    clock.advance(7_000)
    await here.engine.drain()
    const ended = {
      runId: id,
      fence: 1,
      queue: 'default',
      scheduleId: null,
      status: 'parked',
      reason: 'effect-unknown',
      source: 'enqueued',
    }
    expect(here.of('run.parked')).toEqual([{ ...ended, durationMs: 7_000 }])
  })
})
