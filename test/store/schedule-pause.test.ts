import { expect, it } from 'vitest'
import { promptSpread } from '../../src/core/timing/spread.ts'
import { setQueue } from '../../src/store/queues/set-queue.ts'
import { resetRun } from '../../src/store/runs/reset-run.ts'
import { pauseSchedule, resumeSchedule } from '../../src/store/schedules/pause-schedule.ts'
import { runNow } from '../../src/store/schedules/run-now.ts'
import { setHint } from '../../src/store/schedules/set-hint.ts'
import { actor, hour, minute, onEachStore, startAt } from './schedule-stage.ts'

const until = startAt + 3 * hour + 30 * minute

onEachStore('pause', (stage) => {
  it('nothing of a paused schedule starts: its ready runs are held in the same step, leased ones finish', async () => {
    await stage().put({ overlap: 'allow', maxLatenessMs: 9 * hour })
    await stage().fireAt(startAt + hour)
    const lease = await stage().leaseOne()
    const { runs } = await stage().fireAt(startAt + 2 * hour)
    expect(await stage().store.do(pauseSchedule, 'report', { reason: 'maintenance' })).toBe('paused')
    expect((await stage().run(runs[0]?.id)).status).toBe('held')
    expect(await stage().lease()).toEqual([])
    await stage().end(lease)
    expect((await stage().run(lease.runId)).status).toBe('completed')
    expect(await stage().view()).toMatchObject({
      disabled: { at: startAt + 2 * hour, reason: 'maintenance' },
      nextRunAt: null,
      wakeAt: null,
      nextDecision: { source: 'disabled' },
    })
  })

  it('a pause is an instant at which to ask again, and never becomes a run by itself', async () => {
    await stage().put({})
    await stage().store.do(pauseSchedule, 'report', { until, reason: 'night' })
    expect(await stage().view()).toMatchObject({
      paused: { until, reason: 'night' },
      nextRunAt: null,
      wakeAt: until,
      nextDecision: { source: 'paused' },
    })
    expect((await stage().fireAt(startAt + 2 * hour)).schedules).toBe(0)
    expect((await stage().fireAt(until)).runs).toEqual([])
    expect(await stage().view()).toMatchObject({ paused: null, nextRunAt: startAt + 4 * hour })
  })

  it('what passed while it was paused ends in the ledger and is not fired', async () => {
    await stage().put({})
    await stage().store.do(pauseSchedule, 'report', { until, reason: 'night' })
    await stage().fireAt(until)
    expect(await stage().ledger()).toEqual([
      { from: startAt + hour, to: startAt + 3 * hour, count: 3, outcome: 'paused' },
    ])
    await stage().store.do(pauseSchedule, 'report', { reason: 'again' })
    stage().to(startAt + 5 * hour + minute)
    await stage().store.do(resumeSchedule, 'report')
    expect(await stage().ledger()).toEqual([
      { from: startAt + hour, to: startAt + 5 * hour, count: 5, outcome: 'paused' },
    ])
    expect((await stage().view()).nextRunAt).toBe(startAt + 6 * hour)
  })

  it('an occurrence at the very instant at which the pause ends is fired', async () => {
    await stage().put({})
    await stage().store.do(pauseSchedule, 'report', { until: startAt + 2 * hour, reason: 'until two' })
    expect((await stage().fireAt(startAt + 2 * hour)).runs).toMatchObject([{ occurrenceAt: startAt + 2 * hour }])
    expect(await stage().ledger()).toMatchObject([{ outcome: 'paused', count: 1 }, { outcome: 'fired' }])
  })

  it('law 7: an overdue fixed delay runs when its pause ends, not a moment earlier', async () => {
    await stage().put({ timing: { everyMs: hour } })
    await stage().store.do(pauseSchedule, 'report', { until, reason: 'night' })
    expect((await stage().fireAt(until)).runs).toMatchObject([{ occurrenceAt: until }])
    expect((await stage().view()).paused).toBeNull()
  })

  it('held runs go again when the pause ends by itself', async () => {
    await stage().put({ maxLatenessMs: 9 * hour })
    const { runs } = await stage().fireAt(startAt + hour)
    await stage().store.do(pauseSchedule, 'report', { until, reason: 'night' })
    expect(await stage().lease()).toEqual([])
    await stage().fireAt(until)
    expect((await stage().leaseOne()).runId).toBe(runs[0]?.id)
  })

  it('what came after a pause that nobody saw end was missed, not paused', async () => {
    await stage().put({})
    await stage().store.do(pauseSchedule, 'report', { until, reason: 'night' })
    const { runs } = await stage().fireAt(startAt + 6 * hour + 10 * minute)
    expect(runs).toMatchObject([{ occurrenceAt: startAt + 6 * hour }])
    expect(await stage().ledger()).toMatchObject([
      { outcome: 'paused', count: 3 },
      { outcome: 'missed', count: 2 },
      { outcome: 'fired' },
    ])
  })

  it('what came between two pauses was missed, though nobody saw the first of them end', async () => {
    await stage().put({})
    await stage().store.do(pauseSchedule, 'report', { until, reason: 'night' })
    stage().to(startAt + 6 * hour + 10 * minute)
    await stage().store.do(pauseSchedule, 'report', { until: startAt + 8 * hour + minute, reason: 'again' })
    const between = [
      { from: startAt + hour, to: startAt + 3 * hour, count: 3, outcome: 'paused' },
      { from: startAt + 4 * hour, to: startAt + 6 * hour, count: 3, outcome: 'missed' },
    ]
    expect(await stage().ledger()).toEqual(between)
    expect(await stage().view()).toMatchObject({ nextRunAt: null, wakeAt: startAt + 8 * hour + minute })
    expect((await stage().fireAt(startAt + 9 * hour)).runs).toMatchObject([{ occurrenceAt: startAt + 9 * hour }])
    expect(await stage().ledger()).toEqual([
      ...between,
      { from: startAt + 7 * hour, to: startAt + 8 * hour, count: 2, outcome: 'paused' },
      { from: startAt + 9 * hour, to: startAt + 9 * hour, count: 1, outcome: 'fired' },
    ])
  })

  it('so it was where the second pause has no end, and a resume during it ends only what that let pass', async () => {
    await stage().put({ missed: 'all', overlap: 'queue' })
    await stage().store.do(pauseSchedule, 'report', { until, reason: 'night' })
    stage().to(startAt + 5 * hour + 10 * minute)
    await stage().store.do(pauseSchedule, 'report', { reason: 'again' })
    expect(await stage().view()).toMatchObject({ paused: null, disabled: { reason: 'again' }, wakeAt: null })
    stage().to(startAt + 7 * hour + minute)
    await stage().store.do(resumeSchedule, 'report')
    expect(await stage().ledger()).toMatchObject([
      { outcome: 'paused', count: 3 },
      { outcome: 'missed', count: 2, to: startAt + 5 * hour },
      { outcome: 'paused', count: 2, to: startAt + 7 * hour },
    ])
    expect((await stage().view()).nextRunAt).toBe(startAt + 8 * hour)
    expect((await stage().fire()).runs).toEqual([])
  })

  it('what nobody fired before the first pause of all was missed as well; what was merely late would have started', async () => {
    await stage().put({})
    stage().to(startAt + 3 * hour + 30_000)
    await stage().store.do(pauseSchedule, 'report', { reason: 'no' })
    expect(await stage().ledger()).toMatchObject([{ outcome: 'missed', count: 2, to: startAt + 2 * hour }])
    stage().to(startAt + 4 * hour + minute)
    await stage().store.do(resumeSchedule, 'report')
    expect(await stage().ledger()).toMatchObject([
      { outcome: 'missed', count: 2 },
      { outcome: 'paused', count: 2, from: startAt + 3 * hour, to: startAt + 4 * hour },
    ])
  })

  it('what had come before an interval hint was given is paused with it, and not lost to the hint', async () => {
    await stage().put({})
    stage().to(startAt + 2 * hour + 20_000)
    const hint = {
      kind: 'interval',
      ms: 7 * minute,
      expiresAt: startAt + 9 * hour,
      reason: 'watch',
      author: 'ann',
    } as const
    await stage().store.do(setHint, 'report', hint)
    stage().to(startAt + 2 * hour + 30_000)
    await stage().store.do(pauseSchedule, 'report', { reason: 'no' })
    stage().to(startAt + 2 * hour + minute)
    await stage().store.do(resumeSchedule, 'report')
    expect(await stage().ledger()).toMatchObject([
      { outcome: 'missed', count: 1, to: startAt + hour },
      { outcome: 'paused', count: 1, from: startAt + 2 * hour, to: startAt + 2 * hour },
    ])
  })

  it('an occurrence whose spread is not over when the second pause begins is paused by it, not missed', async () => {
    await stage().put({ spread: { ...promptSpread, recurringFraction: 0.5, recurringCapMs: hour } })
    const { nextRunAt, nextDueAt } = await stage().view()
    const offsetMs = (nextDueAt as number) - (nextRunAt as number)
    expect(offsetMs).toBeGreaterThan(2 * minute)
    await stage().store.do(pauseSchedule, 'report', { until: startAt + 30 * minute, reason: 'night' })
    stage().to(startAt + 2 * hour + offsetMs - minute)
    await stage().store.do(pauseSchedule, 'report', { reason: 'again' })
    expect(await stage().ledger()).toMatchObject([{ outcome: 'missed', count: 1, to: startAt + hour }])
    stage().to(startAt + 3 * hour - minute)
    await stage().store.do(resumeSchedule, 'report')
    expect(await stage().ledger()).toMatchObject([
      { outcome: 'missed', count: 1 },
      { outcome: 'paused', count: 1, from: startAt + 2 * hour },
    ])
  })

  it('runs that the first pause held stay held by the second', async () => {
    await stage().put({ maxLatenessMs: 9 * hour })
    const { runs } = await stage().fireAt(startAt + hour)
    await stage().store.do(pauseSchedule, 'report', { until, reason: 'night' })
    stage().to(until + minute)
    await stage().store.do(pauseSchedule, 'report', { reason: 'again' })
    expect((await stage().run(runs[0]?.id)).status).toBe('held')
    expect(await stage().lease()).toEqual([])
    await stage().store.do(resumeSchedule, 'report')
    expect((await stage().leaseOne()).runId).toBe(runs[0]?.id)
  })

  it('an overdue fixed delay that is paused once more is put off, and has no end in the ledger before it runs', async () => {
    await stage().put({ timing: { everyMs: hour } })
    await stage().store.do(pauseSchedule, 'report', { until, reason: 'night' })
    stage().to(startAt + 6 * hour)
    await stage().store.do(pauseSchedule, 'report', { until: startAt + 8 * hour, reason: 'again' })
    expect((await stage().fireAt(startAt + 8 * hour)).runs).toMatchObject([{ occurrenceAt: startAt + 8 * hour }])
    expect(await stage().ledger()).toMatchObject([{ outcome: 'fired' }])
  })

  it('a change between the end of a pause and the next look loses nothing of what passed', async () => {
    await stage().put({})
    await stage().store.do(pauseSchedule, 'report', { until, reason: 'night' })
    stage().to(until + minute)
    await stage().put({ priority: 5 })
    await stage().fire()
    expect(await stage().ledger()).toMatchObject([{ outcome: 'paused', count: 3 }])
    expect((await stage().view()).nextRunAt).toBe(startAt + 4 * hour)
  })

  it('resuming after a pause that nobody saw end fires what came after it', async () => {
    await stage().put({})
    await stage().store.do(pauseSchedule, 'report', { until, reason: 'night' })
    stage().to(startAt + 4 * hour + 10 * minute)
    expect(await stage().store.do(resumeSchedule, 'report')).toBe('resumed')
    expect(await stage().ledger()).toMatchObject([{ outcome: 'paused', count: 3 }, { outcome: 'fired' }])
    expect(await stage().store.do(resumeSchedule, 'report')).toBe('was-not-paused')
  })

  it('an at whose instant passes while it is paused is over', async () => {
    await stage().put({ timing: { at: startAt + hour } })
    await stage().store.do(pauseSchedule, 'report', { reason: 'no' })
    stage().pass(2 * hour)
    await stage().store.do(resumeSchedule, 'report')
    expect(await stage().ledger()).toMatchObject([{ outcome: 'paused' }])
    expect(await stage().view()).toMatchObject({ nextRunAt: null, nextDecision: { source: 'none' } })
  })

  it('law 8: an overdue fixed delay runs at once when it is resumed', async () => {
    await stage().put({ timing: { everyMs: hour } })
    await stage().store.do(pauseSchedule, 'report', { reason: 'no' })
    stage().pass(5 * hour)
    await stage().store.do(resumeSchedule, 'report')
    expect((await stage().view()).nextRunAt).toBe(startAt + 5 * hour)
    expect((await stage().fire()).runs).toHaveLength(1)
    expect(await stage().ledger()).toMatchObject([{ outcome: 'fired' }])
  })

  it('law 8: resumed runs are ready again at once, and keep the instant they waited for', async () => {
    await stage().put({ overlap: 'allow', maxLatenessMs: 9 * hour })
    await stage().fireAt(startAt + hour)
    await stage().end(await stage().leaseOne(), { kind: 'failed', reason: 'flaky', retryAfterMs: 20 * minute })
    const { runs } = await stage().fireAt(startAt + 2 * hour - 50 * minute)
    expect(runs).toEqual([])
    await stage().store.do(runNow, 'report')
    await stage().store.do(pauseSchedule, 'report', { reason: 'no' })
    await stage().store.do(resumeSchedule, 'report')
    expect((await stage().leaseOne()).source).toBe('run-now')
    stage().pass(20 * minute)
    expect((await stage().leaseOne()).occurrenceAt).toBe(startAt + hour)
  })

  it('maxLateness still applies to what was held', async () => {
    await stage().put({ maxLatenessMs: 10 * minute })
    const { runs } = await stage().fireAt(startAt + hour)
    await stage().store.do(pauseSchedule, 'report', { reason: 'no' })
    stage().pass(20 * minute)
    await stage().store.do(resumeSchedule, 'report')
    expect(await stage().lease()).toEqual([])
    expect(await stage().run(runs[0]?.id)).toMatchObject({ status: 'skipped', end: { reason: 'lateness' } })
  })

  it('held runs that may not overlap go one at a time after the resume', async () => {
    await stage().put({ overlap: 'queue', queueMax: 3, maxLatenessMs: 9 * hour })
    for (const hours of [1, 2, 3]) await stage().fireAt(startAt + hours * hour)
    await stage().store.do(pauseSchedule, 'report', { reason: 'no' })
    expect(await stage().sql('select kind from belfry.aside')).toMatchObject([
      { kind: 'held' },
      { kind: 'held' },
      { kind: 'held' },
    ])
    await stage().store.do(resumeSchedule, 'report')
    for (const hours of [1, 2, 3]) {
      const lease = await stage().leaseOne()
      expect(lease.occurrenceAt).toBe(startAt + hours * hour)
      await stage().end(lease)
    }
  })

  it('a run that was reset behind a newer one stays behind it after the resume', async () => {
    await stage().put({ overlap: 'cancel', onExhausted: 'park' })
    await stage().fireAt(startAt + hour)
    const parked = await stage().leaseOne()
    await stage().fail(parked)
    await stage().fireAt(startAt + 2 * hour)
    const retried = await stage().leaseOne()
    await stage().end(retried, { kind: 'failed', reason: 'busy', retryable: true })
    expect(await stage().store.do(resetRun, parked.runId)).toBe('ready')
    await stage().store.do(pauseSchedule, 'report', { reason: 'no' })
    stage().pass(10 * minute)
    await stage().store.do(resumeSchedule, 'report')
    const first = await stage().leaseOne()
    expect(first.runId).toBe(retried.runId)
    await stage().end(first)
    expect((await stage().leaseOne()).runId).toBe(parked.runId)
  })

  it('a held run frees its key for the next one', async () => {
    await stage().store.do(setQueue, 'default', { policy: { maxConcurrentPerKey: 1 }, actor })
    await stage().put({ concurrencyKey: 'k' })
    await stage().fireAt(startAt + hour)
    const [other] = await stage().store.enqueue([{ concurrencyKey: 'k', target: { handler: 'report' }, priority: 500 }])
    expect((await stage().run(other?.id)).waiting?.for).toBe('key')
    await stage().store.do(pauseSchedule, 'report', { reason: 'no' })
    expect((await stage().leaseOne()).runId).toBe(other?.id)
    await stage().store.do(resumeSchedule, 'report')
    expect(await stage().lease()).toEqual([])
  })

  it('run-now of a paused schedule makes a run that is held', async () => {
    await stage().put({})
    await stage().store.do(pauseSchedule, 'report', { reason: 'no' })
    expect(await stage().store.do(runNow, 'report')).toMatchObject({ answer: 'created', kept: 'held' })
    expect(await stage().lease()).toEqual([])
    await stage().store.do(resumeSchedule, 'report')
    expect((await stage().leaseOne()).source).toBe('run-now')
  })

  it('a pause with an end does not end a pause without one', async () => {
    await stage().put({})
    await stage().store.do(pauseSchedule, 'report', { reason: 'a person said so' })
    await stage().store.do(pauseSchedule, 'report', { until, reason: 'a planner said so' })
    expect((await stage().fireAt(until + hour)).schedules).toBe(0)
    expect((await stage().view()).disabled).not.toBeNull()
    expect(await stage().store.do(resumeSchedule, 'report')).toBe('resumed')
    expect(await stage().view()).toMatchObject({ disabled: null, paused: null })
  })

  it('a pause that would be over already is refused', async () => {
    await stage().put({})
    await expect(stage().store.do(pauseSchedule, 'report', { until: startAt, reason: 'r' })).rejects.toThrow(/until is/)
    expect(await stage().store.do(pauseSchedule, 'nobody', { reason: 'r' })).toBe('not-found')
    expect(await stage().store.do(resumeSchedule, 'nobody')).toBe('not-found')
    expect(await stage().store.do(resumeSchedule, 'report')).toBe('was-not-paused')
  })

  it('a run that fails while its schedule is paused is held for its retry', async () => {
    await stage().put({})
    await stage().fireAt(startAt + hour)
    const lease = await stage().leaseOne()
    await stage().store.do(pauseSchedule, 'report', { reason: 'no' })
    await stage().end(lease, { kind: 'failed', reason: 'flaky' })
    expect((await stage().run(lease.runId)).status).toBe('held')
  })
})
