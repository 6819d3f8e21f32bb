import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { ScheduleSpec } from '../../../src/core/schedule/schedule-spec.ts'
import { kinds } from '../../../src/kinds.ts'
import { read } from '../../../src/operations/input/read-input.ts'
import { readPatch, readSchedule } from '../../../src/operations/schedule/read-schedule.ts'
import { type ScheduleInput, scheduleChange, scheduleInput } from '../../../src/operations/schedule/schedule-input.ts'
import { problemsOf } from '../../../src/operations/schedule/schedule-problems.ts'
import { startAt } from '../desk.ts'

const surroundings = { folder: '/srv/app', zone: 'Europe/Paris', kinds }

function written(input: unknown) {
  return readSchedule(read(scheduleInput, input, 'a schedule'), surroundings)
}

function patched(before: ScheduleSpec, patch: object) {
  return readPatch(
    before,
    read(scheduleChange, { name: before.name, ...patch }, 'a change of a schedule'),
    surroundings,
  )
}

function specOf(input: Omit<ScheduleInput, 'name'>) {
  const reading = written({ name: 'report', ...input })
  expect(problemsOf(reading, { now: startAt })).toEqual([])
  return reading.spec
}

function problems(input: unknown) {
  return problemsOf(written(input), { now: startAt })
}

describe('a schedule input', () => {
  it('with every field becomes the spec that is stored, durations and instants in ms', () => {
    const spec = specOf({
      cron: '0 9 * * 1-5',
      zone: 'America/New_York',
      startAt: '2026-02-01T00:00Z',
      endAt: new Date(Date.UTC(2027, 0, 1)),
      maxRuns: 10,
      min: '1h',
      max: '7d',
      overlap: 'queue',
      queueMax: 3,
      missed: 'all',
      maxLateness: '2h',
      pauseAfterFailures: 4,
      queue: 'reports',
      priority: -5,
      concurrencyKey: 'k',
      payload: { day: 'today' },
      target: { handler: 'report' },
      expect: { textIncludes: 'done' },
      timeout: '1m30s',
      repeatable: false,
      tags: ['daily', 'money'],
      description: 'The morning report.',
    })
    expect(spec).toEqual({
      name: 'report',
      timing: { cron: '0 9 * * 1-5', zone: 'America/New_York' },
      startAt: Date.UTC(2026, 1, 1),
      endAt: Date.UTC(2027, 0, 1),
      maxRuns: 10,
      minMs: 3_600_000,
      maxMs: 604_800_000,
      overlap: 'queue',
      queueMax: 3,
      missed: 'all',
      maxLatenessMs: 7_200_000,
      pauseAfterFailures: 4,
      queue: 'reports',
      priority: -5,
      concurrencyKey: 'k',
      payload: { day: 'today' },
      target: { handler: 'report' },
      options: { timeoutMs: 90_000, expect: { textIncludes: 'done' }, tags: ['daily', 'money'] },
      repeatable: false,
      description: 'The morning report.',
    })
  })

  it('takes a duration as text or in ms, and both mean the same', () => {
    expect(specOf({ every: '10s', from: 'start' })).toEqual(specOf({ everyMs: 10_000, from: 'start' }))
    expect(specOf({ min: '1m', timeout: '5s' })).toEqual(specOf({ minMs: 60_000, timeoutMs: 5_000 }))
  })

  it('gives a cron without a zone the one of its surroundings, and nothing else one', () => {
    expect(specOf({ cron: '@daily' }).timing).toEqual({ cron: '@daily', zone: 'Europe/Paris' })
    expect(specOf({ every: '1m' }).timing).toEqual({ everyMs: 60_000 })
    expect(specOf({ at: '2026-12-01T09:00+01:00' }).timing).toEqual({ at: Date.UTC(2026, 11, 1, 8) })
    expect(specOf({}).timing).toEqual({})
  })

  it('resolves the relative program and folder of a command where it is written', () => {
    const { target } = specOf({ target: { command: ['./bin/report', '-v'], cwd: 'jobs' } })
    expect(target).toEqual({ command: ['/srv/app/jobs/bin/report', '-v'], cwd: '/srv/app/jobs' })
  })

  it('is described by a JSON Schema that takes no unknown fields, for the doors that come', () => {
    const schema = z.toJSONSchema(scheduleInput, { io: 'input' })
    expect(schema.additionalProperties).toBe(false)
    expect(schema.properties?.every).toMatchObject({ type: 'string' })
    expect(schema.properties?.everyMs).toMatchObject({ type: 'integer' })
    expect(schema.properties?.at).toMatchObject({ type: 'string' })
  })
})

