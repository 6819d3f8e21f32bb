import { describe, expect, it } from 'vitest'
import { nextRun } from '../../src/core/schedule/governor.ts'
import { problemsIn } from '../operations/desk.ts'
import { at, day, Gate, hour, minute, open, time } from './stage.ts'

const reason = 'a test'

describe("the governor's memory", () => {
  it('holds as lastPlannedAt the newest instant that became a run, or an end without one', async () => {
    const gate = new Gate()
    const stage = await open({ work: gate.pass })
    const lastPlannedAt = async () => time((await stage.belfry.schedules.get('s')).lastPlannedAt)
    await stage.put({ cron: '0 * * * *', zone: 'UTC' })
    expect(await lastPlannedAt()).toBe(null)
    await stage.belfry.start()
    await stage.passTo('10:00')
    await stage.until('run.started')
    expect(await lastPlannedAt()).toBe('10:00')
    await stage.passTo('11:00')
    await stage.until('schedule.skipped')
    expect(await lastPlannedAt()).toBe('11:00')
    await stage.belfry.schedules.run('s', { force: true })
    expect(await lastPlannedAt()).toBe('11:00')
  })

  it('holds as anchorAt the creation, then the end of the last occurrence, then the last edit of the timing', async () => {
    const stage = await open({ work: () => stage.clock.advance(20 * minute) })
    const anchorAt = async () => time((await stage.belfry.schedules.get('s')).anchorAt)
    await stage.put({ every: '1h' })
    expect(await anchorAt()).toBe('09:00')
    await stage.drainTo('10:00')
    expect(await anchorAt()).toBe('10:20')
    await stage.passTo('10:30')
    await stage.belfry.schedules.update('s', { description: 'the same, told better' })
    expect(await anchorAt()).toBe('10:20')
    await stage.passTo('10:40')
    await stage.belfry.schedules.update('s', { every: '2h' })
    expect([await anchorAt(), await stage.next()]).toEqual(['10:40', '12:40 baseline-interval'])
  })

  it('asks a cron after what it has planned, though the clock went back and the row is pruned', async () => {
    const stage = await open()
    await stage.put({ cron: '0 * * * *', zone: 'UTC' })
    await stage.drainTo('10:00')
    await stage.passTo('10:30')
    await stage.belfry.schedules.pause('s', { reason })
    await stage.passTo(at('10:30').getTime() + 100 * day)
    await stage.belfry.drain()
    await stage.until('worker.pruned')
    expect(await stage.ledger()).toEqual([])
    stage.clock.set(at('09:10').getTime())
    await stage.belfry.schedules.resume('s')
    expect(await stage.next()).toBe('11:00 baseline-cron')
    await stage.drainTo('10:59')
    expect(stage.starts).toEqual(['10:00'])
  })

  it('has nothing more to plan of an at that became a run, wherever the clock stands', async () => {
    const stage = await open()
    await stage.put({ at: at('10:00') })
    expect(await stage.next()).toBe('10:00 baseline-once')
    await stage.drainTo('10:00')
    expect(await stage.next()).toBe('null none')
    stage.clock.set(at('09:30').getTime())
    await stage.belfry.schedules.update('s', { description: 'asked again' })
    expect(await stage.next()).toBe('null none')
  })

  it('measures every, interval hints and bounds from the last end', async () => {
    const stage = await open({ work: () => stage.clock.advance(10 * minute) })
    await stage.put({ every: '1h', min: '25m', max: '90m' })
    await stage.drainTo('10:00')
    await stage.passTo('10:15')
    expect(await stage.next()).toBe('11:10 baseline-interval')
    await stage.belfry.schedules.hint('s', { every: '40m', reason })
    expect(await stage.next()).toBe('10:50 ai-interval')
    await stage.belfry.schedules.hint('s', { every: '5m', reason })
    expect(await stage.next()).toBe('10:35 clamped-min')
    await stage.belfry.schedules.hint('s', { every: '3h', reason })
    expect(await stage.next()).toBe('11:40 clamped-max')
  })

  it('measures the min of a cron from the instant planned last, not from its end', async () => {
    const stage = await open({ work: () => stage.clock.advance(15 * minute) })
    await stage.put({ cron: '*/10 * * * *', zone: 'UTC', min: '25m' })
    await stage.drainTo('09:30')
    expect(stage.starts).toEqual(['09:30'])
    // From its end at 09:45 it would be 10:10.
    expect(await stage.next()).toBe('10:00 clamped-min')
  })

  it('takes what is over for now', async () => {
    const stage = await open()
    await stage.put({ every: '3h' })
    await stage.passTo('10:30')
    await stage.belfry.schedules.hint('s', { every: '1h', reason })
    expect(await stage.next()).toBe('10:30 ai-interval')
    await stage.belfry.drain()
    expect(stage.starts).toEqual(['10:30'])
  })

  it('never moves a run later for being asked again', async () => {
    const stage = await open()
    const { schedules } = stage.belfry
    await stage.put({ every: '1h' })
    await stage.drainTo('10:00')
    const asks = [
      () => schedules.update('s', { description: 'told better' }),
      () => schedules.clearHints('s'),
      () => schedules.hint('s', { at: at('11:20'), ttl: '2h', reason }),
      () => schedules.resume('s'),
      () => stage.belfry.drain(),
    ]
    for (const [index, ask] of asks.entries()) {
      await stage.passTo(`10:${10 * (index + 1)}`)
      await ask()
      expect(await stage.next()).toBe('11:00 baseline-interval')
    }
  })

  it('moves a run later by a longer hint, a pause or an edit, each of which says so', async () => {
    const stage = await open()
    const { schedules } = stage.belfry
    await stage.put({ every: '1h' })
    await schedules.hint('s', { every: '2h', ttl: '3h', reason })
    expect(await stage.next()).toBe('11:00 ai-interval')
    await schedules.pause('s', { until: at('12:00'), reason })
    expect(await stage.next()).toBe('null paused')
    await schedules.resume('s')
    await schedules.clearHints('s')
    await schedules.update('s', { every: '4h' })
    expect(await stage.next()).toBe('13:00 baseline-interval')
  })

  it('is now for both, where a caller of the pure function leaves it out', () => {
    const now = at('09:00').getTime()
    const asked = (schedule: Parameters<typeof nextRun>[0]['schedule']) =>
      time(nextRun({ now, schedule, state: {} }).at)
    expect(asked({ timing: { everyMs: hour } })).toBe('10:00')
    expect(asked({ timing: { cron: '* * * * *', zone: 'UTC' } })).toBe('09:01')
  })
})

