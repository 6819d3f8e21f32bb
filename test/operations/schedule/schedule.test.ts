import { describe, expect, it } from 'vitest'
import { findRun } from '../../../src/store/reads/find-run.ts'
import { atDesk, errorOf, problemsIn, startAt, verbsAt } from '../desk.ts'

const desk = atDesk()
const { schedules } = verbsAt(() => desk().context)
const { schedules: rehearsed } = verbsAt(() => ({ ...desk().context, store: desk().context.store.rehearsal() }))
const { schedules: agents } = verbsAt(() => ({ ...desk().context, actor: { name: 'bot', door: 'mcp' } }))
const daily = { name: 'report', cron: '0 9 * * *', target: { handler: 'report' } }

describe('create', () => {
  it('echoes the schedule in the words of its input, with the zone that was resolved', async () => {
    const { answer, schedule, changed } = await schedules.create({ ...daily, timeout: '1m' })
    expect(answer).toBe('created')
    expect(changed).toEqual(expect.arrayContaining(['name', 'cron', 'zone', 'target', 'timeoutMs']))
    expect(schedule).toMatchObject({ ...daily, zone: 'Europe/Paris', timeoutMs: 60_000, version: 1 })
    expect(schedule.nextRunAt).toBe(Date.UTC(2026, 0, 6, 8))
    expect(schedule).not.toHaveProperty('spec')
    expect(schedule).not.toHaveProperty('timing')
  })

  it('changes nothing when it comes again, and refuses a name that has another spec', async () => {
    await schedules.create(daily)
    expect(await schedules.create(daily)).toMatchObject({ answer: 'unchanged', changed: [] })
    const error = await errorOf(schedules.create({ ...daily, cron: '0 10 * * *', timeout: '5s' }))
    expect(error).toMatchObject({ code: 'conflict', details: { version: 1, changed: ['cron', 'timeoutMs'] } })
    expect(error.hint).toContain('put')
  })

  it('refuses what is too large for the store, by the name of its field', async () => {
    const [problem] = await problemsIn(schedules.create({ ...daily, payload: 'x'.repeat(300_000) }))
    expect(problem).toMatchObject({ field: 'payload', expected: 'at most 262144 bytes' })
  })

  it('refuses bad input whole, so that the store holds nothing of it', async () => {
    const bad = { ...daily, cron: '61 * * * *', every: 5, foo: 1 } as never
    expect((await problemsIn(schedules.create(bad))).map(({ field }) => field)).toEqual([
      'every',
      'foo',
      'every',
      'cron',
    ])
    expect(await schedules.list()).toEqual([])
  })
})

describe('put', () => {
  it('answers what it changed, in the words of the input', async () => {
    await schedules.put({ ...daily, tags: ['a'] })
    const { answer, changed, schedule } = await schedules.put({ ...daily, every: '5m', cron: undefined })
    expect(answer).toBe('updated')
    expect([...changed].sort()).toEqual(['cron', 'everyMs', 'tags', 'zone'])
    expect(schedule).toMatchObject({ everyMs: 300_000, version: 2 })
    expect(await schedules.put({ ...daily, everyMs: 300_000, cron: undefined })).toMatchObject({
      answer: 'unchanged',
      changed: [],
    })
  })

  it('keeps the zone that was resolved at creation when another machine puts it again without one', async () => {
    const { context } = desk()
    await schedules.put(daily)
    const elsewhere = verbsAt(() => ({ ...context, zone: 'Asia/Tokyo' })).schedules
    expect(await elsewhere.put(daily)).toMatchObject({ answer: 'unchanged' })
    expect(await elsewhere.create(daily)).toMatchObject({ answer: 'unchanged' })
    const moved = await elsewhere.put({ ...daily, zone: 'Asia/Tokyo' })
    expect(moved).toMatchObject({ changed: ['zone'], schedule: { zone: 'Asia/Tokyo' } })
  })

  it('is refused over a version that the writer has not seen, and keeps its reason', async () => {
    await schedules.put({ ...daily, reason: 'because' })
    const error = await errorOf(schedules.put({ ...daily, cron: '@hourly', ifVersion: 7 }))
    expect(error).toMatchObject({ code: 'conflict', details: { version: 1 } })
    await schedules.put({ ...daily, cron: '@hourly', ifVersion: 1, reason: 'oftener' })
    const told = (await schedules.versions('report')).map(({ version, reason, actor, content }) => {
      return { version, reason, actor, cron: content.cron }
    })
    expect(told).toEqual([
      { version: 2, reason: 'oftener', actor: 'tester', cron: '@hourly' },
      { version: 1, reason: 'because', actor: 'tester', cron: '0 9 * * *' },
    ])
  })

  it('of an instant that has passed since it was first put is no change, and no mistake', async () => {
    const { clock } = desk()
    const once = { name: 'once', at: '2026-01-05T10:00Z', target: { handler: 'report' } }
    await schedules.put(once)
    clock.advance(7_200_000)
    expect(await schedules.put(once)).toMatchObject({ answer: 'unchanged' })
    const [problem] = await problemsIn(schedules.put({ ...once, name: 'other' }))
    expect(problem).toMatchObject({ field: 'at', problem: expect.stringContaining('which is in the past') })
  })
})