describe('a bad schedule is refused with everything that is wrong, where, and what would be right:', () => {
  it('many fields at once, those of the target and the calendar included', () => {
    const found = problems({
      name: '',
      cron: '0 25 * * *',
      startNow: 'yes',
      tags: ['a', 'a'],
      target: { command: [] },
      expect: { statuses: [200] },
      corn: '* * * * *',
      timeout: '10',
    })
    expect(found.map(({ field }) => field).sort()).toEqual(
      ['corn', 'cron', 'expect.statuses', 'name', 'startNow', 'tags', 'target.command', 'timeout'].sort(),
    )
  })

  it.each([
    ['a bare number', { every: 10 }, 'every', /is 10/, /with its unit/],
    ['a duration without a unit', { every: '10' }, 'every', /no unit after 10/, /10s for seconds/],
    ['both forms of a duration', { every: '10s', everyMs: 10_000 }, 'every', /beside `everyMs`/, /only one/],
    ['a fraction of a ms', { everyMs: 10.5 }, 'everyMs', /is 10\.5/, /whole number of ms/],
    ['a period too short, in words', { every: '500ms' }, 'every', /is 500ms/, /a duration from 1s to 36500d/],
    ['a period too short, in ms', { everyMs: 500 }, 'everyMs', /is 500$/, /an integer from 1000/],
    [
      'two timings',
      { cron: '@daily', at: '2026-12-01T09:00Z' },
      'at',
      /beside `cron`/,
      /exactly one of `cron`, `every` and `at`/,
    ],
    ['bounds that cross', { every: '1h', min: '2h', max: '1h' }, 'min', /is 2h/, /at most `max`, which is 1h/],
    [
      'bounds that cross, in ms',
      { every: '1h', minMs: 7_200_000, max: '1h' },
      'minMs',
      /7200000/,
      /at most `max`, which/,
    ],
    ['a max inside the gaps of the cron', { cron: '@daily', max: '2h' }, 'max', /is 2h, shorter/, /at least 1d1h/],
    ['an instant as a number', { at: 1_796_112_000_000 }, 'at', /is 1796112000000/, /with its offset/],
    ['an instant without an offset', { at: '2026-12-01T09:00' }, 'at', /no offset/, /Z/],
    ['an instant that is over', { at: '2025-12-01T09:00Z' }, 'at', /which is in the past/, /or later/],
    ['a zone without a cron', { every: '1h', zone: 'Europe/Paris' }, 'zone', /without `cron`$/, /^`cron` too/],
    [
      'a zone that is none',
      { cron: '@daily', zone: 'Europe/Pariss' },
      'zone',
      /is "Europe\/Pariss": no zone/,
      /^Europe\/Paris, if/,
    ],
    ['a from without every', { cron: '@daily', from: 'start' }, 'from', /without `every`$/, /^`every` too/],
    ['an unknown choice', { overlap: 'que' }, 'overlap', /is "que"/, /one of skip, queue, allow, cancel/],
    [
      'an unknown field',
      { everySeconds: 5 },
      'everySeconds',
      /is not a field of a schedule/,
      /every, if that was meant/,
    ],
    ['an unknown field far from any other', { colour: 1 }, 'colour', /is not a field/, /one of name, cron, zone/],
    ['a payload that JSON cannot say', { payload: { at: Number.NaN } }, 'payload', /its \.at is NaN/, /plain data/],
    ['no object at all', 'report', 'schedule', /is "report"/, /an object/],
    [
      'a target of two kinds',
      { target: { handler: 'a', command: 'b' } },
      'target',
      /command and handler/,
      /exactly one/,
    ],
    ['a misspelt kind', { target: { handle: 'a' } }, 'target.handle', /not a kind of target/, /handler, if/],
    ['a stray field of a target', { target: { handler: 'a', cwd: 'b' } }, 'target.cwd', /not known beside/, /alone/],
    [
      'a URL that is none',
      { target: { http: { url: 'example.org' } } },
      'target.http.url',
      /cannot be read/,
      /absolute/,
    ],
    ['a text for a target', { target: 'report' }, 'target', /is "report"/, /an object with one of/],
    ['a target without a kind', { target: {} }, 'target', /is empty/, /handler/],
    ['too many tags', { tags: Array(51).fill(0).map(String) }, 'tags', /is a list/, /at most 50/],
    ['a timeout of nothing', { timeoutMs: 0 }, 'timeoutMs', /is 0/, /from 1/],
    ['an unknown expectation', { expect: { status: 200 } }, 'expect.status', /is not known/, /statuses/],
  ])('%s', (_, fields, field, problem, expected) => {
    const input = typeof fields === 'string' ? fields : { name: 'report', ...fields }
    expect(problems(input)).toEqual([
      { field, problem: expect.stringMatching(problem), expected: expect.stringMatching(expected) },
    ])
  })

  it('and what only follows from the first problem is not told', () => {
    expect(problems({ name: 'a', every: 10, startNow: true }).map(({ field }) => field)).toEqual(['every'])
    expect(problems({ name: 'a', every: '1m', overlap: 'que', queueMax: 2 }).map(({ field }) => field)).toEqual([
      'overlap',
    ])
  })
})

