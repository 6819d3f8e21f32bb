import { expect, it } from 'vitest'
import { resetSchedule } from '../../src/store/schedules/reset-schedule.ts'
import { runNow } from '../../src/store/schedules/run-now.ts'
import { broken, http, told } from '../parts/notices/stage.ts'
import { actor, hour, minute, onEachStore, startAt } from './schedule-stage.ts'

onEachStore('a run by hand', (stage) => {
  it('that fails raises no failure notification of its schedule and moves no failure count', async () => {
    await stage().put({ onFailure: http('a'), onRecover: http('a'), pauseAfterFailures: 1 })
    await stage().store.do(runNow, 'report')
    await stage().end(await stage().leaseOne(), broken)
    expect(await told(stage())).toEqual([])
    expect(await stage().view()).toMatchObject({ failureCount: 0, disabled: null })
    await stage().runAt(startAt + hour, broken)
    expect((await told(stage())).map(({ notice }) => [notice.event, notice.failuresInARow])).toEqual([['failure', 1]])
  })

  it('that completes neither mends the count of its schedule nor is told as its recovery', async () => {
    await stage().put({ onFailure: http('a'), onRecover: http('a') })
    await stage().runAt(startAt + hour, broken)
    await told(stage())
    await stage().store.do(runNow, 'report')
    await stage().end(await stage().leaseOne())
    expect(await told(stage())).toEqual([])
    expect((await stage().view()).failureCount).toBe(1)
  })
})

onEachStore('the reset of a schedule', (stage) => {
  it('sets the failures in a row to 0, and what was backed off is planned as if it had never failed', async () => {
    await stage().put({ timing: { everyMs: hour } })
    await stage().runAt(startAt + hour, broken)
    expect(await stage().view()).toMatchObject({ failureCount: 1, nextRunAt: startAt + 3 * hour })
    stage().pass(minute)
    expect(await stage().store.do(resetSchedule, 'report', { actor })).toEqual({ answer: 'reset', failureCount: 1 })
    expect(await stage().view()).toMatchObject({ failureCount: 0, nextRunAt: startAt + 2 * hour })
    expect(await stage().sql(`select verb, subject from belfry.audit where verb = 'schedule.reset'`)).toEqual([
      { verb: 'schedule.reset', subject: 'schedule report' },
    ])
  })

  it('plans at once what its backoff has put off past its own instant', async () => {
    await stage().put({ timing: { everyMs: hour } })
    await stage().runAt(startAt + hour, broken)
    stage().to(startAt + 2 * hour + 30 * minute)
    await stage().store.do(resetSchedule, 'report')
    expect((await stage().view()).nextRunAt).toBe(startAt + 2 * hour + 30 * minute)
    expect((await stage().fire()).runs).toHaveLength(1)
  })

  it('leaves a pause that the failures brought about, and changes nothing of one without failures', async () => {
    await stage().put({ pauseAfterFailures: 1 })
    await stage().runAt(startAt + hour, broken)
    await stage().store.do(resetSchedule, 'report')
    expect(await stage().view()).toMatchObject({ failureCount: 0, disabled: { reason: 'failed once' } })
    expect(await stage().store.do(resetSchedule, 'report')).toEqual({ answer: 'reset', failureCount: 0 })
    expect(await stage().store.do(resetSchedule, 'nobody')).toEqual({ answer: 'not-found' })
  })
})
