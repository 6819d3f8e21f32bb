import { describe, expect, it } from 'vitest'
import type { LeaseName } from '../../src/store/port.ts'
import { findRun } from '../../src/store/reads/find-run.ts'
import { listAttempts } from '../../src/store/reads/list-attempts.ts'
import { cancelRun } from '../../src/store/runs/cancel-run.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
import { faulty } from './faulty-store.ts'
import { deferred, openPlace, pass, settleDown, stage, stopped } from './stage.ts'

const target = { handler: 'work' }

async function scene(settings: { leaveAfterMs?: number } = {}) {
  const clock = new TestClock()
  const world = faulty(await openPlace({ clock }))
  const here = await stage({ clock, store: world.store, settings })
  return { clock, world, here }
}

describe('trust in a lease', () => {
  it('counts from before the renewal was asked for, however long its answer took', async () => {
    const { clock, world, here } = await scene()
    here.handle('work', stopped)
    await here.engine.start()
    await here.enqueue({ target })
    await here.until('run.started')
    const slow = deferred()
    world.fault = (verb) => (verb === 'renew' ? slow.promise : undefined)
    // Asked for after 10 s, answered after 18: trusted until 10 + 24.
    await pass(clock, 18_000)
    world.fault = (verb) => (verb === 'renew' ? 'before' : undefined)
    slow.resolve()
    await pass(clock, 15_500)
    expect(here.of('run.lease-lost')).toEqual([])
    await pass(clock, 500)
    expect(here.of('run.lease-lost')).toMatchObject([{ because: 'not-renewed' }])
  })

  it('counts from before the lease was asked for, however long its answer took', async () => {
    const { clock, world, here } = await scene()
    here.handle('work', stopped)
    const slow = deferred()
    world.fault = (verb) => (verb === 'lease' ? slow.promise : verb === 'renew' ? 'before' : undefined)
    await here.enqueue({ target })
    await here.engine.start()
    await settleDown()
    await pass(clock, 8_000)
    slow.resolve()
    await here.until('run.started')
    await pass(clock, 15_500)
    expect(here.of('run.lease-lost')).toEqual([])
    await pass(clock, 500)
    expect(here.of('run.lease-lost')).toMatchObject([{ because: 'not-renewed' }])
  })

  it('ends in time when the answer of the lease came so late that no renewal is due before', async () => {
    const { clock, world, here } = await scene()
    here.handle('work', stopped)
    const slow = deferred()
    world.fault = (verb) => (verb === 'lease' ? slow.promise : verb === 'renew' ? 'before' : undefined)
    await here.enqueue({ target })
    await here.engine.start()
    await settleDown()
    await pass(clock, 21_000)
    slow.resolve()
    await here.until('run.started')
    await settleDown()
    await pass(clock, 2_500)
    expect(here.of('run.lease-lost')).toEqual([])
    await pass(clock, 500)
    expect(here.of('run.lease-lost')).toMatchObject([{ because: 'not-renewed' }])
  })

  it.each([3_600_000, -3_600_000])('is measured by the clock that nobody can set (%i ms)', async (byMs) => {
    const { clock, world, here } = await scene()
    here.handle('work', stopped)
    await here.engine.start()
    await here.enqueue({ target })
    await here.until('run.started')
    world.fault = (verb) => (verb === 'renew' || verb === 'reclaim' ? 'before' : undefined)
    await pass(clock, 1_000)
    clock.set(clock.now() + byMs)
    await pass(clock, 22_500)
    expect(here.of('run.lease-lost')).toEqual([])
    await pass(clock, 500)
    expect(here.of('run.lease-lost')).toMatchObject([{ because: 'not-renewed' }])
  })

  it('ends with the first renewal that does not find the lease, long before its time is over', async () => {
    const { clock, world, here } = await scene()
    here.handle('work', stopped)
    await here.engine.start()
    const id = await here.enqueue({ target })
    await here.until('run.started')
    const deadWorkers = [here.engine.workerId ?? '']
    expect(await world.real.reclaim({ deadWorkers, expired: false, limit: 9 })).toMatchObject([{ runId: id }])
    await pass(clock, 10_000)
    expect(here.of('run.lease-lost')).toMatchObject([{ runId: id, fence: 1, because: 'taken-back' }])
  })

  it('is lost once, also by a run that does not stop for it', async () => {
    const { clock, world, here } = await scene({ leaveAfterMs: 600_000 })
    here.handle('work', () => new Promise(() => undefined))
    await here.engine.start()
    await here.enqueue({ target })
    await here.until('run.started')
    world.fault = (verb) => (verb === 'renew' || verb === 'reclaim' ? 'before' : undefined)
    await pass(clock, 60_000)
    expect(here.of('run.lease-lost')).toMatchObject([{ because: 'not-renewed' }])
  })

  it('that was lost leaves the word of a handler standing that came to its end all the same', async () => {
    const { clock, world, here } = await scene()
    here.handle('work', async (attempt) => {
      await stopped(attempt)
      return 'done after all'
    })
    await here.engine.start()
    const id = await here.enqueue({ target })
    await here.until('run.started')
    world.fault = (verb) => (verb === 'renew' ? 'before' : undefined)
    await pass(clock, 24_000)
    await here.until('run.completed')
    expect(await here.store.look(findRun, id)).toMatchObject({ result: { value: 'done after all' } })
  })

  it('that was lost makes the outcome of anything else unknown, and no failure', async () => {
    const { clock, world, here } = await scene()
    here.kinds.set('command', async (attempt) => {
      await stopped(attempt)
      return { facts: { exitCode: 0 } }
    })
    await here.engine.start()
    const id = await here.enqueue({ target: { command: ['true'] } })
    await here.until('run.started')
    world.fault = (verb) => (verb === 'renew' ? 'before' : undefined)
    await pass(clock, 24_000)
    await here.until('run.retrying')
    expect(await here.store.look(listAttempts, id)).toMatchObject([{ outcome: 'unknown' }])
  })
})

