import { describe, expect, it } from 'vitest'
import { openingOfAll } from '../../../../src/core/opening/opening-of-all.ts'
import type { EngineContext } from '../../../../src/engine/engine-context.ts'
import { calendarDuty } from '../../../../src/parts/admission/calendars/calendar-duty.ts'
import { putCalendar } from '../../../../src/parts/admission/calendars/write-calendar.ts'
import { turnHolds } from '../../../../src/store/holds/turn-holds.ts'
import { findRun } from '../../../../src/store/reads/find-run.ts'
import { findSchedule, listLedger } from '../../../../src/store/reads/find-schedule.ts'
import { errorOf, startAt, verbsAt } from '../../../operations/desk.ts'
import { actor, hour, inEachWard, minute } from '../../../operations/store/ward.ts'

/** The clock stands on a Monday at nine in UTC, which is ten in Paris. */
const zone = 'Europe/Paris'
const hours = { zone, open: ['mon-fri 08:00-18:00'] }
const day = 24 * hour
const closesAt = startAt + 8 * hour
const opensAt = startAt + 22 * hour
const target = { handler: 'report' }

inEachWard((ward) => {
  const { calendars, schedules, runs, queues, holds, sched } = verbsAt(() => ward().context)
  const leased = async (queue?: string) => (await ward().lease(queue)).map(({ runId }) => runId)
  const tick = () => calendarDuty.tick({ store: ward().store } as unknown as EngineContext)

  describe.each([
    ['of a run', async () => runs.enqueue({ target, calendar: 'office' })],
    [
      'of a schedule',
      async () => {
        await schedules.create({ name: 'digest', target, calendar: ['office'] })
        return schedules.run('digest')
      },
    ],
    [
      'of its queue',
      async () => {
        await queues.set('default', { calendar: 'office' })
        return runs.enqueue({ target })
      },
    ],
    [
      'of the namespace',
      async () => {
        await calendars.apply({ calendar: 'office' })
        return runs.enqueue({ target })
      },
    ],
  ])('a closed calendar %s', (_, made) => {
    it('keeps it ready from its first closed instant to its last, names itself with the end, and lets it go then', async () => {
      await calendars.put('office', hours)
      ward().clock.set(closesAt)
      const { id } = await made()
      expect(await leased()).toEqual([])
      expect(await ward().store.look(findRun, id)).toMatchObject({ status: 'ready' })
      const { code, sentence, unblock, waiting } = await runs.explain(id)
      expect({ code, until: waiting?.until }).toEqual({ code: 'held-by', until: opensAt })
      expect(sentence).toMatch(/^Calendar office( of queue default| of the namespace)? is closed\.$/)
      expect(unblock).toContainEqual(expect.objectContaining({ at: opensAt }))
      expect(unblock.map(({ command }) => command)).toContain("belfry calendar put office --open 'mon-sun 00:00-24:00'")
      expect(await sched.plan({ kinds: ['handler'] })).toMatchObject({
        leases: [],
        skippedByReason: [{ reason: 'held-by', count: 1 }],
      })
      ward().clock.set(opensAt - 1)
      expect(await leased()).toEqual([])
      ward().clock.set(opensAt)
      expect(await leased()).toEqual([id])
    })

    it('lets nothing start in closed hours although no worker renews its closings for five days, and all of it once one does', async () => {
      await queues.set('default', { maxConcurrent: 1_000 })
      await calendars.put('office', hours)
      const { id } = await made()
      expect(await leased()).toEqual([id])
      const calendar = { ...hours, zone }
      for (let at = startAt; at < startAt + 5 * day; at += 45 * minute) {
        ward().clock.set(at)
        await ward().store.do(turnHolds, { limit: 100 })
        const one = await made().catch(() => runs.enqueue({ target, calendar: 'office' }))
        const isOpen = openingOfAll({ at, calendars: [{ calendar, isInverted: false }] }).open
        const went = await leased()
        if (!isOpen) expect(went, new Date(at).toISOString()).toEqual([])
        // For two days it is also open when it says so.
        else if (at < startAt + 2 * day) expect(went).toContain(one.id)
      }
      await tick()
      ward().clock.set(startAt + 7 * day)
      await tick()
      expect((await leased()).length).toBeGreaterThan(0)
    })

    it('lets nothing start in closed hours after the clock was set back, and all of it in open ones once a worker has written them', async () => {
      await calendars.put('office', hours)
      const { id: first } = await made()
      expect(await leased()).toEqual([first])
      ward().clock.set(opensAt + 10 * minute)
      await ward().store.do(turnHolds, { limit: 100 })
      const { id } = await made().catch(() => runs.enqueue({ target, calendar: 'office' }))
      // Back into the night that is over, into the one before it, which was never written, and into the open hours of Friday.
      for (const at of [opensAt - 1, startAt - 3 * hour, startAt - 3 * day]) {
        ward().clock.set(at)
        await ward().store.do(turnHolds, { limit: 100 })
        expect(await leased(), new Date(at).toISOString()).toEqual([])
        await tick()
        await ward().store.do(turnHolds, { limit: 100 })
        if (at !== startAt - 3 * day) expect(await leased(), new Date(at).toISOString()).toEqual([])
      }
      expect(await leased()).toEqual([id])
    })

    it('follows an edit in the transaction of the edit', async () => {
      await calendars.put('office', hours)
      const { id } = await made()
      // As a process that dies right after the commit: neither leases nor schedules hear of it.
      await ward().store.do(putCalendar, { name: 'office', hours: { zone, open: ['tue 08:00-18:00'] } }, { actor })
      expect(await leased()).toEqual([])
      await calendars.revert('office')
      expect(await leased()).toEqual([id])
    })
  })

  it('a forced run of a schedule starts in spite of all its calendars, and is recorded; a stop keeps it', async () => {
    await calendars.put('office', hours)
    await calendars.apply({ calendar: 'office' })
    await queues.set('mail', { calendar: 'office' })
    await schedules.create({ name: 'digest', target, queue: 'mail', calendar: 'office', overlap: 'allow' })
    ward().clock.set(closesAt)
    const { id: waits } = await schedules.run('digest')
    await runs.enqueue({ target, queue: 'mail' })
    const { id, beyondCalendars } = await schedules.run('digest', { force: true })
    expect(beyondCalendars).toBe(true)
    await holds.put({ on: 'queue:mail', reason: 'why', for: '1m' })
    expect(await leased('mail')).toEqual([])
    expect(await runs.explain(id)).toMatchObject({ code: 'held-by', sentence: expect.stringContaining('why') })
    ward().clock.set(closesAt + minute)
    expect(await runs.explain(waits)).toMatchObject({
      code: 'held-by',
      unblock: expect.arrayContaining([expect.objectContaining({ command: 'belfry schedule run digest --force' })]),
    })
    const plan = await sched.plan({ queue: 'mail', kinds: ['handler'] })
    expect(plan.leases).toMatchObject([{ runId: id }])
    expect(await leased('mail')).toEqual([id])
    expect(await leased('mail')).toEqual([])
    expect(await runs.get(id)).toMatchObject({ calendar: ['!'] })
  })

  describe.each([
    [
      'at its closing',
      async (): Promise<void> => {
        ward().clock.set(closesAt)
        await ward().store.do(turnHolds, { limit: 100 })
      },
    ],
    [
      'when it is closed by an edit',
      async (): Promise<void> => void (await calendars.put('office', { zone, open: ['tue 08:00-18:00'] })),
    ],
  ] as const)('running work %s', (_, close) => {
    it('is given back uncounted where it or its queue says so, finishes otherwise, and goes on where it was forced', async () => {
      await calendars.put('office', hours)
      await queues.set('default', { maxConcurrent: 10 })
      await queues.set('mail', { calendar: 'office', atClose: 'release', maxConcurrent: 10 })
      await schedules.create({ name: 'digest', target, calendar: 'office', atClose: 'release', overlap: 'allow' })
      const made = [
        await schedules.run('digest'),
        await runs.enqueue({ target, calendar: 'office', atClose: 'release' }),
        await runs.enqueue({ target, calendar: 'office' }),
        await schedules.run('digest', { force: true }),
        await runs.enqueue({ target, queue: 'mail' }),
        await runs.enqueue({ target, queue: 'mail', atClose: 'finish' }),
      ].map(({ id }) => id)
      const held = [...(await ward().lease()), ...(await ward().lease('mail'))]
      expect(held.map(({ runId }) => runId)).toEqual(made)
      await close()
      const renewals = await ward().store.renew(held, minute)
      const asked = renewals.filter((one) => one.renewed && one.releaseRequestedAt !== null).map(({ runId }) => runId)
      expect(asked).toEqual([made[0], made[1], made[4]])
      const back = held.filter(({ runId }) => asked.includes(runId))
      await ward().store.settle(
        back.map(({ runId, fence, scheduleId }) => ({ runId, fence, scheduleId, outcome: { kind: 'forced-stop' } })),
      )
      for (const id of asked)
        expect(await ward().store.look(findRun, id)).toMatchObject({ status: 'ready', attempts: 0, fence: 1 })
      expect([...(await leased()), ...(await leased('mail'))]).toEqual([])
      expect(await runs.explain(asked[0] ?? '')).toMatchObject({ code: 'held-by' })
    })
  })

  it('a closing cannot be lifted by hand', async () => {
    await calendars.put('office', hours)
    await runs.enqueue({ target, calendar: 'office' })
    const [first] = await holds.list({})
    expect(first).toMatchObject({
      on: 'calendar:office',
      reason: 'calendar',
      from: closesAt,
      until: opensAt,
      note: 'office',
    })
    expect(await errorOf(holds.lift(first?.id ?? ''))).toMatchObject({ code: 'conflict' })
  })

  it('an inverted calendar and a second one are open together only while both allow it', async () => {
    await calendars.put('office', hours)
    await calendars.put('noon', { zone, open: ['mon-sun 12:00-14:00'] })
    const { id } = await runs.enqueue({ target, calendar: ['office', '!noon'] })
    ward().clock.set(startAt + 2 * hour)
    expect(await leased()).toEqual([])
    expect(await runs.explain(id)).toMatchObject({
      sentence: 'Calendar noon is open, and must be closed.',
      waiting: { until: startAt + 4 * hour },
    })
    ward().clock.set(startAt + 4 * hour)
    expect(await leased()).toEqual([id])
  })

  describe('a schedule', () => {
    const hourly = { cron: '0 * * * *', zone: 'UTC', target, overlap: 'allow' } as const
    const next = async () => (await ward().store.look(findSchedule, 'digest'))?.nextRunAt

    it('fires in open hours only, and what it passes ends as skipped by the calendar, in one row', async () => {
      await calendars.put('office', hours)
      await schedules.create({ name: 'digest', ...hourly, calendar: 'office' })
      ward().clock.set(closesAt - hour)
      expect((await ward().store.fireDue({ limit: 10 })).runs).toHaveLength(1)
      expect(await next()).toBe(opensAt)
      expect(await schedules.explain('digest')).toMatchObject({
        code: 'due-later',
        next: { at: opensAt, source: 'clamped-calendar' },
        rules: [{ rule: 'calendar', effect: 'moved' }],
        rederived: { answer: 'same' },
      })
      ward().clock.set(opensAt)
      const { runs: fired, skipped } = await ward().store.fireDue({ limit: 10 })
      expect(fired).toMatchObject([{ occurrenceAt: opensAt }])
      expect(skipped).toMatchObject([{ reason: 'calendar', count: 14 }])
      const ledger = await ward().store.look(listLedger, 'digest')
      expect(ledger.map(({ from, to, count, outcome }) => [from, to, count, outcome])).toContainEqual([
        closesAt,
        opensAt - hour,
        14,
        'calendar',
      ])
      expect((await schedules.explain('digest')).last).toContainEqual(expect.objectContaining({ outcome: 'calendar' }))
    })

    it('is asked again when a calendar changes, in steps that another process goes on with after a crash', async () => {
      await calendars.put('office', hours)
      await schedules.create({ name: 'digest', ...hourly, calendar: 'office' })
      for (let index = 0; index < 120; index++)
        await schedules.create({ name: `s${index}`, ...hourly, calendar: 'office' })
      ward().clock.set(closesAt)
      await ward().store.fireDue({ limit: 1000 })
      expect(await next()).toBe(opensAt)
      await ward().store.do(putCalendar, { name: 'office', hours: { zone, open: ['mon-sun 00:00-24:00'] } }, { actor })
      expect(await next()).toBe(opensAt)
      await tick()
      expect(await next()).toBe(closesAt + hour)
      const last = await ward().store.look(findSchedule, 's119')
      expect(last?.nextRunAt).toBe(closesAt + hour)
      expect(await ward().sql('select * from belfry.calendar_asking')).toEqual([])
      expect(await calendars.put('office', hours)).toMatchObject({ answer: 'updated', schedules: 121 })
      expect(await next()).toBe(opensAt)
    })

    it('follows the calendars of its queue and its namespace too, from when they are set until they are taken away', async () => {
      await calendars.put('office', hours)
      ward().clock.set(closesAt + minute)
      await schedules.create({ name: 'digest', ...hourly, queue: 'mail' })
      expect(await next()).toBe(closesAt + hour)
      await queues.set('mail', { calendar: ['office'] })
      expect(await next()).toBe(opensAt)
      await queues.set('mail', { calendar: null })
      expect(await next()).toBe(closesAt + hour)
      await calendars.apply({ calendar: ['office'] })
      expect(await next()).toBe(opensAt)
      expect(await calendars.apply({ none: true })).toEqual({ calendar: [], schedules: 1 })
      expect(await next()).toBe(closesAt + hour)
      expect(await holds.list({})).toEqual([])
    })
  })
})
