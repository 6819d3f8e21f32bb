import { expect, it } from 'vitest'
import { putCalendar, usersOf } from '../../../src/parts/admission/calendars/write-calendar.ts'
import { setNotify } from '../../../src/parts/notices/set-notify.ts'
import { tellHeld } from '../../../src/parts/notices/tell-held.ts'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { actor, hour, minute, onEachStore, startAt } from '../../store/schedule-stage.ts'
import { http, told, words, work } from './stage.ts'

/** The clock stands at nine on a Monday in UTC. */
const evening = startAt + 13 * hour
const morning = startAt + 22 * hour

onEachStore('quiet hours', (stage) => {
  const at = async (instant: number, queue = 'default', onExhausted: 'park' | 'fail' = 'fail') => {
    stage().to(instant)
    await work(stage(), onExhausted, queue)
  }

  async function quietAtNight(): Promise<void> {
    const hours = { zone: 'UTC', open: ['mon-sun 22:00-07:00'] }
    await stage().store.do(putCalendar, { name: 'night', hours }, { actor })
    await stage().store.do(setNotify, { onFailure: http('f'), onPark: http('p'), quiet: ['night'] }, { actor })
    await stage().store.do(setQueue, 'pager', { policy: { urgent: true }, actor })
    await stage().store.do(setQueue, 'other', { actor })
  }

  it('hold notifications back, and in the morning each receiver gets one with the count; urgent ones are sent', async () => {
    await quietAtNight()
    await at(evening - 1)
    expect(await words(stage())).toEqual(['failure of queue default to f'])
    await at(evening + hour, 'other')
    await at(evening + hour, 'other', 'park')
    await at(evening + 2 * hour)
    await at(evening + 3 * hour)
    expect(await words(stage())).toEqual([])
    await at(evening + 3 * hour, 'pager')
    expect(await words(stage())).toEqual(['failure of queue pager to f'])
    stage().to(morning - 1)
    expect(await stage().store.do(tellHeld)).toEqual([])
    stage().to(morning)
    await stage().store.do(tellHeld)
    const sent = await told(stage())
    expect(sent.map(({ notice, target }) => [target, notice.event, notice.suppressed, notice.reason])).toEqual(
      expect.arrayContaining([
        [http('f'), 'held', 3, 'Since 2026-01-05T23:00:00.000Z: 3 of failure. See them with belfry notices.'],
        [http('p'), 'held', 1, 'Since 2026-01-05T23:00:00.000Z: 1 of park. See them with belfry notices.'],
      ]),
    )
    expect(sent).toHaveLength(2)
    expect(await stage().store.do(tellHeld)).toEqual([])
    await at(morning + minute)
    expect(await words(stage())).toEqual(['failure of queue default to f'])
  })

  it('name their calendar as in use, refuse an unknown one, and end when they are taken away', async () => {
    await quietAtNight()
    expect(await stage().store.look(usersOf, 'night')).toEqual({ notifications: ['quiet'] })
    const unknown = stage().store.do(setNotify, { quiet: ['nigth'] }, { actor })
    await expect(unknown).rejects.toThrow(/quiet names the calendar "nigth", which does not exist; it must be night/)
    await at(evening + hour)
    await stage().store.do(setNotify, { quiet: null }, { actor })
    await stage().store.do(tellHeld)
    expect(await words(stage())).toEqual(['held of queue notices to f'])
  })
})
