import { describe, expect, it } from 'vitest'
import { type ScheduleSpec, scheduleProblems } from '../../src/core/schedule/schedule-spec.ts'
import { promptSpread } from '../../src/core/timing/spread.ts'

const now = Date.UTC(2026, 0, 5, 9)
const minute = 60_000
const hour = 60 * minute
const hourly = { cron: '0 * * * *', zone: 'UTC' }
const sound = { name: 'report', timing: hourly, target: { handler: 'report' } }

function problems(spec: Record<string, unknown>, before?: ScheduleSpec) {
  return scheduleProblems({ ...sound, ...spec }, { now, before })
}

/** The fields that are refused. */
function refused(spec: Record<string, unknown>): string[] {
  return problems(spec).map(({ field }) => field)
}

describe('scheduleProblems', () => {
  it('finds nothing wrong with sound schedules of every timing', () => {
    const whole = {
      startAt: now,
      endAt: now + 10 * hour,
      maxRuns: 3,
      minMs: minute,
      maxMs: 2 * hour,
      overlap: 'queue',
      queueMax: 2,
      missed: 'all',
      maxLatenessMs: 0,
      pauseAfterFailures: 3,
      spread: promptSpread,
      queue: 'reports',
      priority: -1_000_000,
      concurrencyKey: 'k',
      payload: null,
      target: null,
      repeatable: false,
      onExhausted: 'park',
      options: { tags: [] },
      description: 'd',
    }
    expect(problems(whole)).toEqual([])
    expect(problems({ timing: { everyMs: 1_000, from: 'start' }, startNow: true })).toEqual([])
    expect(problems({ timing: { at: now }, asksWhenMissed: true })).toEqual([])
    expect(problems({ timing: {} })).toEqual([])
  })

  it('refuses what is no schedule at all', () => {
    for (const value of [null, undefined, 5, 'report', []]) {
      expect(scheduleProblems(value, { now })).toMatchObject([{ field: 'schedule' }])
    }
    expect(scheduleProblems({}, { now }).map(({ field }) => field)).toEqual(['name', 'timing'])
  })

  it('tells every wrong field, with what is wrong and what would be right', () => {
    const found = problems({ maxRuns: 0, priority: 1_000_001, repeatable: 'no', overlap: 'maybe' })
    expect(found).toEqual([
      { field: 'maxRuns', problem: 'is 0', expected: 'an integer from 1 to 1000000000' },
      { field: 'overlap', problem: 'is "maybe"', expected: 'one of skip, queue, allow, cancel' },
      { field: 'priority', problem: 'is 1000001', expected: 'an integer from -1000000 to 1000000' },
      { field: 'repeatable', problem: 'is "no"', expected: 'true or false' },
    ])
  })

  it('refuses unknown fields, at every level', () => {
    expect(refused({ retries: 3 })).toEqual(['retries'])
    expect(refused({ timing: { ...hourly, tz: 'UTC' } })).toEqual(['timing.tz'])
    expect(refused({ spread: { ...promptSpread, seed: 1 } })).toEqual(['spread.seed'])
    expect(refused({ constructor: 1 })).toEqual(['constructor'])
  })

  it('refuses names that a database would keep differently or not at all', () => {
    for (const name of ['', 'a\0b', 'half \ud83d', 'x'.repeat(201), 7]) expect(refused({ name })).toEqual(['name'])
    for (const concurrencyKey of ['', 'a\0b', 'x'.repeat(501)]) {
      expect(refused({ concurrencyKey })).toEqual(['concurrencyKey'])
    }
    expect(refused({ queue: 'a\0b', description: '\udc00' })).toEqual(['queue', 'description'])
    expect(problems({ name: '報告 📈' })).toEqual([])
  })

  it('wants exactly one timing, or none', () => {
    expect(refused({ timing: { ...hourly, everyMs: hour } })).toEqual(['timing'])
    expect(refused({ timing: { everyMs: hour, at: now } })).toEqual(['timing'])
    expect(refused({ timing: 'hourly' })).toEqual(['timing'])
  })

  it('refuses a cron that is wrong, in an unknown zone, without a zone, or of a date that never comes', () => {
    const [wrong] = problems({ timing: { cron: '61 * * * *', zone: 'UTC' } })
    expect(wrong).toMatchObject({ field: 'timing.cron' })
    expect(wrong?.problem).toContain('minute field, at character 1')
    expect(refused({ timing: { cron: '0 * * * *', zone: 'Europe/Pariss' } })).toEqual(['timing.zone'])
    expect(problems({ timing: { cron: '0 * * * *' } })).toMatchObject([{ field: 'timing.zone', problem: 'is missing' }])
    expect(problems({ timing: { cron: '0 0 30 2 *', zone: 'UTC' } })[0]?.problem).toContain('never happens')
    expect(refused({ timing: { cron: 5, zone: 'UTC' } })).toEqual(['timing.cron'])
  })

  it('refuses periods that are no schedule any more, and what means nothing beside its timing', () => {
    expect(refused({ timing: { everyMs: 999 } })).toEqual(['timing.everyMs'])
    expect(refused({ timing: { everyMs: 1_500.5 } })).toEqual(['timing.everyMs'])
    expect(refused({ timing: { everyMs: hour, zone: 'UTC' } })).toEqual(['timing.zone'])
    expect(refused({ timing: { ...hourly, from: 'start' } })).toEqual(['timing.from'])
    expect(refused({ startNow: true })).toEqual(['startNow'])
    expect(refused({ asksWhenMissed: true })).toEqual(['asksWhenMissed'])
  })

  it('refuses an at that is over, unless that is what the schedule has said all along', () => {
    const timing = { at: now - 1 }
    expect(problems({ timing })[0]?.problem).toContain('is in the past')
    expect(problems({ timing, description: 'done' }, { ...sound, timing })).toEqual([])
    expect(problems({ timing }, { ...sound, timing: { at: now - 2 } })).toHaveLength(1)
  })

  it('refuses bounds that contradict each other or the timing', () => {
    expect(refused({ minMs: 3 * hour, maxMs: 2 * hour })).toEqual(['minMs'])
    expect(refused({ timing: { at: now }, minMs: 1, maxMs: 2 })).toEqual(['minMs', 'maxMs'])
    const [tooShort] = problems({ maxMs: hour - 1 })
    expect(tooShort).toMatchObject({ field: 'maxMs', expected: `at least ${hour}` })
    expect(refused({ timing: { cron: '0 9 * * 1-5', zone: 'Europe/Paris' }, maxMs: 72 * hour })).toEqual(['maxMs'])
    expect(problems({ timing: { cron: '0 9 * * 1-5', zone: 'Europe/Paris' }, maxMs: 73 * hour })).toEqual([])
    expect(problems({ timing: { everyMs: hour }, maxMs: minute })).toEqual([])
  })

  it('refuses a window in which nothing can happen', () => {
    expect(refused({ startAt: now + hour, endAt: now + hour })).toEqual(['endAt'])
    expect(refused({ endAt: now - 1 })).toEqual(['endAt'])
    expect(refused({ endAt: now + minute })).toEqual(['endAt'])
    expect(problems({ endAt: now + hour })).toEqual([])
    expect(refused({ timing: { at: now + hour }, startAt: now + 2 * hour })).toEqual(['startAt'])
    expect(refused({ timing: { at: now + hour }, endAt: now + minute })).toEqual(['endAt'])
    expect(problems({ endAt: now - 1, priority: 5 }, { ...sound, endAt: now - 1 })).toEqual([])
  })

  it('refuses overlap rules that undo the missed rule', () => {
    expect(refused({ missed: 'all', overlap: 'skip' })).toEqual(['overlap'])
    expect(refused({ queueMax: 2 })).toEqual(['queueMax'])
    expect(refused({ overlap: 'queue', queueMax: 0 })).toEqual(['queueMax'])
  })

  it('refuses what JSON would drop or replace, because that is not what would be stored', () => {
    const odd = [() => 1, 1n, Number.NaN, new Map(), [undefined], Symbol('a')]
    for (const value of odd) {
      expect(refused({ payload: { a: value } })).toEqual(['payload'])
      expect(refused({ options: { a: value } })).toEqual(['options'])
      expect(refused({ target: { http: { a: value } } })).toEqual(['target'])
      expect(refused({ spread: { ...promptSpread, recurringCapMs: value } })).toEqual(['spread.recurringCapMs'])
    }
    expect(refused({ payload: { a: undefined }, options: { a: undefined } })).toEqual([])
    expect(refused({ target: { handler: 'a\0' } })).toEqual(['target'])
    expect(problems({ payload: { a: [1n] } })).toEqual([
      {
        field: 'payload',
        problem: 'cannot be stored: its .a[0] is a bigint',
        expected: 'plain data that JSON can express',
      },
    ])
  })

  it('refuses a target of no kind or of two', () => {
    expect(refused({ target: {} })).toEqual(['target'])
    expect(refused({ target: { handler: 'a', command: 'b' } })).toEqual(['target'])
    expect(refused({ target: 'report' })).toEqual(['target'])
  })
})