describe('a lease whose kind of target asks for a longer one', () => {
  const kind = { leaseMs: 300_000 }

  /** One run of that kind and one of a handler, at work. */
  async function atWork() {
    const { clock, world, here } = await scene()
    here.kinds.set('long', (attempt) => stopped(attempt).then(() => ({ facts: {} })), kind)
    here.handle('work', () => new Promise(() => undefined))
    await here.engine.start()
    return {
      clock,
      world,
      here,
      long: await here.enqueue({ target: { long: {} } }),
      short: await here.enqueue({ target }),
    }
  }

  it('has its length from the first renewal on, keeps it at each, and lengthens no other', async () => {
    const { clock, here, long, short } = await atWork()
    await here.until('run.started', 2)
    const lasts = async (id: string) => {
      const run = await here.store.look(findRun, id)
      return (run?.lease?.expiresAt ?? 0) - clock.now()
    }
    await pass(clock, 1)
    expect([await lasts(long), await lasts(short)]).toEqual([expect.closeTo(300_000, -1), expect.closeTo(30_000, -1)])
    await pass(clock, 60_000)
    expect(await lasts(long)).toBeGreaterThan(280_000)
    expect(await lasts(short)).toBeLessThanOrEqual(30_000)
  })

  it('is trusted for as long as it lasts, less a fifth, from the start of its last renewal on', async () => {
    const { clock, world, here, long } = await atWork()
    await here.until('run.started', 2)
    await pass(clock, 1)
    world.fault = (verb) => (verb === 'renew' || verb === 'reclaim' ? 'before' : undefined)
    await pass(clock, 239_000)
    expect(here.of('run.lease-lost').map(({ runId }) => runId)).not.toContain(long)
    await pass(clock, 2_000)
    expect(here.of('run.lease-lost').at(-1)).toMatchObject({ runId: long, because: 'not-renewed' })
  })

  it('is trusted as long as any other while no renewal has succeeded', async () => {
    const { clock, world, here, long } = await atWork()
    world.fault = (verb) => (verb === 'renew' || verb === 'reclaim' ? 'before' : undefined)
    await here.until('run.started', 2)
    await pass(clock, 24_500)
    expect(here.of('run.lease-lost').map(({ runId }) => runId)).toContain(long)
  })
})

