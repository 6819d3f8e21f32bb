import { expect, it } from 'vitest'
import type { PutOptions } from '../../src/store/port.ts'
import { setQueue } from '../../src/store/queues/set-queue.ts'
import { findSchedule, listLedger, listSchedules, scheduleVersions } from '../../src/store/reads/find-schedule.ts'
import { deleteSchedule } from '../../src/store/schedules/delete-schedule.ts'
import { pauseSchedule, resumeSchedule } from '../../src/store/schedules/pause-schedule.ts'
import { repair } from '../../src/store/schedules/repair.ts'
import { runNow } from '../../src/store/schedules/run-now.ts'
import { listAudit } from './list-audit.ts'
import { actor, hour, hourly, minute, onEachStore, startAt } from './schedule-stage.ts'

onEachStore('put', (stage) => {
  it('creates, then answers what changed, and changes nothing when nothing differs', async () => {
    expect(await stage().put({})).toMatchObject({ answer: 'created', schedule: { version: 1 } })
    expect(await stage().put({})).toMatchObject({ answer: 'unchanged', changed: [], schedule: { version: 1 } })
    expect(await stage().put({ priority: 5, target: { handler: 'other' } })).toMatchObject({
      answer: 'updated',
      changed: ['target', 'priority'],
      schedule: { version: 2 },
    })
    expect((await stage().store.look(scheduleVersions, 'report')).map(({ version }) => version)).toEqual([2, 1])
    expect((await stage().store.look(listAudit, 'schedule report')).map(({ verb }) => verb).sort()).toEqual([
      'schedule.create',
      'schedule.update',
    ])
  })

  it('create refuses a name that has another spec, and tells what differs', async () => {
    await stage().put({}, { mode: 'create' })
    expect(await stage().put({}, { mode: 'create' })).toMatchObject({ answer: 'unchanged' })
    const refused = await stage().put({ priority: 5 }, { mode: 'create' })
    expect(refused).toMatchObject({ answer: 'exists', changed: ['priority'], schedule: { version: 1 } })
    expect((await stage().view()).spec.priority).toBeUndefined()
  })

  it('does not write over a version that the caller has not seen', async () => {
    await stage().put({})
    await stage().put({ priority: 1 })
    expect(await stage().put({ priority: 2 }, { ifVersion: 1 })).toMatchObject({ answer: 'version-differs' })
    expect(await stage().put({ priority: 2 }, { ifVersion: 2 })).toMatchObject({ answer: 'updated' })
    await expect(stage().put({ name: 'new' }, { ifVersion: 1 })).rejects.toMatchObject({ code: 'not-found' })
  })

  it('does not write over a schedule that was made anew under the name of the one that the caller has seen', async () => {
    const { schedule } = await stage().put({})
    await stage().store.do(deleteSchedule, schedule.spec.name)
    const anew = await stage().put({})
    const { id } = anew.schedule
    for (const spec of [{}, { priority: 1 }]) {
      expect(await stage().put(spec, { ifId: schedule.id, ifVersion: 1 })).toMatchObject({
        answer: 'version-differs',
        schedule: { id },
      })
    }
    expect(await stage().put({ priority: 1 }, { ifId: id, ifVersion: 1 })).toMatchObject({ answer: 'updated' })
    await expect(stage().put({ name: 'new' }, { ifId: id })).rejects.toMatchObject({ code: 'not-found' })
  })

  it('takes no text that a database would keep otherwise; all else is judged before it', async () => {
    await expect(stage().put({ name: 'a\0b' })).rejects.toThrow(/name has a NUL/)
    await expect(stage().put({ queue: '' })).rejects.toThrow(/queue is empty/)
    expect(await stage().store.look(listSchedules)).toEqual([])
  })

  it.each<[object, RegExp]>([
    [{ mode: 'creat' }, /mode is "creat"; it must be one of create, put/],
    [{ mode: undefined }, /mode is undefined/],
    [{ actor: undefined }, /actor is missing/],
    [{ actor: { name: 'x', door: '' } }, /actor\.door is empty/],
    [{ ifVersion: '2' }, /ifVersion is 2/],
    [{ ifversion: 2 }, /options\.ifversion is not known; it must be one of mode, actor, reason, ifVersion/],
  ])('options that would be misread are refused: %j', async (options, message) => {
    const put = stage().put({}, options as Partial<PutOptions>)
    await expect(put).rejects.toMatchObject({ code: 'invalid', message: expect.stringMatching(message) })
    expect(await stage().store.look(listSchedules)).toEqual([])
  })

  it('an at that is over can still be described anew, and is not planned anew by it', async () => {
    const timing = { at: startAt + hour }
    await stage().put({ timing })
    await stage().runAt(startAt + hour)
    stage().pass(minute)
    expect(await stage().put({ timing, description: 'done' })).toMatchObject({ answer: 'updated' })
    expect((await stage().view()).nextRunAt).toBeNull()
  })

  it('law 8: a new timing takes effect at once and is measured from the edit', async () => {
    await stage().put({ timing: { everyMs: 10 * hour } })
    stage().pass(hour)
    await stage().put({ timing: { everyMs: hour } })
    expect((await stage().view()).nextRunAt).toBe(startAt + 2 * hour)
    await stage().put({ timing: { everyMs: 30 * minute, from: 'start' } })
    expect((await stage().view()).nextRunAt).toBe(startAt + hour + 30 * minute)
    await stage().put({ timing: hourly })
    expect((await stage().view()).nextRunAt).toBe(startAt + 2 * hour)
  })

  it('an edit of anything else moves nothing', async () => {
    await stage().put({ timing: { everyMs: hour } })
    stage().pass(30 * minute)
    await stage().put({ timing: { everyMs: hour }, priority: 3 })
    expect((await stage().view()).nextRunAt).toBe(startAt + hour)
    const { runs } = await stage().fireAt(startAt + hour)
    await stage().put({ timing: { everyMs: hour }, priority: 4 })
    expect(await stage().view()).toMatchObject({ nextRunAt: null, waitsFor: runs[0]?.id })
  })

  it('an edit changes later runs, and what is due already fires as it was', async () => {
    await stage().put({ target: { handler: 'old' } })
    stage().to(startAt + hour)
    await stage().put({ target: { handler: 'new' }, timing: { cron: '30 * * * *', zone: 'UTC' } })
    const lease = await stage().leaseOne()
    expect(lease).toMatchObject({ occurrenceAt: startAt + hour, target: { handler: 'old' } })
    await stage().end(lease)
    await stage().fireAt(startAt + hour + 30 * minute)
    expect(await stage().leaseOne()).toMatchObject({ target: { handler: 'new' } })
    expect(await stage().ledger()).toMatchObject([{ outcome: 'completed' }, { outcome: 'fired' }])
  })

  it('an edit of something else while an occurrence is due does not lose it', async () => {
    await stage().put({})
    stage().to(startAt + hour + 10)
    await stage().put({ priority: 5 })
    expect((await stage().fire()).runs).toMatchObject([{ occurrenceAt: startAt + hour }])
  })

  it('an edit of the timing during a pause ends what the old one let pass', async () => {
    await stage().put({})
    await stage().store.do(pauseSchedule, 'report', { reason: 'no' })
    stage().to(startAt + 2 * hour + minute)
    await stage().put({ timing: { cron: '30 * * * *', zone: 'UTC' } })
    expect(await stage().ledger()).toMatchObject([{ outcome: 'paused', count: 2, to: startAt + 2 * hour }])
    stage().to(startAt + 4 * hour)
    await stage().store.do(resumeSchedule, 'report')
    expect(await stage().ledger()).toMatchObject([
      { outcome: 'paused', count: 4, to: startAt + 3 * hour + 30 * minute },
    ])
    expect((await stage().view()).nextRunAt).toBe(startAt + 4 * hour + 30 * minute)
  })

  it('a fixed rate begins at its startAt, and an edit of every begins a new grid', async () => {
    const begins = startAt + 10 * minute
    await stage().put({ timing: { everyMs: hour, from: 'start' }, startAt: begins })
    expect((await stage().view()).nextRunAt).toBe(begins)
    stage().to(startAt + 20 * minute)
    await stage().fire()
    await stage().put({ timing: { everyMs: 2 * hour, from: 'start' }, startAt: begins })
    expect((await stage().view()).nextRunAt).toBe(startAt + 20 * minute + 2 * hour)
  })
})

