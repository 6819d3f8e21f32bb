import { expect, it } from 'vitest'
import { resetRun } from '../../src/store/runs/reset-run.ts'
import { retryRun } from '../../src/store/runs/retry-run.ts'
import { pauseSchedule, resumeSchedule } from '../../src/store/schedules/pause-schedule.ts'
import { repair } from '../../src/store/schedules/repair.ts'
import { runNow } from '../../src/store/schedules/run-now.ts'
import { setHint } from '../../src/store/schedules/set-hint.ts'
import { hour, minute, onEachStore, startAt } from './schedule-stage.ts'

const broken = { kind: 'failed', reason: 'broken', retryable: false } as const

onEachStore('ends', (stage) => {
  it('the k-th failure in a row makes a fixed delay wait every × 2^k, and a success returns to the base', async () => {
    await stage().put({ timing: { everyMs: hour } })
    let at = startAt + hour
    for (const factor of [2, 4, 8]) {
      await stage().runAt(at, broken)
      at += factor * hour
      expect((await stage().view()).nextRunAt).toBe(at)
    }
    expect((await stage().view()).failureCount).toBe(3)
    await stage().runAt(at)
    expect(await stage().view()).toMatchObject({ failureCount: 0, nextRunAt: at + hour })
  })

  it('a failure moves a fixed rate to the grid point its backoff allows, and the success after it back', async () => {
    await stage().put({ timing: { everyMs: hour, from: 'start' } })
    await stage().runAt(startAt + hour, broken)
    expect((await stage().view()).nextRunAt).toBe(startAt + 3 * hour)
    await stage().runAt(startAt + 3 * hour)
    expect((await stage().view()).nextRunAt).toBe(startAt + 4 * hour)
    expect(await stage().ledger()).toHaveLength(2)
  })

  it('cron is not backed off', async () => {
    await stage().put({})
    await stage().runAt(startAt + hour, broken)
    expect(await stage().view()).toMatchObject({ failureCount: 1, nextRunAt: startAt + 2 * hour })
  })

  it('the end of a cron run leaves the plan alone and is remembered: what is measured from an end counts from it', async () => {
    await stage().put({})
    await stage().fireAt(startAt + hour)
    const before = await stage().view()
    stage().pass(7 * minute)
    await stage().end(await stage().leaseOne())
    const endedAt = startAt + hour + 7 * minute
    expect(await stage().view()).toEqual({ ...before, anchorAt: endedAt })
    const words = { reason: 'r', author: 'a' }
    await stage().store.do(setHint, 'report', {
      kind: 'interval',
      ms: 20 * minute,
      expiresAt: startAt + 3 * hour,
      ...words,
    })
    expect(await stage().view()).toMatchObject({ nextRunAt: endedAt + 20 * minute })
  })

  it('the end of the last occurrence leaves alone that nothing follows, and is remembered', async () => {
    await stage().put({ timing: { at: startAt + hour } })
    await stage().fireAt(startAt + hour)
    const before = await stage().view()
    expect(before).toMatchObject({ nextRunAt: null, wakeAt: null })
    stage().pass(7 * minute)
    await stage().end(await stage().leaseOne())
    const endedAt = startAt + hour + 7 * minute
    expect(await stage().view()).toEqual({ ...before, anchorAt: endedAt })
  })

  it('the last occurrence counts as a failure where it failed', async () => {
    await stage().put({ timing: { everyMs: hour }, maxRuns: 1 })
    await stage().runAt(startAt + hour, broken)
    expect(await stage().view()).toMatchObject({ failureCount: 1, nextRunAt: null })
  })

  it('the end of a cron run ends its failures in a row, and brings back a look that somebody put off', async () => {
    await stage().put({})
    await stage().runAt(startAt + hour, broken)
    await stage().fireAt(startAt + 2 * hour)
    const lease = await stage().leaseOne()
    await stage().end(lease)
    expect(await stage().view()).toMatchObject({ failureCount: 0, nextRunAt: startAt + 3 * hour })
    await stage().fireAt(startAt + 3 * hour)
    await stage().sql(`update belfry.schedule set wake_at = ${startAt + 9 * hour}`)
    await stage().end(await stage().leaseOne())
    expect(await stage().view()).toMatchObject({ wakeAt: startAt + 4 * hour })
  })

  it('cancelled, skipped and run-now ends do not count as failures, and do not end a row of them', async () => {
    await stage().put({})
    await stage().runAt(startAt + hour, broken)
    await stage().runAt(startAt + 2 * hour, { kind: 'cancelled' })
    await stage().runAt(startAt + 3 * hour, { kind: 'skipped', reason: 'guard' })
    await stage().store.do(runNow, 'report')
    await stage().fail(await stage().leaseOne())
    expect((await stage().view()).failureCount).toBe(1)
    expect((await stage().ledger()).map(({ outcome }) => outcome)).toEqual(['failed', 'cancelled', 'skipped'])
  })

  it('a run-now end counts for nothing, also where a waiting hint makes us look', async () => {
    await stage().put({})
    const hint = { kind: 'oneshot', at: startAt + minute, expiresAt: startAt + hour, reason: 'r', author: 'a' } as const
    await stage().store.do(setHint, 'report', hint)
    await stage().store.do(runNow, 'report')
    const { anchorAt } = await stage().view()
    stage().pass(10)
    await stage().fail(await stage().leaseOne())
    expect(await stage().view()).toMatchObject({ failureCount: 0, anchorAt })
  })

  it('pauseAfterFailures pauses with a reason and holds what is ready; resumed, it may fail as often again', async () => {
    await stage().put({ pauseAfterFailures: 2, overlap: 'allow', maxLatenessMs: 9 * hour })
    await stage().runAt(startAt + hour, broken)
    await stage().fireAt(startAt + 2 * hour)
    const lease = await stage().leaseOne()
    const { runs } = await stage().fireAt(startAt + 3 * hour)
    await stage().fail(lease)
    expect(await stage().view()).toMatchObject({
      disabled: { reason: 'failed 2 times in a row' },
      wakeAt: null,
      nextDecision: { source: 'disabled' },
    })
    expect((await stage().run(runs[0]?.id)).status).toBe('held')
    await stage().store.do(resumeSchedule, 'report')
    expect((await stage().view()).disabled).toBeNull()
    const resumed = await stage().leaseOne()
    expect(resumed.runId).toBe(runs[0]?.id)
    await stage().fail(resumed)
    expect(await stage().view()).toMatchObject({ failureCount: 3, disabled: null })
    await stage().runAt(startAt + 4 * hour, broken)
    expect((await stage().view()).disabled?.reason).toBe('failed 4 times in a row')
  })

  it('a parked occurrence has ended: it counts as a failure, and its later end moves nothing', async () => {
    await stage().put({ timing: { everyMs: hour }, onExhausted: 'park' })
    const id = await stage().runAt(startAt + hour, broken)
    expect((await stage().run(id)).status).toBe('parked')
    expect(await stage().view()).toMatchObject({ failureCount: 1, nextRunAt: startAt + 3 * hour, waitsFor: null })
    expect(await stage().ledger()).toMatchObject([{ outcome: 'parked' }])
    const before = await stage().view()
    await stage().store.do(resetRun, id)
    stage().pass(minute)
    await stage().end(await stage().leaseOne())
    expect(await stage().view()).toEqual(before)
    expect(await stage().ledger()).toMatchObject([{ outcome: 'parked' }])
  })

  it('a retried run does not move the chain', async () => {
    await stage().put({ timing: { everyMs: hour } })
    const id = await stage().runAt(startAt + hour, broken)
    const before = await stage().view()
    stage().pass(minute)
    expect(await stage().store.do(retryRun, id)).toMatchObject({ answer: 'created' })
    await stage().end(await stage().leaseOne())
    expect(await stage().view()).toEqual(before)
  })

  it('several runs of several schedules that end in one step each move their own', async () => {
    for (const name of ['a', 'b', 'c']) await stage().put({ name, timing: { everyMs: hour } })
    await stage().fireAt(startAt + hour)
    const leases = await stage().lease()
    stage().pass(minute)
    await stage().store.settle(
      leases.map(({ runId, fence, scheduleId }, index) => {
        return { runId, fence, scheduleId, outcome: index === 1 ? broken : { kind: 'success' } }
      }),
    )
    const ends = startAt + hour + minute
    for (const [name, nextRunAt] of Object.entries({ a: ends + hour, b: ends + 2 * hour, c: ends + hour })) {
      expect(await stage().view(name)).toMatchObject({ nextRunAt, waitsFor: null })
    }
    expect(await stage().sql('select * from belfry.schedule_run')).toEqual([])
  })

  it('a lost lease that is not repeatable parks its run, and the fixed delay goes on', async () => {
    await stage().put({ timing: { everyMs: hour }, repeatable: false })
    await stage().fireAt(startAt + hour)
    await stage().leaseOne()
    stage().pass(11 * hour)
    expect(await stage().store.reclaim({ limit: 10 })).toMatchObject([{ status: 'parked', reason: 'effect-unknown' }])
    expect(await stage().view()).toMatchObject({ nextRunAt: stage().clock.now + 2 * hour, waitsFor: null })
  })
})

