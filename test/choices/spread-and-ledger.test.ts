import { describe, expect, it } from 'vitest'
import type { ScheduleSpec } from '../../src/core/schedule/schedule-spec.ts'
import { promptSpread, spread } from '../../src/core/timing/spread.ts'
import { findSchedule, listLedger } from '../../src/store/reads/find-schedule.ts'
import { listRuns } from '../../src/store/reads/list-runs.ts'
import { deleteSchedule } from '../../src/store/schedules/delete-schedule.ts'
import { putSchedule } from '../../src/store/schedules/put-schedule.ts'
import { runNow } from '../../src/store/schedules/run-now.ts'
import { setHint } from '../../src/store/schedules/set-hint.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
import { actor, stage as engineStage } from '../engine/stage.ts'
import { at, day, Gate, hour, minute, open, target, time } from './stage.ts'

/** No schedule of the library is spread, so spread ones are put through the store, under the engine. */
async function spreadStage(startAt = '09:00') {
  const clock = new TestClock(at(startAt).getTime())
  const here = await engineStage({ clock })
  const starts: (string | null)[] = []
  here.handle('work', () => void starts.push(time(clock.now())))
  return {
    here,
    clock,
    starts,
    put: async (spec: Partial<ScheduleSpec>) => {
      const whole = { name: 's', timing: {}, target, spread: promptSpread, ...spec }
      return (await here.store.do(putSchedule, whole, { mode: 'put', actor })).schedule
    },
    schedule: async () => {
      const found = await here.store.look(findSchedule, 's')
      return found ?? expect.unreachable('The schedule is gone.')
    },
    to: async (instant: number) => {
      clock.advance(instant - clock.now())
      await here.engine.drain()
    },
    ledger: async () =>
      (await here.store.look(listLedger, 's', { limit: 1_000 }))
        .toReversed()
        .map(({ from, count, outcome }) => `${time(from)} x${count} ${outcome}`),
    runs: async () => (await here.store.look(listRuns, { schedule: 's', limit: 1_000 })).runs,
  }
}

/** The share of its allowance that the id of a schedule gives it. */
function shareOf(id: string): number {
  return spread({ id, kind: 'recurring', plannedAt: 0, intervalMs: hour, config: promptSpread }) / (hour / 10)
}

/** A spread schedule that moves by at least a fifth of what it may, for its id, which the store makes, decides that. */
async function wellSpread(timing: ScheduleSpec['timing'], more: Partial<ScheduleSpec> = {}, startAt = '09:00') {
  const stage = await spreadStage(startAt)
  for (let tries = 0; tries < 50; tries++) {
    const { id } = await stage.put({ timing, ...more })
    if (shareOf(id) > 0.2) return { ...stage, id, share: shareOf(id) }
    await stage.here.store.do(deleteSchedule, 's')
  }
  return expect.unreachable('No id of fifty moves its schedule far enough.')
}

const hourly = { cron: '0 * * * *', zone: 'UTC' }

