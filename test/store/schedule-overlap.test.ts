import { expect, it } from 'vitest'
import { listLedger } from '../../src/store/reads/find-schedule.ts'
import { cancelRun } from '../../src/store/runs/cancel-run.ts'
import { runNow } from '../../src/store/schedules/run-now.ts'
import { hour, minute, onEachStore, startAt } from './schedule-stage.ts'

onEachStore('overlap', (stage) => {
  it('skip: a live run keeps the next occurrence from becoming one, and the skip names it', async () => {
    await stage().put({})
    const { runs } = await stage().fireAt(startAt + hour)
    expect(await stage().fireAt(startAt + 2 * hour)).toMatchObject({ runs: [], skipped: [{ reason: 'overlap' }] })
    expect((await stage().store.look(listLedger, 'report'))[0]).toMatchObject({
      outcome: 'overlap',
      causedBy: runs[0]?.id,
    })
    expect((await stage().view()).nextRunAt).toBe(startAt + 3 * hour)
  })

  it('allow: runs go beside each other', async () => {
    await stage().put({ overlap: 'allow', maxLatenessMs: 5 * hour })
    await stage().fireAt(startAt + hour)
    await stage().fireAt(startAt + 2 * hour)
    expect(await stage().lease()).toHaveLength(2)
  })

  it('queue: the next run is made at once and goes when the one before it has ended', async () => {
    await stage().put({ overlap: 'queue', maxLatenessMs: 5 * hour })
    const first = await stage().fireAt(startAt + hour)
    const lease = await stage().leaseOne()
    const second = await stage().fireAt(startAt + 2 * hour)
    expect(await stage().run(second.runs[0]?.id)).toMatchObject({
      status: 'ready',
      waiting: { for: 'overlap' },
      waitsFor: first.runs[0]?.id,
    })
    expect(await stage().lease()).toEqual([])
    await stage().end(lease)
    expect((await stage().leaseOne()).runId).toBe(second.runs[0]?.id)
  })

  it('queue: more than queueMax waiting ones are skipped', async () => {
    await stage().put({ overlap: 'queue', queueMax: 2, maxLatenessMs: 9 * hour })
    await stage().fireAt(startAt + hour)
    await stage().lease()
    for (const hours of [2, 3, 4, 5]) await stage().fireAt(startAt + hours * hour)
    expect(await stage().ledger()).toMatchObject([
      { outcome: 'fired' },
      { outcome: 'fired' },
      { outcome: 'fired' },
      { outcome: 'overlap', count: 2 },
    ])
  })

  it('queue: a parked run has ended for its schedule, so the next one goes', async () => {
    await stage().put({ overlap: 'queue', onExhausted: 'park', maxLatenessMs: 5 * hour })
    await stage().fireAt(startAt + hour)
    const lease = await stage().leaseOne()
    const second = await stage().fireAt(startAt + 2 * hour)
    await stage().fail(lease)
    expect((await stage().run(lease.runId)).status).toBe('parked')
    expect((await stage().leaseOne()).runId).toBe(second.runs[0]?.id)
  })

  it('queue: when a waiting run is cancelled, those behind it still wait for the one at work', async () => {
    await stage().put({ overlap: 'queue', queueMax: 2, maxLatenessMs: 9 * hour })
    await stage().fireAt(startAt + hour)
    const lease = await stage().leaseOne()
    const second = await stage().fireAt(startAt + 2 * hour)
    const third = await stage().fireAt(startAt + 3 * hour)
    await stage().store.do(cancelRun, second.runs[0]?.id ?? '', 'no')
    expect(await stage().lease()).toEqual([])
    await stage().end(lease)
    expect((await stage().leaseOne()).runId).toBe(third.runs[0]?.id)
  })

  it('queue: a run that waits for its retry is still before those behind it', async () => {
    await stage().put({ overlap: 'queue', queueMax: 3, maxLatenessMs: 9 * hour })
    await stage().fireAt(startAt + hour)
    const lease = await stage().leaseOne()
    const second = await stage().fireAt(startAt + 2 * hour)
    const third = await stage().fireAt(startAt + 3 * hour)
    await stage().end(lease, { kind: 'failed', reason: 'flaky', retryAfterMs: 10 * minute })
    await stage().store.do(cancelRun, second.runs[0]?.id ?? '', 'no')
    expect((await stage().run(third.runs[0]?.id)).waiting?.for).toBe('overlap')
    expect(await stage().lease()).toEqual([])
  })

  it('queue: a retried run keeps its turn, and those behind it wait for its last attempt', async () => {
    await stage().put({ overlap: 'queue', maxLatenessMs: 9 * hour })
    const first = await stage().fireAt(startAt + hour)
    const lease = await stage().leaseOne()
    await stage().fireAt(startAt + 2 * hour)
    await stage().end(lease, { kind: 'failed', reason: 'flaky' })
    stage().pass(minute)
    expect((await stage().leaseOne()).runId).toBe(first.runs[0]?.id)
  })

  it('cancel: the leased run is asked to end, and the new one goes once it has', async () => {
    await stage().put({ overlap: 'cancel', maxLatenessMs: 9 * hour })
    const first = await stage().fireAt(startAt + hour)
    const lease = await stage().leaseOne()
    const second = await stage().fireAt(startAt + 2 * hour)
    expect((await stage().run(first.runs[0]?.id)).lease).toMatchObject({
      cancelRequestedAt: startAt + 2 * hour,
      cancelReason: 'replaced',
    })
    expect(await stage().run(second.runs[0]?.id)).toMatchObject({ waitsFor: lease.runId, waiting: { for: 'overlap' } })
    expect(await stage().lease()).toEqual([])
    await stage().end(lease, { kind: 'cancelled' })
    expect((await stage().leaseOne()).runId).toBe(second.runs[0]?.id)
    expect(await stage().ledger()).toMatchObject([{ outcome: 'cancelled' }, { outcome: 'fired' }])
  })

  it('cancel: a run that nobody has leased ends at once, and the new one goes at once', async () => {
    await stage().put({ overlap: 'cancel', maxLatenessMs: 9 * hour })
    const first = await stage().fireAt(startAt + hour)
    const second = await stage().fireAt(startAt + 2 * hour)
    expect(await stage().run(first.runs[0]?.id)).toMatchObject({ status: 'cancelled', end: { reason: 'replaced' } })
    expect((await stage().leaseOne()).runId).toBe(second.runs[0]?.id)
    expect(await stage().view()).toMatchObject({ runsCount: 2, failureCount: 0, nextRunAt: startAt + 3 * hour })
  })

  it('cancel: a third run ends the second, which waits, and both wait for the first', async () => {
    await stage().put({ overlap: 'cancel', maxLatenessMs: 9 * hour })
    await stage().fireAt(startAt + hour)
    const lease = await stage().leaseOne()
    const second = await stage().fireAt(startAt + 2 * hour)
    const third = await stage().fireAt(startAt + 3 * hour)
    expect((await stage().run(second.runs[0]?.id)).status).toBe('cancelled')
    expect(await stage().lease()).toEqual([])
    await stage().end(lease)
    expect((await stage().leaseOne()).runId).toBe(third.runs[0]?.id)
  })

  it('run-now beside a live run is refused under skip, naming it, unless it is forced', async () => {
    await stage().put({})
    const { runs } = await stage().fireAt(startAt + hour)
    expect(await stage().store.do(runNow, 'report')).toEqual({ answer: 'overlap', liveRunId: runs[0]?.id })
    expect(await stage().store.do(runNow, 'report', { force: true, payload: 5 })).toMatchObject({ answer: 'created' })
    const leases = await stage().lease()
    expect(leases.map(({ source, payload }) => [source, payload])).toEqual([
      ['baseline-cron', undefined],
      ['run-now', 5],
    ])
  })

  it('run-now waits under queue and replaces under cancel, as an occurrence would', async () => {
    await stage().put({ overlap: 'queue' })
    await stage().fireAt(startAt + hour)
    const lease = await stage().leaseOne()
    const queued = await stage().store.do(runNow, 'report')
    expect(queued).toMatchObject({ answer: 'created', kept: 'overlap' })
    await stage().end(lease)
    const next = await stage().leaseOne()
    await stage().put({ overlap: 'cancel' })
    expect(await stage().store.do(runNow, 'report')).toMatchObject({ answer: 'created', kept: 'overlap' })
    expect((await stage().run(next.runId)).lease?.cancelRequestedAt).toBe(stage().clock.now)
  })

  it('an occurrence is skipped beside a run-now run, and the fixed delay goes on from there', async () => {
    await stage().put({ timing: { everyMs: hour } })
    const answer = await stage().store.do(runNow, 'report')
    await stage().fireAt(startAt + hour)
    expect((await stage().store.look(listLedger, 'report'))[0]).toMatchObject({
      outcome: 'overlap',
      causedBy: answer.answer === 'created' ? answer.id : '',
    })
    expect(await stage().view()).toMatchObject({ nextRunAt: startAt + 2 * hour, waitsFor: null })
  })

  it('run-now of a schedule that is not there is not found', async () => {
    expect(await stage().store.do(runNow, 'nobody')).toEqual({ answer: 'not-found' })
    expect(await stage().store.do(runNow, 'no\0body')).toEqual({ answer: 'not-found' })
  })
})
