import { expect, it } from 'vitest'
import type { OpeningHours } from '../../../../src/core/opening/opening.ts'
import { openingOfAll } from '../../../../src/core/opening/opening-of-all.ts'
import { putCalendar } from '../../../../src/parts/admission/calendars/write-calendar.ts'
import { askAgain } from '../../../../src/store/calendars/ask-again.ts'
import { renewClosings } from '../../../../src/store/calendars/use-calendars.ts'
import { listHolds } from '../../../../src/store/holds/list-holds.ts'
import { turnHolds } from '../../../../src/store/holds/turn-holds.ts'
import { setQueue } from '../../../../src/store/queues/set-queue.ts'
import { listSchedules } from '../../../../src/store/reads/find-schedule.ts'
import { putSchedule } from '../../../../src/store/schedules/put-schedule.ts'
import { actor, hour, inEachWard } from '../../../operations/store/ward.ts'

const hoursOf = (turn: number): OpeningHours => ({
  zone: 'UTC',
  open: [`mon-fri ${String(turn % 12).padStart(2, '0')}:00-18:00`],
})

inEachWard((ward) => {
  it('whoever edits, follows, renews and fires at once: in the end holds and schedules have the last hours', async () => {
    const { store } = ward()
    const target = { handler: 'report' }
    const put = (turn: number) => store.do(putCalendar, { name: 'office', hours: hoursOf(turn) }, { actor })
    const doings: (() => Promise<unknown>)[] = []
    for (let turn = 0; turn < 40; turn++) {
      const name = `s${turn % 8}`
      const calendar = turn % 2 === 0 ? ['office'] : ['office', `!never${turn % 3}`]
      const timing = { cron: `${turn} * * * *`, zone: 'UTC' }
      const spec = { name, timing, target, queue: `q${turn % 3}`, options: { calendar } }
      doings.push(
        () => put(turn),
        () => store.do(putSchedule, spec, { mode: 'put', actor }),
        () => store.enqueue([{ target, queue: `q${turn % 3}`, options: { calendar } }]),
        () => store.do(setQueue, `q${turn % 3}`, { policy: { calendar: turn % 4 === 0 ? null : ['office'] }, actor }),
        () => store.do(renewClosings, { scope: 'calendar', subject: 'office', calendar: 'office' }),
        () => store.do(askAgain, { limit: 3 }),
        () => store.do(turnHolds, { limit: 10 }),
        () => store.fireDue({ limit: 10 }),
      )
    }
    await put(100)
    for (const index of [0, 1, 2]) {
      await store.do(
        putCalendar,
        { name: `never${index}`, hours: { zone: 'UTC', open: ['sun 00:00-00:01'] } },
        { actor },
      )
    }
    await Promise.all(doings.map((doing) => doing()))
    await put(101)
    while ((await store.do(askAgain, { limit: 3 })).more);

    for (const { spec, calendars } of await store.look(listSchedules, { limit: 100 })) {
      expect(calendars?.find(({ name }) => name === 'office')?.calendar, spec.name).toEqual(hoursOf(101))
    }
    const holds = await store.look(listHolds)
    const uses = await ward().sql('select scope, subject, calendar from belfry.calendar_use order by scope, subject')
    expect(uses.length).toBeGreaterThan(3)
    const now = ward().clock.now()
    for (const { scope, subject, calendar } of uses) {
      const own = holds.filter((hold) => hold.scope === scope && hold.subject === subject && hold.reason === 'calendar')
      const calendars = String(calendar)
        .split(',')
        .map((use) => {
          const isOffice = use === 'office'
          return {
            calendar: isOffice ? hoursOf(101) : { zone: 'UTC', open: ['sun 00:00-00:01'] },
            isInverted: !isOffice,
          }
        })
      for (let at = now; at < now + 48 * hour; at += hour / 2) {
        const isHeld = own.some(({ from, until }) => from <= at && (until === null || at < until))
        expect(isHeld, `${subject} at ${new Date(at).toISOString()}`).toBe(!openingOfAll({ at, calendars }).open)
      }
    }
  })
})
