import { describe, expect, it } from 'vitest'
import type { ScheduleSpec } from '../../src/core/schedule/schedule-spec.ts'
import type { Store } from '../../src/store/port.ts'
import { listLedger } from '../../src/store/reads/find-schedule.ts'
import { pauseSchedule, resumeSchedule } from '../../src/store/schedules/pause-schedule.ts'
import { putSchedule } from '../../src/store/schedules/put-schedule.ts'
import { registerWorker } from '../../src/store/workers/register-worker.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
import { faulty } from './faulty-store.ts'
import { actor, openPlace, pass, settleDown, stage, stopped } from './stage.ts'

const target = { handler: 'work' }
const minute = 60_000
const hour = 60 * minute

function put(store: Store, spec: Partial<ScheduleSpec> & Pick<ScheduleSpec, 'name' | 'timing'>) {
  return store.do(putSchedule, { target, ...spec }, { mode: 'put', actor })
}

const cron = (expression: string) => ({ cron: expression, zone: 'UTC' })

describe('a schedule', () => {
  it('fires at each of its instants, by the timer that its worker set for it, and never early', async () => {
    const clock = new TestClock()
    const here = await stage({ clock })
    here.handle('work', () => 'done')
    await put(here.store, { name: 's', timing: cron('*/10 * * * * *') })
    await here.engine.start()
    await settleDown()
    clock.advance(9_999)
    await settleDown()
    expect(here.of('schedule.fired')).toEqual([])
    for (let fired = 1; fired <= 5; fired++) {
      clock.advance(fired === 1 ? 1 : 10_000)
      await here.until('run.completed', fired)
    }
    expect(here.of('run.started').map(({ latenessMs }) => latenessMs)).toEqual([0, 0, 0, 0, 0])
  })

  it('that is put while its worker sleeps is slept towards at once', async () => {
    const clock = new TestClock()
    const here = await stage({ clock })
    here.handle('work', () => 'done')
    await here.engine.start()
    await settleDown()
    await put(here.store, { name: 's', timing: { everyMs: 1_000 } })
    await settleDown()
    clock.advance(1_000)
    await here.until('run.completed')
  })

  it('fires when its hint expires unused, when its pause ends, and when it is resumed', async () => {
    const clock = new TestClock()
    const here = await stage({ clock })
    here.handle('work', () => 'done')
    await put(here.store, { name: 's', timing: { everyMs: minute } })
    await here.engine.start()
    await settleDown()
    const until = clock.now() + 5 * minute
    await here.store.do(pauseSchedule, 's', { until, reason: 'lunch' })
    clock.advance(5 * minute - 1)
    await settleDown()
    expect(here.of('schedule.fired')).toEqual([])
    clock.advance(1)
    await here.until('run.completed')
    await here.store.do(pauseSchedule, 's', { reason: 'for good' })
    clock.advance(hour)
    await settleDown()
    expect(here.of('schedule.fired')).toHaveLength(1)
    await here.store.do(resumeSchedule, 's')
    clock.advance(minute)
    await here.until('run.completed', 2)
  })

  it('is not late because 1,000 others are due in the same instant, and a moment after', async () => {
    const clock = new TestClock()
    const here = await stage({ clock, maxConcurrent: 5_000 })
    const order: string[] = []
    here.handle('work', () => 'done')
    here.handle('other', () => order.push('other'))
    for (let number = 0; number < 1_000; number++) {
      await put(here.store, { name: `s${number}`, timing: { at: clock.now() + 1_000 } })
    }
    await put(here.store, { name: 'other', timing: { at: clock.now() + 1_001 }, target: { handler: 'other' } })
    clock.advance(1_001)
    const fired: string[] = []
    here.events.on('schedule.fired', ({ schedule }) => fired.push(schedule))
    await here.engine.drain()
    expect(fired).toHaveLength(1_001)
    expect(fired.indexOf('other')).toBeLessThan(400)
    expect(order).toEqual(['other'])
  })

  it('that cannot be worked out is told of, and keeps nobody else from firing', async () => {
    const clock = new TestClock()
    const here = await stage({ clock })
    here.handle('work', () => 'done')
    await put(here.store, { name: 'fine', timing: { everyMs: 1_000 } })
    await put(here.store, { name: 'broken', timing: { everyMs: 1_000 } })
    const { databaseOf } = await import('../../src/store/sql-store.ts')
    const { both, one } = await import('../../src/store/statement.ts')
    const spoil = both('test spoil', `update belfry.schedule set spec = '{' where name = 'broken'`)
    await databaseOf(here.store).write(() => one(spoil))
    clock.advance(1_000)
    await here.engine.drain()
    expect(here.of('schedule.broken')).toMatchObject([{ schedule: 'broken' }])
    expect(here.of('run.completed')).toHaveLength(1)
  })

  it('that is not fired says so', async () => {
    const clock = new TestClock()
    const here = await stage({ clock })
    here.handle('work', stopped)
    await put(here.store, { name: 's', timing: cron('* * * * *') })
    await here.engine.start()
    await pass(clock, 2 * minute, 5_000)
    expect(here.of('schedule.fired')).toHaveLength(1)
    const [skipped] = here.of('schedule.skipped')
    expect(skipped).toMatchObject({ schedule: 's', from: clock.now(), count: 1 })
    expect(skipped?.reason).toContain('overlap')
  })

  it('that is put unheard, sooner than the one that is slept towards, waits for the next look at the most', async () => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    world.losesWakes = true
    const here = await stage({ clock, store: world.store })
    await put(here.store, { name: 'later', timing: { at: clock.now() + hour } })
    await here.engine.start()
    await settleDown()
    await put(here.store, { name: 'sooner', timing: { at: clock.now() + 1_000 } })
    await pass(clock, 30_000, 1_000)
    expect(here.of('schedule.fired')).toMatchObject([{ schedule: 'sooner' }])
  })

  it('that is in the hands of another worker is looked at ever more seldom, and at once when there is another', async () => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    const here = await stage({ clock, store: world.store })
    let steps = 0
    let isContended = true
    const nothing = { runs: [], skipped: [], broken: [], schedules: 0, more: false }
    world.fault = (verb) => {
      if (verb !== 'fireDue') return undefined
      steps++
      return isContended ? () => nothing : undefined
    }
    await here.engine.start()
    await settleDown()
    expect(steps).toBe(0)
    await put(here.store, { name: 's', timing: { at: clock.now() + 1_000 } })
    await settleDown()
    clock.advance(1_000)
    for (const [index, pauseMs] of [20, 40, 80, 160, 320, 640, 1_280, 2_560, 5_000, 5_000].entries()) {
      await settleDown()
      expect(steps).toBe(index + 1)
      clock.advance(pauseMs - 1)
      await settleDown()
      expect(steps).toBe(index + 1)
      clock.advance(1)
    }
    isContended = false
    await pass(clock, 5_000)
    expect(here.of('schedule.fired')).toHaveLength(1)
    isContended = true
    await put(here.store, { name: 't', timing: { at: clock.now() + 1_000 } })
    await settleDown()
    const before = steps
    clock.advance(1_000)
    await settleDown()
    clock.advance(20)
    await settleDown()
    expect(steps - before).toBe(2)
  })
})