describe('update', () => {
  it('changes what it names over the newest version, whoever wrote in between', async () => {
    await schedules.put(daily)
    const [first, second] = await Promise.all([
      schedules.update('report', { description: 'a' }),
      schedules.update('report', { priority: 5 }),
    ])
    expect([first?.changed, second?.changed]).toEqual([['description'], ['priority']])
    expect(await schedules.get('report')).toMatchObject({ description: 'a', priority: 5, version: 3 })
  })

  it('is refused where it does not fit, over another version, and where there is nothing to change', async () => {
    await schedules.put({ ...daily, description: 'a' })
    expect(await problemsIn(schedules.update('report', { from: 'start' }))).toMatchObject([{ field: 'from' }])
    const anew = await errorOf(schedules.update('report', { description: 'b', ifId: 's-3zzz' }))
    expect(anew).toMatchObject({ code: 'conflict', message: expect.stringContaining('was deleted and created again') })
    const error = await errorOf(schedules.update('report', { description: 'b', ifVersion: 3 }))
    expect(error.code).toBe('conflict')
    expect(await schedules.update('report', { description: 'a' })).toMatchObject({ answer: 'unchanged' })
    expect(await problemsIn(schedules.update({ priority: 'x' } as never))).toMatchObject([
      { field: 'name', problem: 'is missing' },
      { field: 'priority' },
    ])
    expect(await errorOf(schedules.update('reprot', {}))).toMatchObject({
      code: 'not-found',
      hint: 'Did you mean "report"?',
    })
  })
})

describe('a schedule', () => {
  it('that nobody knows is not found, whatever is asked of it, and the nearest name is told', async () => {
    await schedules.put(daily)
    const reason = 'r'
    const asks = [
      schedules.get('reports'),
      schedules.delete('reports'),
      schedules.pause('reports'),
      schedules.resume('reports'),
      schedules.run('reports'),
      schedules.next('reports'),
      schedules.history('reports'),
      schedules.hint('reports', { every: '1m', reason }),
      schedules.clearHints('reports'),
      schedules.hints('reports'),
      schedules.versions('reports'),
    ]
    for (const error of await Promise.all(asks.map(errorOf))) {
      expect(error).toMatchObject({ code: 'not-found', hint: 'Did you mean "report"?' })
    }
    const far = await errorOf(schedules.get('something else'))
    expect(far.hint).toContain('belfry schedule list')
  })

  it('is deleted, its name free at once and its past still there by its id', async () => {
    const { schedule } = await schedules.put(daily)
    expect(await schedules.delete('report')).toEqual({ name: 'report', deleted: true })
    expect(await schedules.list()).toEqual([])
    expect(await schedules.list({ deleted: true })).toMatchObject([{ id: schedule.id, name: 'report' }])
    expect(await schedules.get(schedule.id)).toMatchObject({ deletedAt: startAt })
    expect(await schedules.put(daily)).toMatchObject({ answer: 'created' })
  })

  it('is paused for a while, until an instant, or without end, and told so; and resumed', async () => {
    await schedules.put(daily)
    const until = startAt + 3_600_000
    expect((await schedules.pause('report', { for: '1h' })).paused).toMatchObject({ until })
    expect((await schedules.pause('report', { until: new Date(until + 1), reason: 'x' })).paused).toEqual({
      until: until + 1,
      reason: 'x',
    })
    expect((await schedules.pause('report')).disabled).toMatchObject({ reason: 'asked for by tester' })
    const { resumed, schedule } = await schedules.resume('report')
    expect([resumed, schedule.paused, schedule.disabled]).toEqual([true, null, null])
    expect((await schedules.resume('report')).resumed).toBe(false)
    const both = { for: '1h', until: '2026-12-01T00:00Z' }
    expect((await problemsIn(schedules.pause('report', both)))[0]?.field).toBe('until')
    expect(await problemsIn(schedules.pause('report', { until: '2025-01-01T00:00Z' }))).toEqual([
      {
        field: 'until',
        problem: 'is 2025-01-01T00:00:00.000Z, which is in the past',
        expected: 'after 2026-01-05T09:00:00.000Z',
      },
    ])
  })

  it('is run now with a payload of its own; beside a live run only when forced', async () => {
    const { context } = desk()
    await schedules.put(daily)
    const { id } = await schedules.run('report', { payload: { day: 'today' } })
    expect(await context.store.look(findRun, id)).toMatchObject({ source: 'run-now', payload: { day: 'today' } })
    const error = await errorOf(schedules.run('report'))
    expect(error).toMatchObject({
      code: 'conflict',
      details: { liveRunId: id },
      hint: expect.stringContaining('force'),
    })
    expect(await schedules.run('report', { force: true })).toEqual({ id: expect.any(String) })
    await schedules.pause('report')
    expect(await schedules.run('report', { force: true })).toMatchObject({ kept: 'held' })
  })

  it('tells its history, before an instant where one is given', async () => {
    const at = desk()
    const { clock, store } = at
    await schedules.put({ name: 'report', every: '1m', target: { handler: 'report' } })
    for (let round = 0; round < 3; round++) {
      clock.advance(60_000)
      await store.fireDue({ limit: 10 })
      await at.work()
    }
    const minute = (n: number) => startAt + n * 60_000
    const all = await schedules.history('report')
    expect(all.map(({ from }) => from)).toEqual([minute(3), minute(2), minute(1)])
    const older = await schedules.history('report', { before: new Date(minute(3)), limit: 1 })
    expect(older.map(({ from }) => from)).toEqual([minute(2)])
  })
})