onEachStore('repair', (stage) => {
  it('finds nothing where nothing is wrong', async () => {
    await stage().put({ timing: { everyMs: hour }, overlap: 'queue' })
    await stage().put({ name: 'idle', timing: {} })
    await stage().put({ name: 'off' })
    await stage().store.do(pauseSchedule, 'off', { reason: 'no' })
    await stage().fireAt(startAt + hour)
    await stage().lease()
    await stage().store.do(runNow, 'report')
    expect(await stage().store.do(repair, { limit: 10 })).toEqual([])
  })

  it('law 2: mends a schedule with neither a next instant nor a live run, and says so', async () => {
    await stage().put({ timing: { everyMs: hour } })
    await stage().sql(
      'update belfry.schedule set next_run_at = null, next_due_at = null, wake_at = null, waits_for = 99',
    )
    const [mended, ...others] = await stage().store.do(repair, { limit: 10 })
    expect(mended).toMatchObject({ what: 'chain', subject: 'report' })
    expect(mended?.sentence).toContain('2026-01-05T10:00:00.000Z')
    expect(others).toEqual([])
    expect(await stage().view()).toMatchObject({ nextRunAt: startAt + hour, wakeAt: startAt + hour, waitsFor: null })
    expect(await stage().store.do(repair, { limit: 10 })).toEqual([])
  })

  it('opens a gate of a key with room and nobody in line', async () => {
    await stage().store.enqueue([{ concurrencyKey: 'k', target: { handler: 'report' } }])
    await stage().sql(`insert into belfry.aside (run_id, ns, queue_id, need_id, priority, enqueued_at, concurrency_key,
        fence, attempts, releases, deaths, kind, at, reason)
      select run_id, ns, queue_id, need_id, priority, enqueued_at, concurrency_key,
        fence, attempts, releases, deaths, 'key', enqueued_at, 'k' from belfry.ready`)
    await stage().sql('delete from belfry.ready')
    expect(await stage().store.do(repair, { limit: 10 })).toMatchObject([{ what: 'key-gate', subject: 'default' }])
    expect(await stage().lease()).toHaveLength(1)
  })

  it('lets a run go that waits for nobody', async () => {
    await stage().put({ overlap: 'queue', maxLatenessMs: 9 * hour })
    await stage().fireAt(startAt + hour)
    const { runId } = await stage().leaseOne()
    const { runs } = await stage().fireAt(startAt + 2 * hour)
    expect(await stage().store.do(repair, { limit: 10 })).toEqual([])
    await stage().sql('delete from belfry.lease')
    await stage().sql('delete from belfry.schedule_run where run_id <> (select max(run_id) from belfry.schedule_run)')
    const [mended] = await stage().store.do(repair, { limit: 10 })
    expect(mended).toMatchObject({ what: 'overlap-gate', subject: 'report' })
    expect((await stage().leaseOne()).runId).toBe(runs[0]?.id)
    expect(runId).not.toBe(runs[0]?.id)
  })
})