describe('schedules that another worker had in his hands', () => {
  it('are all fired at once when he lets go of them, however many steps it takes', async () => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    const here = await stage({ clock, store: world.store })
    let isContended = true
    const nothing = { runs: [], skipped: [], broken: [], schedules: 0, more: false }
    world.fault = (verb) => (verb === 'fireDue' && isContended ? () => nothing : undefined)
    for (let number = 0; number < 250; number++) {
      await put(here.store, { name: `s${number}`, timing: { at: clock.now() + 1_000 } })
    }
    await here.engine.start()
    await pass(clock, 2_000)
    expect(here.of('schedule.fired')).toEqual([])
    isContended = false
    world.wake({ from: 'elsewhere', what: 'schedules' })
    await here.until('schedule.fired', 250)
  })
})

describe('the wall clock', () => {
  it('stepped back an hour fires nothing twice, and everything again after a minute', async () => {
    const clock = new TestClock()
    const here = await stage({ clock })
    here.handle('work', () => 'done')
    await put(here.store, { name: 's', timing: cron('* * * * *') })
    await here.engine.start()
    const steps = async (count: number) => {
      for (let step = 0; step < count; step++) {
        clock.advance(10_000)
        await settleDown()
      }
    }
    await steps(12)
    expect(here.of('schedule.fired')).toHaveLength(2)
    clock.set(clock.now() - hour)
    await steps(6 * 59)
    expect(here.of('clock.jumped')).toHaveLength(1)
    expect(here.of('clock.held')).toHaveLength(1)
    expect(here.of('schedule.fired')).toHaveLength(2)
    await steps(24)
    const fired = here.of('schedule.fired').map(({ occurrenceAt }) => occurrenceAt)
    expect(new Set(fired).size).toBe(fired.length)
    expect(fired.length).toBeGreaterThanOrEqual(4)
    const ledger = await here.store.look(listLedger, 's', { limit: 100 })
    expect(ledger.reduce((sum, { count }) => sum + count, 0)).toBe(fired.length)
  })

  it('that jumps forward, as after sleep, makes a worker renew what it holds and reclaim nothing for one lease', async () => {
    const clock = new TestClock()
    const here = await stage({ clock })
    const workerId = await here.store.do(registerWorker, {
      name: 'other',
      host: 'h',
      can: { kinds: [] },
      beatMs: minute,
    })
    const can = { kinds: ['handler'] }
    await here.enqueue({ target: { handler: 'elsewhere' } })
    await here.store.lease({ queue: 'default', workerId, claimId: 'c', can, limit: 1, leaseMs: 30_000 })
    await here.engine.start()
    await settleDown()
    clock.set(clock.now() + hour)
    for (let step = 0; step < 58; step++) {
      clock.advance(500)
      await settleDown(5)
    }
    expect(here.of('clock.jumped')).toHaveLength(1)
    expect(here.of('run.reclaimed')).toEqual([])
    for (let step = 0; step < 20; step++) {
      clock.advance(1_000)
      await settleDown(5)
    }
    expect(here.of('run.reclaimed')).toHaveLength(1)
  })

  it('that is behind fires nothing before it has caught up, also what is due by its own count', async () => {
    const clock = new TestClock()
    const here = await stage({ clock })
    await here.engine.start()
    await settleDown()
    clock.set(clock.now() - 30_000)
    await put(here.store, { name: 's', timing: { at: clock.now() + 5_000 } })
    await pass(clock, 29_500)
    expect(here.of('schedule.fired')).toEqual([])
    await pass(clock, 500)
    expect(here.of('schedule.fired')).toHaveLength(1)
  })

  it('that is far behind holds everything up for a minute, and not for as long as it is behind', async () => {
    const clock = new TestClock()
    const here = await stage({ clock })
    await here.engine.start()
    await settleDown()
    clock.set(clock.now() - hour)
    await put(here.store, { name: 's', timing: { at: clock.now() + 5_000 } })
    await settleDown()
    await pass(clock, 59_000)
    expect(here.of('schedule.fired')).toEqual([])
    await pass(clock, 2_000)
    expect(here.of('schedule.fired')).toHaveLength(1)
  })
})
