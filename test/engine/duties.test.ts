import { describe, expect, it } from 'vitest'
import { findRun } from '../../src/store/reads/find-run.ts'
import { listWorkers } from '../../src/store/reads/list-workers.ts'
import { putSchedule } from '../../src/store/schedules/put-schedule.ts'
import { databaseOf } from '../../src/store/sql-store.ts'
import { both, one } from '../../src/store/statement.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
import { faulty } from './faulty-store.ts'
import { actor, openPlace, pass as passInSteps, settleDown, stage } from './stage.ts'

const target = { handler: 'work' }
const minute = 60_000
const breakChain = both(
  'test break chain',
  'update belfry.schedule set next_run_at = null, next_due_at = null, wake_at = null',
)

/** In larger steps than those of other tests, because minutes pass here. */
const pass = (clock: TestClock, ms: number, stepMs = 5_000) => passInSteps(clock, ms, stepMs)

describe('the duties that one worker does for all', () => {
  it('tell of schedules that nobody fires', async () => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    const here = await stage({ clock, store: world.store })
    world.fault = (verb) => (verb === 'fireDue' ? 'before' : undefined)
    await here.store.do(putSchedule, { name: 's', timing: { everyMs: minute }, target }, { mode: 'put', actor })
    await here.engine.start()
    await pass(clock, 4 * minute)
    const [told] = here.of('schedule.overdue')
    expect(told).toMatchObject({ schedule: 's' })
    expect(told?.overdueMs).toBeGreaterThan(minute)
  })

  it('mend a chain that is broken, and say so', async () => {
    const clock = new TestClock()
    const here = await stage({ clock })
    here.handle('work', () => 'done')
    await here.store.do(putSchedule, { name: 's', timing: { everyMs: minute }, target }, { mode: 'put', actor })
    await here.engine.start()
    await pass(clock, 5_000)
    await databaseOf(here.store).write(() => one(breakChain))
    await pass(clock, 8 * minute)
    expect(here.of('store.repaired')).toMatchObject([{ what: 'chain', subject: 's' }])
    expect(here.of('run.completed').length).toBeGreaterThan(0)
  })

  it('clear away what retention no longer keeps', async () => {
    const clock = new TestClock()
    const here = await stage({ clock })
    here.handle('work', () => 'done')
    const id = await here.enqueue({ target })
    await here.engine.drain()
    expect(await here.store.look(findRun, id)).not.toBe(null)
    clock.advance(8 * 86_400_000)
    await here.engine.start()
    await here.until('worker.pruned')
    expect(await here.store.look(findRun, id)).toBe(null)
  })

  it.each([
    { found: 1, restFactor: 4 },
    { found: 0, restFactor: 49 },
  ])(
    'leave most of the time to everybody else, however much there is to go through: %o',
    async ({ found, restFactor }) => {
      const clock = new TestClock()
      const world = faulty(await openPlace({ clock }))
      let steps = 0
      const step = () => {
        steps++
        clock.advance(10)
        return { runs: 0, ledger: 0, other: found, next: 'there is more' }
      }
      world.fault = (verb) => (verb === 'prune' ? step : undefined)
      const here = await stage({ clock, store: world.store })
      await here.engine.start()
      await settleDown()
      expect(steps).toBe(20)
      clock.advance(restFactor * 20 * 10 - 1)
      await settleDown()
      expect(steps).toBe(20)
      clock.advance(1)
      await settleDown()
      expect(steps).toBe(40)
    },
  )

  it('are done by one of two workers', async () => {
    const clock = new TestClock()
    const store = await openPlace({ clock })
    const done = new Map<string, string[]>()
    for (const name of ['a', 'b']) {
      const world = faulty(store)
      world.fault = (verb) => {
        done.set(verb, [...(done.get(verb) ?? []), name])
        return undefined
      }
      const here = await stage({ clock, store: world.store })
      await here.engine.start()
      await settleDown()
    }
    await pass(clock, 20 * minute)
    for (const verb of ['repair', 'prune', 'read.overdueSchedules']) expect(new Set(done.get(verb)).size).toBe(1)
    // At the start and then every five minutes; what is overdue and what may go, with every beat.
    expect(done.get('repair')).toHaveLength(5)
    expect(done.get('prune')).toHaveLength(21)
  })

  it.each([
    [10_000, 180_000],
    [600_000, 1_800_000],
  ])('stay with the worker that has them, also with a beat of %i ms', async (beatMs, forMs) => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    const taken: unknown[] = []
    world.fault = (verb, _call, [duty]) => {
      if (verb === 'takeDuty') taken.push(duty)
      return undefined
    }
    const here = await stage({ clock, store: world.store, settings: { beatMs } })
    await here.engine.start()
    await settleDown()
    const workerId = here.engine.workerId
    expect(taken).toEqual([
      { name: 'reconcile', workerId, forMs },
      { name: 'retention', workerId, forMs },
    ])
  })

  it('clear away in small steps, 20 before everybody else has a turn, and go on where they were', async () => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    const here = await stage({ clock, store: world.store })
    const from: unknown[] = []
    const ticks: number[] = []
    world.fault = (verb, _call, [request]) => {
      if (verb !== 'prune') return undefined
      from.push((request as { from?: string }).from)
      const next = from.length === 25 ? null : `step ${from.length}`
      return () => ({ runs: from.length === 1 ? 3 : 0, ledger: 0, other: 0, next })
    }
    here.events.on('worker.pruned', () => ticks.push(from.length))
    await here.engine.start()
    await settleDown()
    expect(from).toEqual([undefined, ...Array.from({ length: 24 }, (_, step) => `step ${step + 1}`)])
    expect(here.of('worker.pruned')).toEqual([{ runs: 3, ledger: 0, other: 0 }])
    expect(ticks).toEqual([20])
    await pass(clock, minute)
    expect(from[25]).toBe(undefined)
  })

  it('do not call overdue what is late by less than a tenth of its period', async () => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    const here = await stage({ clock, store: world.store })
    world.fault = (verb) => (verb === 'fireDue' ? 'before' : undefined)
    const timing = { everyMs: 60 * minute }
    await here.store.do(putSchedule, { name: 's', timing, startNow: true, target }, { mode: 'put', actor })
    await here.engine.start()
    await pass(clock, 5 * minute)
    expect(here.of('schedule.overdue')).toEqual([])
    await pass(clock, 3 * minute)
    expect(here.of('schedule.overdue').length).toBeGreaterThan(0)
  })

  it('wake whoever should have fired what is overdue', async () => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    world.losesWakes = true
    const here = await stage({ clock, store: world.store, settings: { pollMs: 600 * minute } })
    await here.engine.start()
    await settleDown()
    await here.store.do(putSchedule, { name: 's', timing: { everyMs: minute }, target }, { mode: 'put', actor })
    await pass(clock, 4 * minute)
    expect(here.of('schedule.fired')).toMatchObject([{ schedule: 's' }])
  })
})