describe('a worker that holds nothing', () => {
  it('asks neither for renewals nor for cancellations', async () => {
    const { clock, world, here } = await scene()
    const asked: string[] = []
    world.fault = (verb) => {
      asked.push(verb)
      return undefined
    }
    await here.engine.start()
    await here.store.do(cancelRun, await here.enqueue({ target }), 'not needed')
    await pass(clock, 30_000)
    expect(asked).toContain('lease')
    for (const verb of ['renew', 'read.stopRequests']) expect(asked).not.toContain(verb)
  })
})

describe('a renewal', () => {
  it('names what is held, and nothing that is known to be lost', async () => {
    const { clock, world, here } = await scene({ leaveAfterMs: 600_000 })
    here.handle('work', () => new Promise(() => undefined))
    await here.engine.start()
    await here.enqueue({ target })
    await here.until('run.started')
    await world.real.reclaim({ deadWorkers: [here.engine.workerId as string], limit: 10 })
    await pass(clock, 10_000)
    expect(here.of('run.lease-lost')).toMatchObject([{ fence: 1 }])
    const fences = new Set<number>()
    world.fault = (verb, _call, [names]) => {
      if (verb === 'renew') for (const { fence } of names as LeaseName[]) fences.add(fence)
      return undefined
    }
    await pass(clock, 20_000)
    expect([...fences]).toEqual([2])
  })

  it('that is answered after its run has ended touches nothing', async () => {
    const { clock, world, here } = await scene()
    const gate = deferred()
    here.handle('work', () => gate.promise)
    await here.engine.start()
    await here.enqueue({ target })
    await here.until('run.started')
    const slow = deferred()
    world.fault = (verb) => (verb === 'renew' ? slow.promise : undefined)
    clock.advance(10_000)
    await settleDown()
    gate.resolve()
    await here.until('run.completed')
    const renewed = here.next('renew.ticked')
    slow.resolve()
    await renewed
    expect([...here.of('run.lease-lost'), ...here.of('worker.failed')]).toEqual([])
  })

  it('that comes between a commit which seemed to fail and the next try leaves the end to be told as it was', async () => {
    const { clock, world, here } = await scene()
    const gate = deferred()
    here.handle('work', () => gate.promise)
    await here.engine.start()
    await here.enqueue({ target })
    await here.until('run.started')
    await pass(clock, 9_950, 50)
    world.fault = (verb, call) => (verb === 'settle' && call === 1 ? 'after' : undefined)
    gate.resolve()
    await here.until('store.unavailable')
    await settleDown()
    const renewed = here.next('renew.ticked')
    clock.advance(50)
    await renewed
    await pass(clock, 100, 50)
    await here.until('run.completed')
    expect(here.of('run.lease-lost')).toEqual([])
  })

  it('is not waited for after a jump of the clock, because nobody knows what has expired', async () => {
    const { clock, world, here } = await scene()
    here.handle('work', stopped)
    await here.engine.start()
    await here.enqueue({ target })
    await here.until('run.started')
    await pass(clock, 1_000)
    let renewals = 0
    world.fault = (verb) => {
      if (verb === 'renew') renewals++
      return undefined
    }
    clock.set(clock.now() + 3_600_000)
    await pass(clock, 5_000)
    expect(here.of('clock.jumped')).toHaveLength(1)
    expect(renewals).toBe(1)
  })
})

describe('a slow answer of the store', () => {
  it('is not taken for a jump of the clock', async () => {
    const { clock, world, here } = await scene()
    await here.engine.start()
    await settleDown()
    const gate = deferred()
    world.fault = (verb) => {
      if (verb !== 'read.nextInstants') return undefined
      return async (call) => {
        const answer = await call()
        await gate.promise
        return answer
      }
    }
    await pass(clock, 50_000, 5_000)
    gate.resolve()
    await settleDown()
    world.fault = () => undefined
    await pass(clock, 10_000)
    expect([...here.of('clock.jumped'), ...here.of('clock.held')]).toEqual([])
  })
})