describe('choosing', () => {
  it('takes the earlier of both hints', async () => {
    const stage = await open()
    await stage.put({ every: '1h' })
    await stage.belfry.schedules.hint('s', { every: '30m', reason })
    await stage.belfry.schedules.hint('s', { at: at('09:20'), reason })
    expect(await stage.next()).toBe('09:20 ai-oneshot')
    await stage.drainTo('09:20')
    expect(await stage.next()).toBe('09:50 ai-interval')
    await stage.belfry.schedules.hint('s', { at: at('09:55'), ttl: '1h', reason })
    expect(await stage.next()).toBe('09:50 ai-interval')
  })

  it('gives a tie of both hints to the interval', async () => {
    const stage = await open()
    await stage.put({ every: '1h' })
    await stage.belfry.schedules.hint('s', { every: '20m', reason })
    await stage.belfry.schedules.hint('s', { at: at('09:20'), reason })
    expect(await stage.next()).toBe('09:20 ai-interval')
  })

  it('lets an interval hint alone override the baseline, cron included, to earlier and to later', async () => {
    const stage = await open()
    await stage.put({ cron: '0 * * * *', zone: 'UTC' })
    await stage.put({ name: 'e', every: '1h' })
    for (const [every, at] of Object.entries({ '20m': '09:20', '2h': '11:00' })) {
      await stage.belfry.schedules.hint('s', { every, ttl: '4h', reason })
      await stage.belfry.schedules.hint('e', { every, ttl: '4h', reason })
      expect([await stage.next('s'), await stage.next('e')]).toEqual([`${at} ai-interval`, `${at} ai-interval`])
    }
    await stage.drainTo('10:30')
    expect(stage.starts).toEqual([])
  })

  it('lets a one-shot hint alone compete: the earlier wins, and a tie goes to the baseline', async () => {
    const stage = await open()
    await stage.put({ cron: '0 * * * *', zone: 'UTC' })
    const answers: string[] = []
    for (const instant of ['09:40', '10:20', '10:00']) {
      await stage.belfry.schedules.hint('s', { at: at(instant), ttl: '4h', reason })
      answers.push(await stage.next())
    }
    expect(answers).toEqual(['09:40 ai-oneshot', '10:00 baseline-cron', '10:00 baseline-cron'])
  })

  it('takes the baseline where there is no hint', async () => {
    const stage = await open()
    await stage.put({ cron: '0 * * * *', zone: 'UTC' })
    await stage.put({ name: 'e', every: '45m' })
    await stage.put({ name: 'a', at: at('09:10') })
    await stage.put({ name: 'n' })
    expect([await stage.next('s'), await stage.next('e'), await stage.next('a'), await stage.next('n')]).toEqual([
      '10:00 baseline-cron',
      '09:45 baseline-interval',
      '09:10 baseline-once',
      'null none',
    ])
  })

  it('counts a hint until the instant of its expiry, at which the engine asks though nothing else is due', async () => {
    const stage = await open()
    await stage.put({ cron: '0 12 * * *', zone: 'UTC' })
    await stage.belfry.schedules.hint('s', { every: '2h', ttl: '45m', reason })
    await stage.belfry.start()
    expect(time(await stage.belfry.nextInstant())).toBe('09:45')
    await stage.passTo('09:44:59.999')
    expect(await stage.next()).toBe('11:00 ai-interval')
    await stage.passTo('09:45')
    expect(await stage.next()).toBe('12:00 baseline-cron')
    const [hint] = await stage.belfry.schedules.hints('s')
    expect([hint?.ended?.by, time(hint?.ended?.at)]).toEqual(['expired', '09:45'])
    await stage.drainTo('12:00')
    expect(stage.starts).toEqual(['12:00'])
  })
})

