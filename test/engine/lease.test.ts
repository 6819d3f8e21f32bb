import { describe, expect, it } from 'vitest'
import type { LeaseAnswer, LeaseRequest } from '../../src/store/port.ts'
import { setQueue } from '../../src/store/queues/set-queue.ts'
import { findRun } from '../../src/store/reads/find-run.ts'
import { registerWorker } from '../../src/store/workers/register-worker.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
import { can, scene, target } from './lease-scene.ts'
import { actor, deferred, pass, type Stage, settleDown, stage, stopped } from './stage.ts'

const many = (count: number, queue = 'default') => Array.from({ length: count }, () => ({ target, queue }))

function queuesStarted(here: Stage): string[] {
  return here.of('run.started').map(({ queue }) => queue)
}

describe('leasing', () => {
  it('takes 500 runs in one step, and the rest in the next without waiting for anything', async () => {
    const { world, here } = await scene({ maxConcurrent: 1_000 })
    const steps: number[][] = []
    world.fault = (verb, _call, [request]) => {
      if (verb !== 'lease') return undefined
      return async (call) => {
        const answer = (await call()) as LeaseAnswer
        steps.push([(request as LeaseRequest).limit, answer.leases.length])
        return answer
      }
    }
    here.handle('work', stopped)
    await here.store.enqueue(many(600))
    await here.engine.start()
    await here.until('run.started', 600)
    expect(steps.slice(0, 2)).toEqual([
      [500, 500],
      [500, 100],
    ])
  })

  it('goes on at once where the store says that there may be more, although it got nothing', async () => {
    const { world, here } = await scene()
    const nothing = { leases: [], skipped: [], broken: [], inFlight: 0, available: 1, full: false, more: true }
    world.fault = (verb, call) => (verb === 'lease' && call <= 3 ? () => nothing : undefined)
    here.handle('work', () => 'done')
    await here.enqueue({ target })
    await here.engine.start()
    await here.until('run.completed')
  })

  it('is for the length that the worker renews by, and not for that of a host', async () => {
    const { clock, here } = await scene()
    here.handle('work', stopped)
    await here.engine.start()
    const id = await here.enqueue({ target })
    await here.until('run.started')
    expect((await here.store.look(findRun, id))?.lease?.expiresAt).toBe(clock.now() + 30_000)
  })

  it('gives each queue its share of the slots', async () => {
    const { here } = await scene({ maxConcurrent: 10 })
    await here.store.do(setQueue, 'other', { policy: { maxConcurrent: 10 }, actor })
    here.handle('work', stopped)
    await here.store.enqueue([...many(10), ...many(10, 'other')])
    await here.engine.start({ slots: 4 })
    await here.until('run.started', 4)
    await settleDown()
    expect(queuesStarted(here).sort()).toEqual(['default', 'default', 'other', 'other'])
  })

  it('with one slot goes from queue to queue, and none waits for another to be empty', async () => {
    const { here } = await scene()
    await here.store.do(setQueue, 'other', { policy: { maxConcurrent: 5 }, actor })
    here.handle('work', () => 'done')
    await here.store.enqueue([...many(4), ...many(4, 'other')])
    await here.engine.start({ slots: 1 })
    await here.until('run.completed', 8)
    const [first, second] = queuesStarted(here)
    expect(new Set([first, second]).size).toBe(2)
    expect(queuesStarted(here)).toEqual([first, second, first, second, first, second, first, second])
  })

  it('reads nothing while there is no slot', async () => {
    const { here, count } = await scene({ maxConcurrent: 10 })
    here.handle('work', stopped)
    await here.engine.start({ slots: 1 })
    await here.enqueue({ target })
    await here.until('run.started')
    await settleDown()
    const looks = count('read.workAhead')
    await here.store.enqueue(many(3))
    await settleDown()
    expect(count('read.workAhead')).toBe(looks)
    expect(count('lease')).toBeGreaterThan(0)
  })

  it('tells of a run that came too late to be started', async () => {
    const { clock, here } = await scene()
    here.handle('work', () => 'done')
    const id = await here.enqueue({ target, deadline: clock.now() + 1_000 })
    clock.advance(2_000)
    await here.engine.drain()
    expect(here.of('run.skipped')).toMatchObject([
      { runId: id, queue: 'default', status: 'skipped', reason: 'deadline' },
    ])
    expect(here.of('run.started')).toEqual([])
  })
})

