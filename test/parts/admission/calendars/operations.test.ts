import { describe, expect, it } from 'vitest'
import { atDesk, errorOf, problemsIn, startAt, verbsAt } from '../../../operations/desk.ts'
import { listAudit } from '../../../store/list-audit.ts'

const hour = 3_600_000
const zone = 'Europe/Paris'
const target = { handler: 'report' }
const desk = atDesk()
const { calendars, schedules, queues, runs, routines, config } = verbsAt(() => desk().context)

describe('calendar put', () => {
  it('creates, replaces and says what changed, in versions that can be restored, each in the audit', async () => {
    const made = await calendars.put('office', { zone, open: ['mon-fri 08:00-18:00'], closedDates: ['12-25'] })
    expect(made).toMatchObject({
      answer: 'created',
      calendar: { isOpen: true, changesAt: startAt + 8 * hour, version: 1 },
    })
    expect(
      await calendars.put('office', { zone, open: ['mon-fri 08:00-18:00'], closedDates: ['12-25'] }),
    ).toMatchObject({ answer: 'unchanged' })
    const changed = await calendars.put('office', { open: ['mon-fri 12:00-18:00'], reason: 'Strike.' })
    expect(changed).toMatchObject({ answer: 'updated', calendar: { zone, version: 2, isOpen: false } })
    expect(await calendars.revert('office')).toMatchObject({
      calendar: { version: 3, closedDates: ['12-25'], isOpen: true },
    })
    expect((await calendars.get('office')).versions).toMatchObject([
      { version: 3, reason: 'revert to version 1' },
      { version: 2, reason: 'Strike.' },
      { version: 1 },
    ])
    expect(await errorOf(calendars.put('office', { open: ['mon 08:00-09:00'], ifVersion: 2 }))).toMatchObject({
      code: 'conflict',
    })
    expect(await errorOf(calendars.revert('office', { to: 9 }))).toMatchObject({ code: 'not-found' })
    const lines = await desk().store.look(listAudit, 'calendar office')
    expect(lines.map(({ verb }) => verb).sort()).toEqual(['calendar.create', 'calendar.update', 'calendar.update'])
  })

  it('says that hours over midnight are', async () => {
    const { notes, calendar } = await calendars.put('night', { zone, open: ['mon-fri 18:00-08:00'] })
    expect(notes).toEqual(['mon-fri 18:00-08:00 is over midnight: it ends on the next day.'])
    expect(calendar).toMatchObject({ isOpen: false, changesAt: startAt + 8 * hour })
  })

  it.each([
    [{ open: ['mon 25:00-26:00'] }, 'open', 'wrong at character 5', '00:00 to 23:59'],
    [{ open: ['mon-xyz 08:00-18:00'] }, 'open', 'wrong at character 5', 'a day: sun, mon'],
    [{ open: ['mon-fri 08:00-18:00', ''] }, 'open[1]', 'wrong at character 1', 'a day'],
    [{ open: [] }, 'open', 'does not open within the next 400 days', 'hours or dates'],
    [{ closedDates: ['12-25'] }, 'open', 'does not open within the next 400 days', 'mon-sun 00:00-24:00'],
    [{ openDates: ['2020-01-01'] }, 'open', '400 days', 'hours or dates'],
    [{ cron: '* 8-18 * *' }, 'cron', 'wrong', 'five fields'],
    [{ cron: '* * 30 2 *' }, 'cron', '400 days', 'hours or dates'],
    [{ cron: '0 * 8-18 * * *' }, 'cron', 'fields', 'five fields'],
    [{ open: ['mon 08:00-18:00'], cron: '* * * * *' }, 'cron', 'beside `open`', 'only one'],
    [
      { open: ['mon 08:00-18:00'], zone: 'Europe/Pariss' },
      'zone',
      'no zone of that name',
      'Europe/Paris, if that was meant',
    ],
    [{ open: ['mon 08:00-18:00'], closedDates: ['2026-02-30'] }, 'closedDates', 'wrong at character 1', 'a date'],
    [{ open: ['mon 08:00-18:00'], closedHours: ['2026-02-30 10:00-11:00'] }, 'closedHours', 'character 1', 'a date'],
    [
      { open: ['mon 08:00-18:00'], closedFile: 'x'.repeat(1_048_577) },
      'closedFile',
      '1048577 bytes',
      'at most 1048576',
    ],
  ])('%j is refused', async (given, field, problem, expected) => {
    const [found, ...others] = await problemsIn(calendars.put('wrong', given))
    expect(others).toEqual([])
    expect(found).toMatchObject({
      field,
      problem: expect.stringContaining(problem),
      expected: expect.stringContaining(expected),
    })
  })

  it('names every problem at once', async () => {
    const given = { zone: 'Mars', open: ['x'], openDates: ['y'], closedHours: ['z'] }
    expect((await problemsIn(calendars.put('wrong', given))).map(({ field }) => field)).toEqual([
      'zone',
      'open',
      'openDates',
      'closedHours',
    ])
    expect(await errorOf(calendars.put('a,b', { open: ['mon 08:00-18:00'] }))).toMatchObject({ code: 'invalid' })
    expect(await errorOf(calendars.put('!a', { open: ['mon 08:00-18:00'] }))).toMatchObject({ code: 'invalid' })
  })

  it.each([
    ['', 'is empty'],
    ['<html><body>404</body></html>\n', 'line 1, "<html><body>404</body></html>", is not BEGIN:VCALENDAR'],
    ['BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20260106\r\n', 'line 2, "BEGIN:VEVENT", has no END:VEVENT'],
    [
      'BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;VALUE=DATE:20260106\nEND:VEVENT\n',
      'line 1, "BEGIN:VCALENDAR", has no END:VCALENDAR',
    ],
    [
      'BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;VALUE=DATE:20260106\nEND:VCALENDAR\n',
      'line 4, "END:VCALENDAR", ends no VEVENT',
    ],
  ])(
    'a wrong or cut file of holidays, %j, is refused and leaves the closed days as they are',
    async (file, problem) => {
      const given = { zone, open: ['mon-sun 00:00-24:00'] }
      await calendars.put('office', { ...given, closedDates: ['12-25'] })
      expect(await problemsIn(calendars.put('office', { ...given, closedFile: file }))).toMatchObject([
        { field: 'closedFile', problem: expect.stringContaining(problem) },
      ])
      expect(await calendars.get('office')).toMatchObject({ version: 1, closedDates: ['12-25'] })
    },
  )

  it('takes the events of an iCalendar file, and lists with its line what it does not take', async () => {
    const file = [
      'BEGIN:VCALENDAR',
      'BEGIN:VEVENT',
      'DTSTART;VALUE=DATE:20260106',
      'RRULE:FREQ=YEARLY',
      'END:VEVENT',
      'BEGIN:VEVENT',
      'END:VEVENT',
      'END:VCALENDAR',
    ]
    const { calendar, imported, unread } = await calendars.put('office', {
      zone,
      open: ['mon-sun 00:00-24:00'],
      closedDates: ['12-25'],
      closedFile: file.join('\r\n'),
    })
    expect(calendar.closedDates).toEqual(['12-25', '01-06 from 2026-01-06'])
    expect({ imported, unread }).toEqual({
      imported: 1,
      unread: [{ line: 6, text: 'BEGIN:VEVENT', problem: 'has no DTSTART' }],
    })
  })
})