describe('a worker', () => {
  it('says that it is alive, and makes itself known anew when it was forgotten', async () => {
    const clock = new TestClock()
    const here = await stage({ clock })
    await here.engine.start()
    const first = here.engine.workerId
    await pass(clock, 2 * minute)
    const [worker] = await here.store.look(listWorkers)
    expect(worker?.id).toBe(first)
    expect(worker?.beatAt).toBeGreaterThanOrEqual(clock.now() - minute)
    await databaseOf(here.store).write(() => one(both('test forget', 'delete from belfry.worker')))
    await pass(clock, 2 * minute)
    expect(here.engine.workerId).not.toBe(first)
    expect(await here.store.look(listWorkers)).toMatchObject([{ id: here.engine.workerId }])
  })

  it('that hears nothing of other processes looks every second, and says so', async () => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    const here = await stage({ clock, store: world.store })
    here.handle('work', () => 'done')
    await here.engine.start()
    world.isDeaf = true
    await pass(clock, 8_000, 500)
    expect(here.of('store.hears')).toEqual([{ hears: false }])
    await here.enqueue({ target })
    await pass(clock, 1_500, 500)
    expect(here.of('run.completed')).toHaveLength(1)
    world.isDeaf = false
    await pass(clock, 2_000, 500)
    expect(here.of('store.hears')).toEqual([{ hears: false }, { hears: true }])
  })
})