describe('a hint', () => {
  it('to run at intervals is refused of a schedule that has only one instant', async () => {
    await schedules.put({ name: 'once', at: '2026-12-01T09:00Z' })
    const [problem] = await problemsIn(schedules.hint('once', { every: '5m', reason: 'r' }))
    expect(problem).toMatchObject({ field: 'every', expected: expect.stringContaining('runs only once') })
  })

  it('lives as long as its kind does unless it says otherwise, and names its author', async () => {
    await schedules.put(daily)
    expect(await schedules.hint('report', { every: '5m', reason: 'busy' })).toMatchObject({
      nextRunAt: startAt + 300_000,
      waitsFor: null,
    })
    await schedules.hint('report', { at: '2026-01-05T09:02Z', reason: 'soon', ttl: '10m' })
    expect(await schedules.hints('report')).toMatchObject([
      {
        kind: 'oneshot',
        value: startAt + 120_000,
        expiresAt: startAt + 600_000,
        author: 'tester',
        by: 'person',
        reason: 'soon',
      },
      { kind: 'interval', value: 300_000, expiresAt: startAt + 3_600_000, author: 'tester' },
    ])
    await schedules.hint('report', { at: '2026-01-05T09:03Z', reason: 'later' })
    expect((await schedules.get('report')).hints.oneshot?.expiresAt).toBe(startAt + 1_800_000)
    expect(await schedules.clearHints('report', { kinds: ['oneshot'] })).toEqual({ cleared: ['oneshot'] })
    expect((await schedules.get('report')).hints).toMatchObject({ interval: { ms: 300_000 } })
    expect(await schedules.clearHints('report')).toEqual({ cleared: ['interval'] })
    expect((await schedules.get('report')).hints).toEqual({})
  })

  it('is tried out in a dry run, which tells the next ten with it and without it and writes nothing', async () => {
    await schedules.put(daily)
    const told = await rehearsed.hint('report', { every: '20m', ttl: '1h', reason: 'release' })
    const minutes = (runs: readonly { at: number }[] = []) => runs.slice(0, 4).map(({ at }) => (at - startAt) / 60_000)
    expect(minutes(told.next)).toEqual([20, 40, ...minutes(told.otherwise).slice(0, 2)])
    expect(told.otherwise).toHaveLength(10)
    expect(await schedules.hints('report')).toEqual([])
  })

  it('of an agent is bounded, ranked below a person, and cannot be claimed to be another', async () => {
    await schedules.put(daily)
    const asked = { every: '1s', reason: 'r' }
    expect(await problemsIn(agents.hint('report', { ...asked, author: 'ann' } as never))).toMatchObject([
      { field: 'author' },
    ])
    expect(await agents.hint('report', asked)).toMatchObject({ clamped: { field: 'every', from: 1_000, to: 10_000 } })
    await schedules.hint('report', { every: '5m', reason: 'busy' })
    expect(await agents.hint('report', asked)).toMatchObject({ outrankedBy: 'person' })
    expect(await agents.clearHints('report')).toEqual({ cleared: ['interval'], kept: ['person'] })
    expect(await errorOf(agents.clearHints('report'))).toMatchObject({ code: 'not-allowed' })
    expect(await errorOf(agents.hint('report', { ...asked, ttl: '25h' }))).toMatchObject({ code: 'not-allowed' })
    await schedules.pause('report', { for: '48h' })
    expect(await errorOf(agents.resume('report'))).toMatchObject({ code: 'not-allowed' })
    expect(await agents.pause('report')).toMatchObject({
      clamped: { field: 'until', from: null, to: startAt + 24 * 3_600_000 },
      paused: { until: startAt + 48 * 3_600_000 },
      pauses: [{ by: 'person' }, { by: 'agent', author: 'bot', until: startAt + 24 * 3_600_000 }],
    })
  })

  it('of an agent is refused beyond its rate, with when that lifts', async () => {
    await schedules.put(daily)
    const asked = { at: '2026-01-05T09:10Z', reason: 'r' }
    for (let made = 0; made < 6; made++) await agents.hint('report', asked)
    const lifted = {
      code: 'too-many-changes',
      message: expect.stringContaining('lifts at 2026-01-05T10:00:00.000Z'),
      details: { liftsAt: startAt + 3_600_000 },
    }
    expect(await errorOf(agents.hint('report', asked))).toMatchObject(lifted)
  })

  it.each([
    ['a window beside an at', { at: '2026-12-01T09:00Z', window: '* 8-19 * * *' }, 'window', /runs only once/],
    ['a window with six fields', { every: '5m', window: '* * 8-19 * * *' }, 'window', /6 fields/],
    ['a window that never opens', { every: '5m', window: '* * 31 2 *' }, 'window', /400 days/],
    ['a zone that nothing needs', { every: '5m', zone: 'Europe/Paris' }, 'zone', /means nothing/],
  ])('%s is refused', async (_, timing, field, problem) => {
    const found = await problemsIn(schedules.put({ name: 'w', target: { handler: 'h' }, ...timing }))
    expect(found).toMatchObject([{ field, problem: expect.stringMatching(problem) }])
  })

  it('a window keeps the zone that was resolved, and loses it with the window', async () => {
    const { schedule } = await schedules.put({
      name: 'w',
      every: '5m',
      window: '* 8-19 * * 1-5',
      target: { handler: 'h' },
    })
    expect(schedule).toMatchObject({ zone: 'Europe/Paris', window: '* 8-19 * * 1-5', everyMs: 300_000 })
    const { anchorAt } = schedule
    const moved = await schedules.update('w', { window: '* 9-19 * * 1-5' })
    expect(moved.schedule).toMatchObject({ zone: 'Europe/Paris', anchorAt })
    const { schedule: after } = await schedules.update('w', { window: null })
    expect([after.window, after.zone]).toEqual([undefined, undefined])
  })

  it.each([
    ['of both kinds', { every: '5m', at: '2026-01-05T09:02Z', reason: 'r' }, 'hint', /both/],
    ['of no kind', { reason: 'r' }, 'hint', /neither/],
    ['without a reason', { every: '5m' }, 'reason', /is missing/],
    ['after its own end', { at: '2026-01-05T12:00Z', reason: 'r' }, 'at', /12:00.*the hint expires at .*09:30/],
    [
      'with two ends',
      { every: '5m', ttl: '1m', expiresAt: '2026-01-05T12:00Z', reason: 'r' },
      'ttl',
      /beside `expiresAt`/,
    ],
    [
      'that has ended',
      { every: '5m', expiresAt: '2026-01-05T08:00Z', reason: 'r' },
      'expiresAt',
      /08:00.*which is in the past/,
    ],
    ['too short', { every: '5ms', reason: 'r' }, 'every', /is 5ms/],
    ['too short, in ms', { everyMs: 5, reason: 'r' }, 'everyMs', /is 5$/],
  ])('%s is refused', async (_, input, field, problem) => {
    await schedules.put(daily)
    expect(await problemsIn(schedules.hint('report', input as never))).toEqual([
      { field, problem: expect.stringMatching(problem), expected: expect.any(String) },
    ])
  })
})