describe('a queue at its ceiling', () => {
  /** Somebody else holds the only place in the queue; what he does is not heard of. */
  async function occupied() {
    const made = await scene({ maxConcurrent: 1 })
    const { world, here } = made
    world.losesWakes = true
    const workerId = await world.real.do(registerWorker, { name: 'other', host: 'h', can, beatMs: 60_000 })
    await here.store.enqueue([{ target: { handler: 'elsewhere' } }, { target }])
    const request = { queue: 'default', workerId, claimId: 'c', can: { kinds: ['handler'], handlers: ['elsewhere'] } }
    const { leases } = await world.real.lease({ ...request, limit: 1, leaseMs: 30_000 })
    here.handle('work', () => 'done')
    const [held] = leases
    if (held === undefined) throw new Error('The other worker got no lease.')
    const leave = () => world.real.settle([{ runId: held.runId, fence: held.fence, outcome: { kind: 'success' } }])
    return { ...made, leave }
  }

  it('is looked at every second, because an end in it may go unheard', async () => {
    const { clock, here, leave } = await occupied()
    await here.engine.start()
    await settleDown()
    await leave()
    clock.advance(999)
    await settleDown()
    expect(here.of('run.started')).toEqual([])
    clock.advance(1)
    await here.until('run.completed')
  })

  it('is asked once in a look, and not again for having work', async () => {
    const { here, count } = await scene({ maxConcurrent: 1 })
    here.handle('work', stopped)
    await here.engine.start()
    await here.enqueue({ target })
    await here.until('run.started')
    await settleDown()
    const asked = count('lease')
    await here.enqueue({ target })
    await settleDown()
    expect(count('lease')).toBe(asked + 1)
  })

  it('is not asked each time that there is something to do elsewhere', async () => {
    const { world, here } = await scene({ maxConcurrent: 1 })
    await here.store.do(setQueue, 'other', { policy: { maxConcurrent: 5 }, actor })
    here.handle('holds', stopped).handle('work', () => 'done')
    await here.engine.start()
    await here.enqueue({ target: { handler: 'holds' } })
    await here.until('run.started')
    await here.enqueue({ target })
    await settleDown()
    const asked: string[] = []
    world.fault = (verb, _call, [request]) => {
      if (verb === 'lease') asked.push((request as LeaseRequest).queue)
      return undefined
    }
    for (let run = 1; run <= 5; run++) {
      await here.enqueue({ target, queue: 'other' })
      await here.until('run.completed', run)
    }
    await settleDown()
    expect(asked).toContain('other')
    expect(asked).not.toContain('default')
  })

  it('lets other workers know when a run in it ends, and only then', async () => {
    const { here, count } = await scene({ maxConcurrent: 1 })
    const gate = deferred()
    here.handle('work', () => gate.promise)
    await here.engine.start()
    await here.enqueue({ target })
    await here.until('run.started')
    await settleDown()
    gate.resolve()
    await here.until('run.completed')
    expect(count('wakeOthers')).toBe(1)
    await here.store.do(setQueue, 'default', { policy: { maxConcurrent: 5 }, actor })
    await settleDown()
    await here.enqueue({ target })
    await here.until('run.completed', 2)
    await settleDown()
    expect(count('wakeOthers')).toBe(1)
  })
})

describe('a rate that was used up', () => {
  it('is forgotten when it allows again: an empty queue is looked at no oftener than any other', async () => {
    const { clock, here, count } = await scene({ maxConcurrent: 10 })
    await here.store.do(setQueue, 'default', { policy: { rateLimit: { startsMax: 2, perMs: 5_000 } }, actor })
    here.handle('work', () => 'done')
    await here.engine.start()
    await here.store.enqueue(many(3))
    await pass(clock, 6_000)
    expect(here.of('run.completed')).toHaveLength(3)
    await pass(clock, 30_000)
    const looks = count('read.workAhead')
    await pass(clock, 60_000)
    expect(count('read.workAhead') - looks).toBeLessThanOrEqual(2)
  })
})

describe('a store that is away', () => {
  it('is not asked for queue after queue', async () => {
    const { world, here } = await scene()
    let asked = 0
    here.handle('work', () => 'done')
    world.fault = (verb) => (verb === 'lease' && ++asked ? 'before' : undefined)
    await here.store.enqueue([...many(1, 'one'), ...many(1, 'two'), ...many(1, 'three')])
    await here.engine.start()
    await here.until('store.unavailable')
    await settleDown()
    expect(asked).toBe(1)
  })
})

describe('a lease whose commit broke off', () => {
  it('is asked for until the store answers, and begun then', async () => {
    const { clock, world, here } = await scene()
    here.handle('work', () => 'done')
    world.fault = (verb, call) => {
      if (verb === 'lease' && call === 1) return 'after'
      return verb === 'read.leasesOf' && call <= 2 ? 'before' : undefined
    }
    const id = await here.enqueue({ target })
    await here.engine.start()
    await pass(clock, 1_000, 200)
    expect(here.of('run.completed')).toMatchObject([{ runId: id, fence: 1 }])
    expect([...here.of('worker.failed'), ...here.of('store.unavailable')]).toEqual([])
  })

  it('is not begun once it expired, and goes to whoever is first when the store can tell', async () => {
    const { clock, world, here } = await scene()
    here.handle('work', () => 'done')
    world.fault = (verb, call) => {
      if (verb === 'lease' && call === 1) return 'after'
      return verb === 'read.leasesOf' ? 'before' : undefined
    }
    const id = await here.enqueue({ target })
    await here.engine.start()
    await pass(clock, 35_000)
    expect(here.of('run.reclaimed')).toMatchObject([{ runId: id, fence: 1, because: 'expired' }])
    expect(here.of('run.started')).toEqual([])
    world.fault = () => undefined
    await pass(clock, 2_000)
    expect(here.of('run.completed')).toMatchObject([{ runId: id, fence: 2 }])
    expect(here.of('run.lease-lost')).toEqual([])
  })

  it('is not asked for any more by a worker that stops', async () => {
    const { clock, world, here } = await scene()
    here.handle('work', () => 'done')
    let asked = 0
    world.fault = (verb, call) => {
      if (verb === 'lease' && call === 1) return 'after'
      if (verb === 'read.leasesOf') asked++
      return verb === 'read.leasesOf' ? 'before' : undefined
    }
    await here.enqueue({ target })
    await here.engine.start()
    await pass(clock, 25_000)
    const stopping = here.engine.stop()
    await pass(clock, 2_000)
    await stopping
    const before = asked
    await pass(clock, 10_000)
    expect(asked).toBe(before)
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
    await here.store.do(setQueue, 'default', { policy: { maxConcurrent: 2 }, actor })
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
    await here.store.do(setQueue, 'default', { policy: { rateLimit: { startsMax: 2, perMs: 5_000 } }, actor })
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