onEachStore('delete', (stage) => {
  it('law 11: frees the name at once, ends what waits and lets what is leased finish, moving nothing', async () => {
    await stage().put({ overlap: 'allow', timing: { everyMs: hour } })
    await stage().fireAt(startAt + hour)
    const lease = await stage().leaseOne()
    await stage().store.do(runNow, 'report')
    const { id } = await stage().view()
    expect(await stage().store.do(deleteSchedule, 'report', { actor })).toBe('deleted')
    expect(await stage().store.look(findSchedule, 'report')).toBeNull()
    expect((await stage().put({})).schedule.id).not.toBe(id)

    expect(await stage().lease()).toEqual([])
    const before = await stage().store.look(findSchedule, id)
    expect(before).toMatchObject({ deletedAt: startAt + hour, wakeAt: null, nextRunAt: null, waitsFor: null })
    await stage().fail(lease)
    expect(await stage().store.look(findSchedule, id)).toEqual(before)
    expect((await stage().run(lease.runId)).status).toBe('failed')
    expect(await stage().store.look(listLedger, id)).toMatchObject([{ outcome: 'failed' }])
  })

  it('law 11: ready, waiting and held runs end cancelled: schedule-deleted; parked ones stay', async () => {
    await stage().put({ overlap: 'queue', queueMax: 3, onExhausted: 'park', maxLatenessMs: 9 * hour })
    await stage().fireAt(startAt + hour)
    const parked = await stage().leaseOne()
    await stage().fail(parked)
    const ready = await stage().fireAt(startAt + 2 * hour)
    const behind = await stage().fireAt(startAt + 3 * hour)
    await stage().store.do(pauseSchedule, 'report', { reason: 'no' })
    await stage().store.do(deleteSchedule, 'report')
    for (const { runs } of [ready, behind]) {
      expect(await stage().run(runs[0]?.id)).toMatchObject({ status: 'cancelled', end: { reason: 'schedule-deleted' } })
    }
    expect((await stage().run(parked.runId)).status).toBe('parked')
    expect(await stage().sql('select * from belfry.schedule_run')).toEqual([])
    expect(await stage().store.look(findSchedule, 'report')).toBeNull()
  })

  it('law 11: on request leased runs are asked to end', async () => {
    await stage().put({})
    await stage().fireAt(startAt + hour)
    const { runId } = await stage().leaseOne()
    await stage().store.do(deleteSchedule, 'report', { cancelLeased: true })
    expect((await stage().run(runId)).lease).toMatchObject({ cancelReason: 'schedule-deleted' })
  })

  it('law 11: what was due and not fired ends in the ledger, and does not come back', async () => {
    await stage().put({})
    const { id } = await stage().view()
    stage().to(startAt + 2 * hour)
    await stage().store.do(deleteSchedule, 'report')
    expect((await stage().fire()).schedules).toBe(0)
    expect(await stage().store.do(repair, { limit: 10 })).toEqual([])
    expect(await stage().store.look(listLedger, id)).toMatchObject([{ outcome: 'schedule-deleted', count: 2 }])
    expect(await stage().store.do(deleteSchedule, 'report')).toBe('not-found')
  })

  it('deleting frees the key that a waiting run had room under', async () => {
    await stage().store.do(setQueue, 'default', { policy: { maxConcurrentPerKey: 1 }, actor })
    await stage().put({ concurrencyKey: 'k' })
    await stage().fireAt(startAt + hour)
    const [other] = await stage().store.enqueue([{ concurrencyKey: 'k', target: { handler: 'report' }, priority: 500 }])
    await stage().store.do(deleteSchedule, 'report')
    expect((await stage().leaseOne()).runId).toBe(other?.id)
  })
})
