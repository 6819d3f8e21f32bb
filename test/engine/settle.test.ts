import { describe, expect, it } from 'vitest'
import { BelfryError } from '../../src/core/error.ts'
import type { AttemptEnd, Settled, Store } from '../../src/store/port.ts'
import { setQueue } from '../../src/store/queues/set-queue.ts'
import { findRun } from '../../src/store/reads/find-run.ts'
import { findSchedule } from '../../src/store/reads/find-schedule.ts'
import { cancelRun } from '../../src/store/runs/cancel-run.ts'
import { putSchedule } from '../../src/store/schedules/put-schedule.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
import { faulty } from './faulty-store.ts'
import { actor, deferred, openPlace, pass, type Stage, settleDown, stage } from './stage.ts'

const target = { handler: 'work' }
const minute = 60_000

async function world() {
  const clock = new TestClock()
  const faults = faulty(await openPlace({ clock }))
  const here = await stage({ clock, store: faults.store })
  return { clock, faults, here }
}

function refused({ runId, fence }: AttemptEnd): Settled {
  return { runId, fence, answer: 'refused', error: new BelfryError('invalid', 'It cannot be written.') }
}

function keepNothing({ store }: Stage): Promise<unknown> {
  return store.do(setQueue, 'default', { policy: { retention: { completedMs: 0 } }, actor })
}

async function removeAll(store: Store): Promise<void> {
  let step = await store.prune({ limit: 1_000 })
  while (step.next !== null) step = await store.prune({ limit: 1_000, from: step.next })
}