describe('calendar test', () => {
  it('prints openings with the clock changes among them', async () => {
    await calendars.put('shift', { zone, open: ['sat-sun 01:00-04:00'] })
    const { openings } = await calendars.test('shift', { from: '2026-03-28T00:00Z', days: 2 })
    expect(openings).toEqual([
      { opensAt: Date.UTC(2026, 2, 28), closesAt: Date.UTC(2026, 2, 28, 3) },
      {
        opensAt: Date.UTC(2026, 2, 29),
        closesAt: Date.UTC(2026, 2, 29, 2),
        clocks: 'the clocks go forward by 1 h on 2026-03-29 at 02:00',
      },
    ])
    expect((await calendars.test('shift', { from: '2026-03-30T00:00Z', days: 1 })).openings).toEqual([])
  })
})

describe('an unknown calendar', () => {
  it('is refused at every door with the nearest known one', async () => {
    await calendars.put('office', { zone, open: ['mon-fri 08:00-18:00'] })
    await schedules.create({ name: 'digest', every: '1h', target })
    for (const refused of [
      () => schedules.create({ name: 'other', every: '1h', target, calendar: 'ofice' }),
      () => schedules.update('digest', { calendar: ['!ofice'] }),
      () => queues.set('mail', { calendar: ['ofice'] }),
      () => runs.enqueue({ target, calendar: 'ofice' }),
      () => runs.enqueueMany([{ target }, { target, calendar: ['office', 'ofice'] }]),
      () => calendars.apply({ calendar: 'ofice' }),
    ]) {
      const [{ field, problem, expected } = { field: '', problem: '', expected: '' }] = await problemsIn(refused)
      expect(field).toMatch(/calendar$/)
      expect(problem).toContain('"ofice", which does not exist')
      expect(expected).toContain('office, if that was meant')
    }
    expect(await errorOf(calendars.get('ofice'))).toMatchObject({ code: 'not-found', details: { nearest: 'office' } })
    expect(await queues.list({})).not.toContainEqual(expect.objectContaining({ name: 'mail' }))
  })

  it('calendars that are never open together are refused, and so is a cron that is never in open hours', async () => {
    await calendars.put('office', { zone, open: ['mon-fri 08:00-18:00'] })
    const [never] = await problemsIn(runs.enqueue({ target, calendar: ['office', '!office'] }))
    expect(never?.problem).toContain('are not open together within 400 days')
    const night = { name: 'night', cron: '0 3 * * *', zone, target, calendar: 'office' }
    const [outside] = await problemsIn(schedules.create(night))
    expect(outside?.problem).toContain('no instant of the schedule is in the open hours')
    await calendars.put('late', { zone, open: ['mon-sun 20:00-22:00'] })
    await queues.set('mail', { calendar: ['office', '!late'] })
    expect(await errorOf(calendars.put('late', { open: ['mon-sun 00:00-24:00'] }))).toMatchObject({ code: 'invalid' })
    expect(await calendars.get('late')).toMatchObject({ version: 1 })
  })
})