describe('spread (jitter)', () => {
  it('is off by default', async () => {
    const stage = await open()
    for (const [name, timing] of Object.entries({ c: hourly, e: { every: '1h' }, a: { at: at('10:00') } })) {
      await stage.put({ name, ...timing })
      const { nextRunAt, nextDueAt } = await stage.belfry.schedules.get(name)
      expect([time(nextRunAt), time(nextDueAt)]).toEqual(['10:00', '10:00'])
    }
    await stage.drainTo('10:00')
    expect(stage.starts).toEqual(['10:00', '10:00', '10:00'])
  })

  it('moves what recurs forward by a share that its id alone decides, and nothing changes it', async () => {
    const { share, schedule, starts, to, clock } = await wellSpread(hourly)
    const offset = Math.floor(share * 6 * minute)
    for (const nominal of ['10:00', '11:00', '12:00']) {
      const due = at(nominal).getTime() + offset
      expect(await schedule()).toMatchObject({ nextRunAt: at(nominal).getTime(), nextDueAt: due })
      await to(due - 1)
      const before = starts.length
      await to(due)
      expect(starts.slice(before)).toEqual([time(due)])
    }
    expect(clock.now()).toBe(at('12:00').getTime() + offset)
  })

  it('takes for the interval of a cron the gap to its next occurrence, and moves no further than 15 minutes', async () => {
    const { share, schedule, to } = await wellSpread({ cron: '0 10,12,20 * * *', zone: 'UTC' })
    const gaps = { '10:00': 2 * hour, '12:00': 8 * hour, '20:00': 14 * hour }
    for (const [nominal, gapMs] of Object.entries(gaps)) {
      const due = at(nominal).getTime() + Math.floor(share * Math.min(gapMs / 10, 15 * minute))
      expect(await schedule()).toMatchObject({ nextRunAt: at(nominal).getTime(), nextDueAt: due })
      await to(due)
    }
  })

  it('moves a one-shot backward, and only from the minutes 0 and 30 of UTC', async () => {
    for (const nominal of ['10:00', '10:30', '10:15', '10:00:01']) {
      const { share, schedule, starts, to } = await wellSpread({ at: at(nominal).getTime() })
      const earlyMs = /^10:[03]0$/.test(nominal) ? Math.floor(share * 90_000) : 0
      const { nextDueAt } = await schedule()
      expect(nextDueAt).toBe(at(nominal).getTime() - earlyMs)
      await to(nextDueAt as number)
      expect(starts).toEqual([time(nextDueAt)])
    }
  })

  it('leaves the identity of an occurrence nominal', async () => {
    const { schedule, to, runs, ledger } = await wellSpread(hourly)
    const { nextDueAt } = await schedule()
    await to(nextDueAt as number)
    expect(await runs()).toMatchObject([{ occurrenceAt: at('10:00').getTime(), dueAt: nextDueAt }])
    expect(await ledger()).toEqual(['10:00 x1 completed'])
    expect(await schedule()).toMatchObject({ lastPlannedAt: at('10:00').getTime() })
  })

  it('is where lateness, missed and maxLateness are measured from', async () => {
    const late = await wellSpread(hourly, { missed: 'skip' })
    const due = (await late.schedule()).nextDueAt as number
    expect(due).toBeGreaterThan(at('10:01').getTime())
    await late.to(due + minute)
    expect(late.here.of('run.started')).toMatchObject([{ latenessMs: minute }])
    const missed = await wellSpread(hourly, { missed: 'skip' })
    await missed.to(((await missed.schedule()).nextDueAt as number) + minute + 1)
    expect(await missed.ledger()).toEqual(['10:00 x1 missed'])
    for (const [lateMs, outcome] of [
      [10 * minute, 'completed'],
      [10 * minute + 1, 'lateness'],
    ] as const) {
      const tooLate = await wellSpread(hourly, { maxLatenessMs: 10 * minute })
      await tooLate.to(((await tooLate.schedule()).nextDueAt as number) + lateMs)
      expect(await tooLate.ledger()).toEqual([`10:00 x1 ${outcome}`])
    }
  })

  it('never makes a one-shot due before it was created', async () => {
    const once = { at: at('10:00').getTime() }
    const early = await wellSpread(once)
    expect((await early.schedule()).nextDueAt).toBeLessThan(at('09:59:59').getTime())
    await early.to(at('09:59:59').getTime())
    expect(early.starts).toHaveLength(1)
    // With less time left than its offset it is due at its nominal instant.
    const { schedule, starts, to } = await wellSpread(once, {}, '09:59:59')
    expect(await schedule()).toMatchObject({ nextDueAt: once.at })
    await to(once.at - 1)
    expect(starts).toEqual([])
    await to(once.at)
    expect(starts).toEqual(['10:00'])
  })

  it('moves neither hints nor run-now nor retries', async () => {
    const { here, clock, starts, to, schedule } = await wellSpread(hourly)
    here.handle('work', ({ fence }) => {
      starts.push(time(clock.now()))
      if (fence === 1 && starts.length === 1) throw new Error('once more')
    })
    const reason = { reason: 'a test', author: 'tester', expiresAt: at('09:55').getTime() }
    await here.store.do(setHint, 's', { kind: 'oneshot', at: at('09:20').getTime(), ...reason })
    expect((await schedule()).nextDueAt).toBe(at('09:20').getTime())
    await to(at('09:20').getTime())
    await to(at('09:20:01').getTime())
    await here.store.do(setHint, 's', { kind: 'interval', ms: 10 * minute, ...reason })
    await to(at('09:30:01').getTime())
    await here.store.do(runNow, 's')
    await here.engine.drain()
    expect(starts).toEqual(['09:20', '09:20:01', '09:30:01', '09:30:01'])
  })

  it('moves more than three missed occurrences each by its own share of 30 s, always the same', async () => {
    const shares = async (missed: number) => {
      const stage = await open()
      await stage.put({ ...hourly, missed: 'all', overlap: 'allow' })
      await stage.passTo(at('09:30').getTime() + missed * hour)
      await stage.belfry.queues.pause('default')
      await stage.belfry.drain()
      return (await stage.runs()).map(({ notBefore }) => notBefore && notBefore - stage.clock.now())
    }
    expect(await shares(3)).toEqual([null, null, null])
    const four = await shares(4)
    expect(new Set(four).size).toBe(4)
    for (const share of four) expect(share).toSatisfy((ms: number) => ms >= 0 && ms < 30_000)
    expect(await shares(4)).toEqual(four)
  })
})