describe('ends', () => {
  it('of one moment go into one commit, 500 at the most, and the rest follows at once', async () => {
    const { faults, here } = await world()
    await here.store.do(setQueue, 'default', { policy: { maxConcurrent: 1_000 }, actor })
    const commits: number[] = []
    faults.fault = (verb, _call, [ends]) => {
      if (verb === 'settle') commits.push((ends as AttemptEnd[]).length)
      return undefined
    }
    const gate = deferred()
    here.handle('work', () => gate.promise)
    await here.engine.start()
    await here.store.enqueue(Array.from({ length: 600 }, () => ({ target })))
    await here.until('run.started', 600)
    gate.resolve()
    await here.until('run.completed', 600)
    expect(commits).toEqual([500, 100])
  })

  it('that could not be written are written again after a pause, each longer than the one before', async () => {
    const { clock, faults, here } = await world()
    let tries = 0
    faults.fault = (verb) => (verb === 'settle' && ++tries <= 3 ? 'before' : undefined)
    here.handle('work', () => 'done')
    await here.engine.start()
    await here.enqueue({ target })
    await here.until('store.unavailable')
    for (const [index, pauseMs] of [100, 200, 400].entries()) {
      await settleDown()
      clock.advance(pauseMs - 1)
      await settleDown()
      expect(tries).toBe(index + 1)
      clock.advance(1)
    }
    await here.until('run.completed')
    expect(here.of('store.unavailable')).toMatchObject([{ doing: 'settle' }])
    expect(here.of('store.back')).toEqual([{ afterMs: 700 }])
  })

  it('that are just being written are not taken for lost by a renewal that no longer finds their leases', async () => {
    const { clock, faults, here } = await world()
    const written = deferred()
    const gate = deferred()
    faults.fault = (verb) => {
      if (verb !== 'settle') return undefined
      return async (call) => {
        const answer = await call()
        written.resolve()
        await gate.promise
        return answer
      }
    }
    here.handle('work', () => 'done')
    await here.engine.start()
    await here.enqueue({ target })
    await written.promise
    const renewed = here.next('renew.ticked')
    clock.advance(10_000)
    await renewed
    gate.resolve()
    await here.until('run.completed')
    expect(here.of('run.lease-lost')).toEqual([])
  })

  it('that wait for the store are given up when their lease turns out to be taken, and free their slot', async () => {
    const { clock, faults, here } = await world()
    faults.fault = (verb) => (verb === 'settle' ? 'before' : undefined)
    here.handle('work', () => 'done')
    await here.engine.start({ slots: 1 })
    const id = await here.enqueue({ target })
    await here.until('store.unavailable')
    await faults.real.reclaim({ deadWorkers: [here.engine.workerId as string], limit: 10 })
    await pass(clock, 10_000)
    expect(here.of('run.lease-lost')).toMatchObject([{ runId: id, fence: 1, because: 'taken-back' }])
    const fences: number[] = []
    faults.fault = (verb, _call, [ends]) => {
      if (verb === 'settle') fences.push(...(ends as AttemptEnd[]).map(({ fence }) => fence))
      return undefined
    }
    await pass(clock, 10_000)
    expect(here.of('run.completed')).toMatchObject([{ runId: id, fence: 2 }])
    expect(fences).toEqual([2])
    expect(here.of('run.lease-lost')).toHaveLength(1)
  })

  it('of a lease that was taken back meanwhile are told as lost, and as nothing else', async () => {
    const { faults, here } = await world()
    const gate = deferred()
    here.handle('work', () => gate.promise)
    await here.engine.start()
    const id = await here.enqueue({ target })
    await here.until('run.started')
    await faults.real.reclaim({ deadWorkers: [here.engine.workerId as string], limit: 10 })
    gate.resolve()
    expect(await here.until('run.lease-lost')).toMatchObject({ runId: id, fence: 1, because: 'taken-back' })
    expect(here.of('run.completed')).toEqual([])
  })

  it('whose commit broke off are told as forgotten, not as lost, when their run was removed meanwhile', async () => {
    const { clock, faults, here } = await world()
    await keepNothing(here)
    faults.fault = (verb, call) => (verb === 'settle' && call === 1 ? 'after' : undefined)
    here.handle('work', () => 'done')
    await here.engine.start()
    const id = await here.enqueue({ target })
    await here.until('store.unavailable')
    await removeAll(faults.real)
    clock.advance(100)
    expect(await here.until('run.forgotten')).toMatchObject({ runId: id, fence: 1, queue: 'default' })
    expect([...here.of('run.lease-lost'), ...here.of('run.completed')]).toEqual([])
  })

  it('that are there already are told as forgotten, when their run is removed before it could be read', async () => {
    const { clock, faults, here } = await world()
    await keepNothing(here)
    faults.fault = (verb, call) => {
      if (verb === 'settle' && call === 1) return 'after'
      return verb === 'read.findRun' ? (read) => removeAll(faults.real).then(read) : undefined
    }
    here.handle('work', () => 'done')
    await here.engine.start()
    const id = await here.enqueue({ target })
    await here.until('store.unavailable')
    clock.advance(100)
    expect(await here.until('run.forgotten')).toMatchObject({ runId: id, fence: 1 })
  })

  it('of a lease that was taken back are told as lost, also when their run has ended elsewhere and is removed', async () => {
    const { faults, here } = await world()
    await keepNothing(here)
    const gate = deferred()
    here.handle('work', () => gate.promise)
    await here.engine.start()
    const id = await here.enqueue({ target })
    await here.until('run.started')
    await faults.real.reclaim({ deadWorkers: [here.engine.workerId as string], limit: 10 })
    await faults.real.do(cancelRun, id, 'not wanted any more')
    await removeAll(faults.real)
    gate.resolve()
    expect(await here.until('run.lease-lost')).toMatchObject({ runId: id, fence: 1, because: 'taken-back' })
    expect(here.of('run.forgotten')).toEqual([])
  })

  it('that are being read are told before a worker has stopped', async () => {
    const { clock, faults, here } = await world()
    const asked = deferred()
    const gate = deferred()
    faults.fault = (verb, call) => {
      if (verb === 'settle' && call === 1) return 'after'
      if (verb !== 'read.findRun') return undefined
      asked.resolve()
      return gate.promise
    }
    here.handle('work', () => 'done')
    await here.engine.start()
    await here.enqueue({ target })
    await here.until('store.unavailable')
    clock.advance(100)
    await asked.promise
    const stopped = here.engine.stop()
    await settleDown()
    expect(here.of('worker.stopped')).toEqual([])
    gate.resolve()
    await stopped
    const names = here.told.map(({ name }) => name)
    expect(names.filter((name) => name === 'run.completed' || name === 'worker.stopped')).toEqual([
      'run.completed',
      'worker.stopped',
    ])
  })

  it('that the store refuses are written with a mark in place of their result, and their schedule goes on', async () => {
    const { clock, faults, here } = await world()
    const named: unknown[] = []
    faults.fault = (verb, _call, [ends]) => {
      if (verb !== 'settle') return undefined
      named.push(...(ends as AttemptEnd[]).map(({ scheduleId }) => scheduleId))
      const isFull = (ends as AttemptEnd[]).some(({ result }) => result === 'unwritable')
      return isFull ? () => (ends as AttemptEnd[]).map(refused) : undefined
    }
    here.handle('work', () => 'unwritable')
    await here.store.do(putSchedule, { name: 's', timing: { everyMs: minute }, target }, { mode: 'put', actor })
    await here.engine.start()
    await pass(clock, 2 * minute + 1_000)
    expect(here.of('run.unsettled')).toEqual([])
    expect(here.of('run.completed')).toHaveLength(2)
    const run = await here.store.look(findRun, here.of('run.completed')[0]?.runId as string)
    expect(run).toMatchObject({ status: 'completed', result: { value: '[not kept: It cannot be written.]' } })
    // The store locks the schedule before the run, so each end must name it.
    const id = (await here.store.look(findSchedule, 's'))?.id
    expect(named).toEqual([id, id, id, id])
  })

  it('that are refused however they are put are told of, and their lease expires', async () => {
    const { clock, faults, here } = await world()
    let tries = 0
    faults.fault = (verb, _call, [ends]) => {
      return verb === 'settle' && ++tries <= 2 ? () => (ends as AttemptEnd[]).map(refused) : undefined
    }
    here.handle('work', () => 'done')
    await here.engine.start()
    const id = await here.enqueue({ target })
    const told = await here.until('run.unsettled')
    expect(told).toMatchObject({ runId: id, fence: 1, error: { message: 'It cannot be written.' } })
    await pass(clock, 35_000)
    expect(here.of('run.reclaimed')).toMatchObject([{ runId: id, because: 'expired' }])
    expect(here.of('run.completed')).toMatchObject([{ runId: id, fence: 2 }])
  })

  it('whose commit broke off are told as they stand in the store', async () => {
    const { faults, here } = await world()
    await here.store.do(setQueue, 'default', { policy: { maxAttempts: 1 }, actor })
    faults.fault = (verb, call) => (verb === 'settle' && call === 1 ? 'after' : undefined)
    here.handle('work', () => {
      throw new Error('no')
    })
    await here.engine.start()
    await here.enqueue({ target })
    await here.until('store.unavailable')
    ;(here.clock as TestClock).advance(100)
    expect(await here.until('run.parked')).toMatchObject({ fence: 1, reason: 'no (attempt 1/1)' })
  })

  it('whose commit broke off are told with their own reason, also where another attempt follows', async () => {
    const { clock, faults, here } = await world()
    faults.fault = (verb, call) => (verb === 'settle' && call === 1 ? 'after' : undefined)
    here.handle('work', () => {
      throw new Error('no')
    })
    await here.engine.start()
    await here.enqueue({ target })
    await here.until('store.unavailable')
    clock.advance(100)
    expect(await here.until('run.retrying')).toMatchObject({ fence: 1, reason: 'no' })
  })

  it('that only wait to be written are not told as lost leases because nothing can be renewed meanwhile', async () => {
    const { clock, faults, here } = await world()
    faults.fault = (verb) => (verb === 'settle' || verb === 'renew' ? 'before' : undefined)
    here.handle('work', () => 'done')
    await here.engine.start()
    await here.enqueue({ target })
    await here.until('run.started')
    await pass(clock, 26_000)
    faults.fault = () => undefined
    await pass(clock, 5_000)
    expect(here.of('run.completed')).toHaveLength(1)
    expect(here.of('run.lease-lost')).toEqual([])
  })

  it('whose commit broke off and that cannot be read either are at least told of', async () => {
    const { clock, faults, here } = await world()
    faults.fault = (verb, call) => {
      if (verb === 'settle' && call === 1) return 'after'
      return verb === 'read.findRun' ? 'before' : undefined
    }
    here.handle('work', () => 'done')
    await here.engine.start()
    await here.enqueue({ target })
    await here.until('store.unavailable')
    clock.advance(100)
    expect(await here.until('store.unavailable', 2)).toMatchObject({ doing: 'settle' })
  })
})