describe('a change of a schedule', () => {
  const before = written({
    name: 'report',
    cron: '0 9 * * *',
    zone: 'Asia/Tokyo',
    min: '1h',
    timeout: '10s',
    tags: ['a'],
    target: { handler: 'report' },
  }).spec

  function changed(patch: object) {
    const reading = patched(before, patch)
    expect(problemsOf(reading, { now: startAt, before })).toEqual([])
    return reading.spec
  }

  it('leaves what it does not name as it was', () => {
    expect(changed({ description: 'b' })).toEqual({ ...before, description: 'b' })
    expect(changed({})).toEqual(before)
  })

  it('of the expression keeps the zone that was stored', () => {
    expect(changed({ cron: '0 10 * * *' }).timing).toEqual({ cron: '0 10 * * *', zone: 'Asia/Tokyo' })
  })

  it('to another timing takes away what only the old one needed', () => {
    expect(changed({ every: '5m' }).timing).toEqual({ everyMs: 300_000 })
    expect(changed({ at: '2026-12-01T09:00Z', min: null }).timing).toEqual({ at: Date.UTC(2026, 11, 1, 9) })
    expect(changed({ cron: null }).timing).toEqual({})
  })

  it('takes a field away by null, in either of the forms of a duration', () => {
    expect(changed({ min: null, timeout: null, tags: null, target: null })).toEqual({
      name: 'report',
      timing: before.timing,
    })
    expect(changed({ minMs: null }).minMs).toBeUndefined()
  })

  it('replaces a duration whichever form it has', () => {
    expect(changed({ min: '2h' }).minMs).toBe(7_200_000)
    expect(changed({ timeoutMs: 5 }).options).toEqual({ timeoutMs: 5, tags: ['a'] })
  })

  it('keeps what no input can say', () => {
    const spread = { recurringFraction: 0.1, recurringCapMs: 1, oneShotMaxMs: 1, oneShotMinuteModulo: 30 }
    const more = { ...before, spread, onExhausted: 'park' as const, options: { ...before.options, later: 1 } }
    const { spec } = patched(more, { timeout: null })
    expect(spec).toEqual({ ...more, options: { tags: ['a'], later: 1 } })
  })

  it('is refused in its own words where it does not fit what stays', () => {
    const reading = patched(before, { every: '30m', max: '30m' })
    expect(problemsOf(reading, { now: startAt, before })).toEqual([
      { field: 'min', problem: 'is 1h', expected: 'at most `max`, which is 30m' },
    ])
    const expecting = patched(before, { expect: { statuses: [200] } })
    expect(problemsOf(expecting, { now: startAt, before }).map(({ field }) => field)).toEqual(['expect.statuses'])
  })
})
