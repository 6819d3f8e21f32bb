import { describe, expect, it } from 'vitest'
import { turnOfTheEventLoop } from '../../src/engine/loop.ts'
import { databaseOf } from '../../src/store/sql-store.ts'
import { both, one } from '../../src/store/statement.ts'
import { TestClock } from '../../src/testing/clock.ts'
import { faulty } from './faulty-store.ts'
import { actor, openPlace, stage } from './stage.ts'

const target = { handler: 'work' }
const minute = 60_000
const breakChain = both(
  'test break chain',
  'update belfry.schedule set next_run_at = null, next_due_at = null, wake_at = null',
)

async function pass(clock: TestClock, ms: number, stepMs = 5_000): Promise<void> {
  for (let left = ms; left > 0; left -= stepMs) {
    clock.advance(Math.min(stepMs, left))
    for (let turn = 0; turn < 10; turn++) await turnOfTheEventLoop()
  }
}

describe('the duties that one worker does for all', () => {
  it('tell of schedules that nobody fires', async () => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    const here = await stage({ clock, store: world.store })
    world.fault = (verb) => (verb === 'fireDue' ? 'before' : undefined)
    await here.store.putSchedule({ name: 's', timing: { everyMs: minute }, target }, { mode: 'put', actor })
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
    await here.store.putSchedule({ name: 's', timing: { everyMs: minute }, target }, { mode: 'put', actor })
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
    expect(await here.store.read.run(id)).not.toBe(null)
    clock.advance(8 * 86_400_000)
    await here.engine.start()
    await here.until('worker.pruned')
    expect(await here.store.read.run(id)).toBe(null)
  })

  it('are done by one of two workers', async () => {
    const clock = new TestClock()
    const store = await openPlace({ clock })
    const repairs: string[] = []
    for (const name of ['a', 'b']) {
      const world = faulty(store)
      world.fault = (verb) => (verb === 'repair' && repairs.push(name) > 0 ? undefined : undefined)
      const here = await stage({ clock, store: world.store })
      await here.engine.start()
    }
    await pass(clock, 20 * minute)
    expect(repairs.length).toBeGreaterThanOrEqual(3)
    expect(new Set(repairs).size).toBe(1)
  })
})

describe('a worker', () => {
  it('says that it is alive, and makes itself known anew when it was forgotten', async () => {
    const clock = new TestClock()
    const here = await stage({ clock })
    await here.engine.start()
    const first = here.engine.workerId
    await pass(clock, 2 * minute)
    const [worker] = await here.store.read.workers()
    expect(worker?.id).toBe(first)
    expect(worker?.beatAt).toBeGreaterThanOrEqual(clock.now() - minute)
    await databaseOf(here.store).write(() => one(both('test forget', 'delete from belfry.worker')))
    await pass(clock, 2 * minute)
    expect(here.engine.workerId).not.toBe(first)
    expect(await here.store.read.workers()).toMatchObject([{ id: here.engine.workerId }])
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
