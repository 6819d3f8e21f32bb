import { expect, it } from 'vitest'
import { turnHolds } from '../../../src/store/holds/turn-holds.ts'
import { listEvents } from '../../../src/store/reads/list-events.ts'
import { problemsIn, verbsAt } from '../desk.ts'
import { inEachWard, minute } from '../store/ward.ts'

const target = { handler: 'report' }

inEachWard((ward) => {
  const { schedules, runs, groups } = verbsAt(() => ward().context)
  const fire = async (kind: 'success' | 'failed') => {
    await ward().store.fireDue({ limit: 10 })
    const leases = await ward().lease()
    const outcome = kind === 'success' ? { kind } : { kind, reason: 'broken', retryable: false }
    await ward().store.settle(leases.map(({ runId, fence, scheduleId }) => ({ runId, fence, scheduleId, outcome })))
    return leases
  }

  it('a test runs once what a paused schedule does, and changes nothing of it', async () => {
    await schedules.create({ name: 'depth', every: '5m', target, payload: { a: 1 }, attempts: 5 })
    await schedules.pause('depth')
    const before = await schedules.get('depth')
    const { id } = await schedules.test('depth')
    const [lease] = await fire('failed')
    expect(lease).toMatchObject({ runId: id, source: 'test', payload: { a: 1 } })
    expect(await runs.get(id)).toMatchObject({ status: 'failed', source: 'test', testOf: 'depth', scheduleId: null })
    expect(await schedules.get('depth')).toEqual(before)
    expect(before.pausedBy).toEqual(['tester'])
    expect((await runs.explain(id)).planned.sentence).toBe('It tests a schedule, and changes nothing of that schedule.')
    await schedules.delete('depth')
  })

  it('an answer about one schedule says how it fared, and the stream of events has the source of each end', async () => {
    const { place } = await ward().store.look(listEvents, null, 10)
    await schedules.create({ name: 'fared', every: '5m', target })
    ward().clock.advance(5 * minute)
    await fire('success')
    const at = ward().clock.now()
    expect(await schedules.get('fared')).toMatchObject({
      last: { startedAt: at, endedAt: at, succeededAt: at },
      multiplier: 1,
      pausedBy: [],
    })
    ward().clock.advance(5 * minute)
    await fire('failed')
    expect(await schedules.get('fared')).toMatchObject({
      last: { startedAt: at + 5 * minute, endedAt: at + 5 * minute, succeededAt: at },
      multiplier: 2,
    })
    ward().clock.advance(1_000)
    const { events } = await ward().store.look(listEvents, place, 100)
    const sources = events.flatMap(({ happened }) =>
      happened.kind.startsWith('run.') && 'source' in happened ? [`${happened.kind} ${happened.source}`] : [],
    )
    expect(sources).toEqual(['run.completed baseline-interval', 'run.failed baseline-interval'])
    await schedules.delete('fared')
  })

  it('lists by group, tag, failures, hints and pauses; what is paused without end only where it is asked for', async () => {
    await groups.create('g')
    const every = '5m'
    await schedules.create({ name: 'a', every, target, group: 'g', tags: ['x', 'y'] })
    await schedules.create({ name: 'b', every, target, tags: ['x"y'] })
    await schedules.create({ name: 'c', every, target, group: 'g' })
    await schedules.pause('b', { for: '1h' })
    await schedules.pause('c')
    await schedules.hint('a', { every: '1m', reason: 'r' })
    const names = async (filter: object) => (await schedules.list(filter)).map(({ name }) => name)
    expect(await names({})).toEqual(['a', 'b'])
    expect(await names({ all: true })).toEqual(['a', 'b', 'c'])
    expect(await names({ group: 'g' })).toEqual(['a'])
    expect(await names({ group: 'g', all: true, after: 'a' })).toEqual(['c'])
    expect(await names({ tag: 'x' })).toEqual(['a'])
    expect(await names({ tag: 'x"y' })).toEqual(['b'])
    expect(await names({ hinted: true })).toEqual(['a'])
    expect(await names({ paused: true })).toEqual(['b', 'c'])
    await groups.pause('g')
    expect(await names({ paused: true })).toEqual(['a', 'b', 'c'])
    expect((await schedules.get('c')).pausedBy).toEqual(['tester', 'Paused by its group g.'])
    await groups.resume('g')
    await ward().store.do(turnHolds, { limit: 10 })
    await schedules.update('a', { attempts: 1 })
    ward().clock.advance(minute)
    await fire('failed')
    expect(await names({ failing: true })).toEqual(['a'])
    expect(await problemsIn(schedules.list({ deleted: true, failing: true }))).toMatchObject([{ field: 'failing' }])
  })

  it('an HTTP call may take 1 s to 30 min; a longer timeout that is stored stays until it is edited', async () => {
    const http = { target: { http: { url: 'http://127.0.0.1:3000/' } } }
    for (const timeout of ['999ms', '31m', '10d']) {
      expect(await problemsIn(schedules.create({ name: 'h', ...http, timeout }))).toEqual([
        { field: 'timeout', problem: `is ${timeout}`, expected: 'for an HTTP request a duration of 1s to 30m' },
      ])
      expect(await problemsIn(runs.enqueue({ ...http, timeout }))).toMatchObject([{ field: 'timeout' }])
    }
    await schedules.create({ name: 'h', ...http, timeout: '30m' })
    await ward().sql(`update belfry.schedule set spec = replace(spec, '1800000', '864000000') where name = 'h'`)
    expect(await schedules.update('h', { priority: 7 })).toMatchObject({ schedule: { timeoutMs: 864_000_000 } })
    expect(await problemsIn(schedules.update('h', { timeout: '31m' }))).toMatchObject([{ field: 'timeout' }])
    expect(await problemsIn(schedules.update('h', http))).toMatchObject([{ field: 'timeout' }])
  })
})