describe('ledger', () => {
  it('has exactly one end for every nominal occurrence, whatever became of it', async () => {
    const gate = new Gate()
    const stage = await open({
      work: (run) => (time(run.plannedAt) === '12:00' ? gate.pass(run) : Promise.reject(new Error('down'))),
    })
    await stage.belfry.queues.set('default', { maxAttempts: 1 })
    await stage.put(hourly)
    await stage.belfry.start()
    await stage.passTo('10:00')
    await stage.until('run.failed')
    await stage.belfry.schedules.pause('s', { until: at('11:30'), reason: 'a test' })
    await stage.passTo('11:30')
    await stage.passTo('12:00')
    await stage.until('run.started', 2)
    await stage.passTo('13:00')
    gate.open()
    await stage.until('run.completed')
    await stage.belfry.stop()
    await stage.passTo('16:30')
    await stage.belfry.drain()
    expect(await stage.ledger()).toEqual([
      '10:00 failed',
      '11:00 paused',
      '12:00 completed',
      '13:00 overlap',
      '14:00..15:00 x2 missed',
      '16:00 failed',
    ])
  })

  it('has one row for consecutive ends of one reason without a run, and extends it in place', async () => {
    const stage = await open()
    await stage.put({ cron: '* * * * *', zone: 'UTC', missed: 'skip' })
    const rows: string[][] = []
    for (const instant of ['10:02:30', '11:02:30', '11:59:30']) {
      await stage.belfry.schedules.pause('s', { reason: 'a test' })
      await stage.passTo(instant)
      await stage.belfry.schedules.resume('s')
      rows.push(await stage.ledger())
    }
    expect(rows).toEqual([['09:01..10:02 x62 paused'], ['09:01..11:02 x122 paused'], ['09:01..11:59 x179 paused']])
    await stage.drainTo('12:00')
    await stage.passTo('12:10:30')
    await stage.belfry.drain()
    expect((await stage.ledger()).slice(1)).toEqual(['12:00 completed', '12:01..12:09 x9 missed', '12:10 completed'])
  })

  it('has one row for a gap of any length', async () => {
    const stage = await open()
    await stage.put({ every: '1s', from: 'start', missed: 'skip' })
    await stage.put({ name: 'paused', every: '1s', from: 'start' })
    await stage.belfry.schedules.pause('paused', { reason: 'a test' })
    await stage.passTo(stage.clock.now() + 365 * day)
    await stage.belfry.schedules.resume('paused')
    await stage.belfry.drain()
    const [seconds, rows] = [365 * 86_400, await stage.belfry.schedules.history('paused')]
    expect(rows).toMatchObject([{ outcome: 'paused', count: seconds, countIsAtLeast: false }])
    const [newest, missed] = await stage.belfry.schedules.history('s')
    expect([newest?.outcome, missed?.outcome, missed?.count]).toEqual(['completed', 'missed', seconds - 1])
  })

  it('knows of no occurrences of a fixed delay but those that were planned', async () => {
    const stage = await open()
    await stage.put({ every: '1h' })
    await stage.belfry.schedules.pause('s', { until: at('15:00'), reason: 'a test' })
    await stage.drainTo('15:00')
    expect(await stage.ledger()).toEqual(['15:00 completed'])
    await stage.passTo('19:30')
    await stage.belfry.drain()
    expect(await stage.ledger()).toEqual(['15:00 completed', '16:00 completed'])
    expect(await stage.next()).toBe('20:30 baseline-interval')
  })
})