describe('bounds', () => {
  it('are hard: pause above bounds, bounds above hints, hints above the baseline', async () => {
    const stage = await open()
    const { schedules } = stage.belfry
    await stage.put({ every: '2h', min: '30m', max: '3h' })
    await schedules.hint('s', { every: '45m', reason })
    expect(await stage.next()).toBe('09:45 ai-interval')
    await schedules.hint('s', { every: '10m', reason })
    expect(await stage.next()).toBe('09:30 clamped-min')
    await schedules.hint('s', { at: at('09:05'), reason })
    expect(await stage.next()).toBe('09:30 clamped-min')
    await schedules.clearHints('s')
    await schedules.hint('s', { every: '8h', ttl: '8h', reason })
    expect(await stage.next()).toBe('12:00 clamped-max')
    await schedules.pause('s', { until: at('14:00'), reason })
    await stage.drainTo('13:59')
    expect(stage.starts).toEqual([])
    await stage.drainTo('14:00')
    expect(stage.starts).toEqual(['14:00'])
  })

  it('apply min first and max to what min made of it', async () => {
    const stage = await open()
    // The first of the calendar that is 90 minutes away is 11:00, and that is too far.
    await stage.put({ cron: '0 * * * *', zone: 'UTC', min: '90m', max: '100m' })
    expect(await stage.next()).toBe('10:40 clamped-max')
    const { nextDecision } = await stage.belfry.schedules.get('s')
    const moves = nextDecision?.trail.filter(({ effect }) => effect === 'moved')
    expect(moves?.map(({ rule, at: to }) => `${rule} ${time(to)}`)).toEqual(['min 11:00', 'max 10:40'])
  })

  it('with a min above the max are refused when they are written, and nothing is', async () => {
    const stage = await open()
    const [problem] = await problemsIn(stage.put({ every: '1h', min: '2h', max: '1h' }))
    expect(problem).toMatchObject({ field: 'min', expected: expect.stringContaining('max') })
    expect(await stage.belfry.schedules.list()).toEqual([])
    await stage.put({ every: '1h', min: '30m' })
    await problemsIn(stage.belfry.schedules.update('s', { max: '20m' }))
    expect(await stage.belfry.schedules.get('s')).toMatchObject({ version: 1, minMs: 30 * minute })
  })

  it('move a cron along its own calendar', async () => {
    const stage = await open()
    await stage.put({ cron: '0,50 * * * *', zone: 'UTC', min: '30m' })
    await stage.drainTo('12:00')
    expect(stage.starts).toEqual(['09:50', '10:50', '11:50'])
  })

  it('are refused at the door where they could not hold, and the pure function still computes them', async () => {
    const stage = await open()
    const now = stage.clock.now()
    const [once] = await problemsIn(stage.put({ at: at('10:00'), min: '1h' }))
    expect(once).toMatchObject({ field: 'min', problem: expect.stringContaining('an `at` has only one') })
    const [short] = await problemsIn(stage.put({ cron: '0 9,18 * * *', zone: 'UTC', max: '10h' }))
    expect(short).toMatchObject({
      field: 'max',
      problem: expect.stringContaining('longest gap'),
      expected: expect.stringContaining('15h'),
    })
    await stage.put({ cron: '0 9,18 * * *', zone: 'UTC', max: '15h' })
    const once2 = nextRun({ now, schedule: { timing: { at: now + minute }, minMs: hour }, state: {} })
    expect([time(once2.at), once2.source]).toEqual(['10:00', 'clamped-min'])
    const timing = { cron: '0 9,18 * * *', zone: 'UTC' }
    const daily = nextRun({ now, schedule: { timing, maxMs: hour }, state: {} })
    expect([time(daily.at), daily.source]).toEqual(['10:00', 'clamped-max'])
  })
})
