import { describe, expect, it } from 'vitest'
import { toolsFor } from '../../../../src/doors/mcp/tools.ts'
import { findSchedule } from '../../../../src/store/reads/find-schedule.ts'
import { onPorch } from '../../../doors/http/porch.ts'
import { call, modelAt, wholeOf } from '../../../doors/mcp/model.ts'
import { atDesk, startAt, verbsAt } from '../../../operations/desk.ts'

const hour = 3_600_000
const hours = { zone: 'Europe/Paris', open: ['mon-fri 08:00-18:00'] }
const target = { handler: 'report' }

describe('a model', () => {
  const desk = atDesk()
  const { calendars, schedules, runs } = verbsAt(() => desk().context)

  it('reads calendars and their openings, and changes none, whatever its scope', async () => {
    await calendars.put('office', hours)
    const model = await modelAt({ context: async () => desk().context, scope: 'admin' })
    expect(JSON.stringify(wholeOf(await call(model, 'calendar_list')))).toContain('office')
    expect(JSON.stringify(wholeOf(await call(model, 'calendar_test', { name: 'office', days: 1 })))).toContain(
      'opensAt',
    )
    const tools = toolsFor('admin').flatMap(({ name }) => (name.startsWith('calendar') ? [name] : []))
    expect(tools.sort()).toEqual(['calendar_get', 'calendar_list', 'calendar_test'])
    expect(await call(model, 'calendar_put', { name: 'office', open: ['mon-sun 00:00-24:00'] })).toMatchObject({
      isError: true,
    })
    expect(await calendars.get('office')).toMatchObject({ version: 1 })
  })

  it('can neither force a schedule past its closed calendars nor take them away', async () => {
    await calendars.put('office', hours)
    await schedules.create({ name: 'digest', every: '1h', target, calendar: 'office' })
    desk().clock.set(startAt + 10 * hour)
    const model = await modelAt({ context: async () => desk().context, scope: 'admin' })
    const forced = await call(model, 'schedule_run', { name: 'digest', force: true })
    expect(forced.isError ?? false).toBe(false)
    expect(await desk().lease()).toEqual([])
    const { runs: listed } = await runs.list({})
    expect(listed).toMatchObject([{ calendar: ['office'] }])
    const { id } = await schedules.run('digest', { force: true })
    await runs.cancel(id)
    expect(await call(model, 'run_retry', { id })).toMatchObject({ isError: true })
    for (const input of [
      { name: 'digest', calendar: null },
      { name: 'digest', calendar: ['!office'] },
    ]) {
      const refused = await call(model, 'schedule_update', input)
      expect(refused.isError).toBe(true)
      expect(JSON.stringify(refused)).toContain('Only a person takes calendars from')
    }
    expect(await call(model, 'schedule_put', { name: 'digest', every: '2h', target })).toMatchObject({ isError: true })
    await calendars.put('late', { zone: 'UTC', open: ['mon-fri 10:00-12:00'] })
    const more = { name: 'digest', calendar: ['office', 'late'] }
    expect((await call(model, 'schedule_update', more)).isError ?? false).toBe(false)
    expect((await desk().store.look(findSchedule, 'digest'))?.spec.options).toEqual({ calendar: ['late', 'office'] })
    expect(await call(model, 'queue_set', { name: 'mail', calendar: ['office'] })).not.toMatchObject({ isError: true })
    expect(await call(model, 'queue_set', { name: 'mail', calendar: null })).toMatchObject({ isError: true })
    await schedules.create({ name: 'post', every: '1h', target, queue: 'mail' })
    expect(await call(model, 'schedule_update', { name: 'post', queue: 'default' })).toMatchObject({ isError: true })
    const moved = { name: 'post', queue: 'default', calendar: ['office'] }
    expect((await call(model, 'schedule_update', moved)).isError ?? false).toBe(false)
  })
})

describe('over HTTP', () => {
  const porch = onPorch()

  it('a calendar is put, read, followed and deleted', async () => {
    const put = { method: 'PUT', body: hours, as: 'operate' } as const
    expect(await porch().problem('/api/calendars/office', { ...put, as: 'read' })).toMatchObject({ status: 403 })
    expect(await porch().json('/api/calendars/office', put)).toMatchObject({
      answer: 'created',
      calendar: { isOpen: true },
    })
    const tested = await porch().json('/api/calendars/office/test?days=1', { as: 'read' })
    expect(tested).toMatchObject({ openings: [{ closesAt: new Date(startAt + 8 * hour).toISOString() }, {}] })
    const schedule = { name: 'digest', every: '1h', target, calendar: 'office' }
    await porch().json('/api/schedules', { body: schedule, as: 'admin' })
    const remove = { method: 'DELETE', as: 'operate' } as const
    expect(await porch().problem('/api/calendars/office', remove)).toMatchObject({
      status: 409,
      details: { users: { schedule: ['digest'] } },
    })
    expect(
      await porch().problem('/api/schedules', { body: { ...schedule, name: 'b', calendar: 'ofice' }, as: 'admin' }),
    ).toMatchObject({
      status: 400,
      details: { problems: [{ field: 'calendar' }] },
    })
  })
})