describe('calendar delete', () => {
  it('is refused while something follows it, naming what, and closes for good what was made with it', async () => {
    await calendars.put('office', { zone, open: ['mon-fri 08:00-18:00'] })
    await calendars.put('other', { zone, open: ['mon-fri 08:00-18:00'] })
    await schedules.create({ name: 'digest', target, calendar: ['office', 'other'] })
    await queues.set('mail', { calendar: '!office' })
    await calendars.apply({ calendar: 'office' })
    const { id } = await runs.enqueue({ target, calendar: 'office', queue: 'agents' })
    const users = { schedule: ['digest'], queue: ['mail'], 'waiting runs of queue': ['agents'], namespace: ['default'] }
    expect((await calendars.get('office')).usedBy).toEqual(users)
    const refused = await errorOf(calendars.delete('office'))
    expect(refused).toMatchObject({ code: 'conflict', details: { users } })
    expect(refused.message).toContain('schedule digest; queue mail; waiting runs of queue agents; namespace default')

    await schedules.update('digest', { calendar: null })
    await queues.set('mail', { calendar: null })
    await calendars.apply({ none: true })
    await runs.cancel(id)
    expect(await calendars.delete('office')).toEqual({ name: 'office', deleted: true })
    expect((await calendars.list({})).map(({ name }) => name)).toEqual(['other'])
    const again = await runs.retry(id)
    expect(await desk().lease('agents')).toEqual([])
    expect(await runs.explain(again.id)).toMatchObject({ code: 'held-by', sentence: 'Calendar office does not exist.' })
    await calendars.put('office', { zone, open: ['mon-fri 08:00-18:00'] })
    expect((await desk().lease('agents')).map(({ runId }) => runId)).toEqual([again.id])
  })
})

describe('a config file', () => {
  const apply = (calendarsGiven: object, more: object = {}) =>
    config.apply({ file: 'belfry.yaml', source: 'main', calendars: calendarsGiven, ...more } as never)

  it('manages calendars before what follows them, and does not delete one that is followed', async () => {
    const office = { zone, open: ['mon-fri 08:00-18:00'] }
    const made = await apply(
      { office },
      {
        queues: { mail: { calendar: ['office'] } },
        schedules: { digest: { every: '1h', target, calendar: ['office'] } },
      },
    )
    expect(made).toMatchObject({
      calendars: [{ name: 'office', answer: 'created' }],
      schedules: [{ answer: 'created' }],
    })
    expect(await errorOf(calendars.put('office', { zone, open: ['mon 08:00-09:00'] }))).toMatchObject({
      code: 'conflict',
    })
    expect(await errorOf(apply({ office: { zone, open: ['mon 99:00-09:00'] } }))).toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('calendars.office.open'),
    })
    const later = await apply(
      { office: { zone, open: ['tue 08:00-18:00'] } },
      { schedules: { digest: { every: '1h', target, calendar: ['office'] } } },
    )
    expect(later).toMatchObject({ calendars: [{ name: 'office', answer: 'updated' }] })
  })
})

it('a routine hands its calendars to its runs', async () => {
  await calendars.put('office', { zone, open: ['sat 08:00-18:00'] })
  await routines.create({ name: 'paid', run: { target, calendar: 'office' } })
  const { run } = await routines.fire('paid', {})
  expect(await runs.get(run ?? '')).toMatchObject({ calendar: ['office'] })
  expect(await desk().lease()).toEqual([])
})
