import { describe, expect, it } from 'vitest'
import { Events } from '../../src/engine/events.ts'
import { Holdings, stopHolding } from '../../src/engine/leases/holdings.ts'
import { loseHolding } from '../../src/engine/leases/lose-holding.ts'
import type { Lease } from '../../src/store/port.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
import { faulty } from './faulty-store.ts'
import { deferred, openPlace, pass, stage } from './stage.ts'

const target = { handler: 'work' }
const lease = { runId: 'r', fence: 1, queue: 'default', scheduleId: null } as Lease

describe('what a worker holds', () => {
  it('is told to stop once, and the first reason stands', () => {
    const holding = new Holdings().add(lease, 0, 1_000)
    expect(stopHolding(holding, 'timeout')).toBe(true)
    expect(stopHolding(holding, 'shutdown')).toBe(false)
    expect(holding.stopped).toBe('timeout')
    expect(holding.signal.reason).toBe('timeout')
  })

  it('is lost once, whoever finds out', () => {
    const events = new Events()
    const told: unknown[] = []
    events.on('run.lease-lost', (event) => told.push(event))
    const holding = new Holdings().add(lease, 0, 1_000)
    loseHolding({ events }, holding)
    loseHolding({ events }, holding)
    expect(told).toEqual([{ runId: 'r', fence: 1, queue: 'default', scheduleId: null, because: 'taken-back' }])
    expect(holding).toMatchObject({ isLost: true, stopped: 'lease-lost' })
  })

  it('keeps two attempts at one run apart: the end of the lost one takes nothing from the new one', async () => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    const here = await stage({ clock, store: world.store })
    const gate = deferred()
    here.handle('work', ({ fence }) => (fence === 1 ? new Promise(() => undefined) : gate.promise))
    await here.engine.start()
    const id = await here.enqueue({ target })
    await here.until('run.started')
    await world.real.reclaim({ deadWorkers: [here.engine.workerId as string], limit: 10 })
    await pass(clock, 60_000)
    expect(here.of('run.started')).toHaveLength(2)
    expect(here.of('run.lease-lost')).toMatchObject([{ runId: id, fence: 1 }])
    gate.resolve()
    expect(await here.until('run.completed')).toMatchObject({ runId: id, fence: 2 })
    expect(here.of('run.reclaimed')).toEqual([])
  })

  it('is waited for to the last when its worker stops', async () => {
    const here = await stage()
    const gates = [deferred(), deferred()]
    here.handle('work', ({ payload }) => gates[payload as number]?.promise)
    await here.engine.start()
    await here.store.enqueue([
      { target, payload: 0 },
      { target, payload: 1 },
    ])
    await here.until('run.started', 2)
    const stopping = here.engine.stop()
    gates[0]?.resolve()
    await here.until('run.completed')
    expect(here.of('worker.stopped')).toEqual([])
    gates[1]?.resolve()
    await stopping
    expect(here.of('run.completed')).toHaveLength(2)
    expect(here.of('worker.stopped')).toMatchObject([{ forced: 0 }])
  })
})
