import { expect, it } from 'vitest'
import { backfillSchedule } from '../../../src/parts/backfill/backfill-schedule.ts'
import { overdueAgainMs } from '../../../src/parts/notices/notice.ts'
import { noticeOverdue } from '../../../src/parts/notices/notice-overdue.ts'
import { listNotices } from '../../../src/parts/notices/read-notices.ts'
import { putHold } from '../../../src/store/holds/put-hold.ts'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { deleteSchedule } from '../../../src/store/schedules/delete-schedule.ts'
import { pauseSchedule, resumeSchedule } from '../../../src/store/schedules/pause-schedule.ts'
import { stop } from '../../holding.ts'
import { actor, hour, minute, onEachStore, startAt } from '../../store/schedule-stage.ts'
import { http, told, words } from './stage.ts'

onEachStore('what is overdue', (stage) => {
  /** One look at all there is, in steps of so many. */
  const look = async (limit = 100) => {
    for (let from: string | null | undefined; from !== null; ) {
      from = (await stage().store.do(noticeOverdue, { limit, ...(from !== undefined && { from }) })).next
    }
    return words(stage())
  }
  /** It is told when it is found twice. */
  const overdue = async (limit = 100) => {
    expect(await look(limit)).toEqual([])
    stage().pass(overdueAgainMs)
    return look(limit)
  }
  const notify = { onOverdue: http('o'), onRecover: http('r') }

  it('is told once where nobody fires it, and so is that it is well again', async () => {
    await stage().put(notify)
    stage().to(startAt + hour + 5 * minute - 1)
    expect(await look()).toEqual([])
    stage().pass(1)
    expect(await overdue()).toEqual(['overdue of report to o'])
    stage().pass(20 * minute)
    expect(await overdue()).toEqual([])
    await stage().fire()
    await stage().end(await stage().leaseOne())
    expect(await look()).toEqual(['recover of report to r'])
    expect(await look()).toEqual([])
    stage().to(startAt + 2 * hour + 5 * minute)
    expect(await overdue()).toEqual(['overdue of report to o'])
  })

  it('is not told where somebody starts it after the first look: it was just resumed, or the workers are just back', async () => {
    await stage().put({ maxLatenessMs: 10 * hour, ...notify })
    stage().to(startAt + hour + 10 * minute)
    expect(await look()).toEqual([])
    await stage().fire()
    await stage().store.do(pauseSchedule, 'report', { reason: 'r' })
    stage().pass(90 * minute)
    await stage().store.do(resumeSchedule, 'report')
    expect(await look()).toEqual([])
    await stage().leaseOne()
    stage().pass(minute)
    expect(await look()).toEqual([])
  })

  it('was forgotten when it is found once more hours later', async () => {
    await stage().put(notify)
    stage().to(startAt + hour + 10 * minute)
    expect(await look()).toEqual([])
    await stage().fire()
    await stage().end(await stage().leaseOne())
    stage().to(startAt + 3 * hour)
    expect(await overdue()).toEqual(['overdue of report to o'])
  })

  it('is told where nobody starts its run, however many other runs there are to look at', async () => {
    for (const name of ['a', 'b', 'c']) await stage().put({ name, overlap: 'allow' })
    await stage().put({ name: 'd', ...notify })
    await stage().fireAt(startAt + hour)
    for (const lease of await stage().lease(1)) expect(lease.fence).toBe(1)
    stage().pass(5 * minute)
    expect(await look(1)).toEqual([])
    stage().pass(overdueAgainMs)
    for (let from: string | null | undefined; from !== null; ) {
      from = (await stage().store.do(noticeOverdue, { limit: 1, ...(from !== undefined && { from }) })).next
    }
    const [notice, ...others] = await told(stage())
    expect(others).toEqual([])
    expect(notice).toMatchObject({ notice: { event: 'overdue', schedule: 'd', attempt: null } })
    expect(await stage().run(notice?.notice.run ?? '')).toMatchObject({ schedule: 'd', status: 'ready' })
    expect(await overdue()).toEqual([])
  })

  it('is told though as many others are late as one step looks at, of which nobody wants to hear', async () => {
    for (const name of ['a', 'b', 'c']) await stage().put({ name })
    await stage().put({ name: 'd', ...notify })
    stage().to(startAt + hour + 10 * minute)
    expect(await overdue(2)).toEqual(['overdue of d to o'])
  })

  it('is over, and told so, though as many others are still overdue as one step looks at', async () => {
    for (const name of ['a', 'b', 'c']) await stage().put({ name, ...notify, queue: 'nobody' })
    await stage().put({ name: 'd', ...notify })
    await stage().fireAt(startAt + hour)
    stage().pass(10 * minute)
    expect(await overdue()).toHaveLength(4)
    await stage().end(await stage().leaseOne())
    expect(await look(2)).toEqual(['recover of d to r'])
  })

  it('is nothing that waits for a run of its own schedule, or that makes up for the past', async () => {
    await stage().put({ name: 'queued', overlap: 'queue', ...notify })
    await stage().put({ name: 'serial', timing: { everyMs: 100 * hour, from: 'start' }, ...notify })
    await stage().put({ name: 'beside', timing: { everyMs: 100 * hour, from: 'start' }, overlap: 'allow', ...notify })
    await stage().fireAt(startAt + hour)
    await stage().leaseOne()
    await stage().fireAt(startAt + 2 * hour)
    stage().to(startAt + 301 * hour)
    await stage().sql(`update belfry.schedule set next_run_at = null, next_due_at = null, wake_at = null`)
    for (const name of ['serial', 'beside']) {
      const made = await stage().store.do(backfillSchedule, name, { from: startAt, to: startAt + 300 * hour })
      expect(made).toMatchObject({ made: [{}, {}] })
    }
    await stage().lease(1)
    stage().pass(10 * minute)
    expect(await overdue()).toEqual([])
  })

  it('is nothing whose queue somebody has paused, and what was told of is not over for it', async () => {
    await stage().put({ name: 'a', ...notify })
    await stage().put({ name: 'b', ...notify, queue: 'other' })
    await stage().fireAt(startAt + hour)
    await stage().store.do(setQueue, 'default', { paused: { reason: 'r' }, actor })
    stage().pass(10 * minute)
    expect(await overdue()).toEqual(['overdue of b to o'])
    await stage().store.do(setQueue, 'other', { paused: { reason: 'r' }, actor })
    expect(await overdue()).toEqual([])
    await stage().store.do(setQueue, 'other', { paused: false, actor })
    await stage().lease(1, 'other')
    expect(await look()).toEqual(['recover of b to r'])
  })

  it('is nothing that is paused, at work, or over', async () => {
    await stage().put({ name: 'held', ...notify })
    await stage().put({ name: 'asleep', ...notify })
    await stage().put({ name: 'working', ...notify, priority: 1 })
    await stage().store.do(pauseSchedule, 'asleep', { reason: 'r' })
    await stage().fireAt(startAt + hour)
    await stage().lease(1)
    await stage().store.do(pauseSchedule, 'held', { reason: 'r', until: startAt + 100 * hour })
    stage().pass(30 * minute)
    expect(await overdue()).toEqual([])
  })

  it('ends without a word where somebody pauses or deletes it', async () => {
    await stage().put({ name: 'a', ...notify })
    await stage().put({ name: 'b', ...notify })
    stage().to(startAt + hour + 5 * minute)
    expect(await overdue()).toHaveLength(2)
    await stage().store.do(pauseSchedule, 'a', { reason: 'r' })
    await stage().store.do(deleteSchedule, 'b')
    expect(await overdue()).toEqual([])
    const isOpen = async () => (await stage().store.look(listNotices, { limit: 10 })).told.map((one) => one.isOpen)
    expect(await isOpen()).toEqual([false, false])
  })

  it('is nothing of a stopped namespace, and refuses a place that no step has answered', async () => {
    await stage().put({ onOverdue: http('o') })
    stage().to(startAt + 2 * hour)
    await stage().store.do(putHold, stop)
    expect(await overdue()).toEqual([])
    for (const from of ['', 'x', '[1]', 'null', '{}', '{"late":[1,1],"live":["1",1],"over":null}']) {
      await expect(stage().store.do(noticeOverdue, { limit: 1, from })).rejects.toThrow(/the `next` of the step before/)
    }
  })
})
