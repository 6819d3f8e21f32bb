import { expect, it } from 'vitest'
import type { BackfillAnswer, BackfillRequest } from '../../../src/parts/backfill/backfill-schedule.ts'
import { backfillSchedule } from '../../../src/parts/backfill/backfill-schedule.ts'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { listRuns } from '../../../src/store/reads/list-runs.ts'
import { retryRun } from '../../../src/store/runs/retry-run.ts'
import { deleteSchedule } from '../../../src/store/schedules/delete-schedule.ts'
import { pauseSchedule, resumeSchedule } from '../../../src/store/schedules/pause-schedule.ts'
import { hour, minute, onEachStore, type Stage, startAt } from '../../store/schedule-stage.ts'

type Made = Extract<BackfillAnswer, { answer: 'made' }>

async function backfilled(stage: Stage, request: BackfillRequest, name = 'report'): Promise<Made> {
  const answer = await stage.store.do(backfillSchedule, name, request)
  if (answer.answer !== 'made') throw new Error(`it answered ${answer.answer}`)
  return answer
}

const threeHours = { from: startAt - 3 * hour, to: startAt }

onEachStore('backfill', (stage) => {
  it('law 1: makes runs without occurrences, and moves neither the chain, the counts nor the ledger', async () => {
    await stage().put({ overlap: 'allow' })
    const before = await stage().view()
    const { made, left, kept } = await backfilled(stage(), threeHours)
    expect(made.map(({ at }) => at)).toEqual([startAt - 3 * hour, startAt - 2 * hour, startAt - hour])
    expect([left, kept]).toEqual([[], undefined])
    expect(await stage().view()).toEqual(before)
    expect(await stage().ledger()).toEqual([])
    const leases = await stage().lease()
    expect(leases.map(({ runId }) => runId)).toEqual(made.map(({ run }) => run))
    for (const lease of leases) await stage().fail(lease)
    expect(await stage().view()).toEqual(before)
  })

  it('hands on the nominal instant, and nothing is ever too late for it', async () => {
    await stage().put({ overlap: 'allow', maxLatenessMs: minute })
    const { made } = await backfilled(stage(), threeHours)
    stage().pass(100 * hour)
    const [lease] = await stage().lease()
    expect(lease).toMatchObject({ source: 'backfill', occurrenceAt: null, dueAt: startAt - 3 * hour })
    expect(lease?.idempotencyKey).toMatch(/^backfill:s-\w+:2026-01-05T06:00:00\.000Z$/)
    expect(await stage().run(made[0]?.run)).toMatchObject({ lateAfter: null, notBefore: null })
  })

  it('leaves out what became a run, whatever became of that, unless it is to be done again', async () => {
    await stage().put({ missed: 'skip' })
    const first = await stage().runAt(startAt + hour)
    await stage().fireAt(startAt + 2 * hour)
    await stage().fail(await stage().leaseOne())
    stage().to(startAt + 5 * hour + minute + 1)
    await stage().fire()
    const stretch = { from: startAt + hour, to: startAt + 5 * hour }
    const rehearsed = await stage()
      .store.rehearsal()
      .do(backfillSchedule, 'report', { ...stretch, again: true })
    expect(rehearsed).toMatchObject({ answer: 'made', left: [] })
    const { made, left } = await backfilled(stage(), stretch)
    expect(left).toMatchObject([
      { at: startAt + hour, because: 'has-run', run: first },
      { at: startAt + 2 * hour, because: 'has-run' },
    ])
    expect(made.map(({ at }) => at)).toEqual([startAt + 3 * hour, startAt + 4 * hour])
    const again = await backfilled(stage(), { ...stretch, again: true })
    expect(again.made.map(({ at }) => at)).toEqual([startAt + hour, startAt + 2 * hour])
    expect(again.left.map(({ because }) => because)).toEqual(['made-before', 'made-before'])
  })

  it('leaves out what the ledger has forgotten, of which nobody knows whether it has run, unless it is to be done again', async () => {
    await stage().put({ missed: 'skip' })
    await stage().runAt(startAt + hour)
    await stage().fireAt(startAt + 100 * 24 * hour + 30 * minute)
    await stage().sql('delete from belfry.ledger where run_id is not null')
    const stretch = { from: startAt - hour, to: startAt + 4 * hour }
    const { made, left } = await backfilled(stage(), stretch)
    // Before its creation it cannot have run, and what it slept through stands in the ledger as one range.
    expect(left.map(({ at, because }) => [(at - startAt) / hour, because])).toEqual([
      [0, 'forgotten'],
      [1, 'forgotten'],
    ])
    expect(made.map(({ at }) => (at - startAt) / hour)).toEqual([-1, 2, 3])
    const again = await backfilled(stage(), { ...stretch, again: true })
    expect(again.made.map(({ at }) => (at - startAt) / hour)).toEqual([0, 1])
    await stage().sql(`update belfry.queue set policy = '{'`)
    expect((await backfilled(stage(), { from: startAt + 30 * hour, to: startAt + 31 * hour })).left).toEqual([])
  })

  it('makes nothing twice, and answers with the run that was made first, also after it has ended', async () => {
    await stage().put({})
    const { made } = await backfilled(stage(), { from: startAt - hour, to: startAt })
    await stage().end(await stage().leaseOne())
    const second = await backfilled(stage(), { from: startAt - 2 * hour, to: startAt })
    expect(second.made.map(({ at }) => at)).toEqual([startAt - 2 * hour])
    expect(second.left).toEqual([{ at: startAt - hour, because: 'made-before', run: made[0]?.run }])
  })

  it('leaves to the next look what is due and has not been decided over: it would be done twice', async () => {
    await stage().put({ overlap: 'allow' })
    stage().to(startAt + 2 * hour + minute)
    const stretch = { from: startAt, to: startAt + 2 * hour + minute }
    const { made, left } = await backfilled(stage(), stretch)
    expect(made.map(({ at }) => at)).toEqual([startAt])
    expect(left).toEqual([
      { at: startAt + hour, because: 'due' },
      { at: startAt + 2 * hour, because: 'due' },
    ])
    await stage().fire()
    expect((await backfilled(stage(), stretch)).made.map(({ at }) => at)).toEqual([startAt + hour])
  })

  it('makes up for a pause that lasts, and not for what comes due once it is over', async () => {
    await stage().put({ overlap: 'allow' })
    await stage().store.do(pauseSchedule, 'report', { until: startAt + 2 * hour, reason: 'r' })
    stage().to(startAt + 3 * hour + minute)
    const stretch = { from: startAt + hour, to: startAt + 3 * hour + minute }
    const { made, left } = await backfilled(stage(), stretch)
    expect(made.map(({ at }) => at)).toEqual([startAt + hour])
    expect(left.map(({ at, because }) => [at, because])).toEqual([
      [startAt + 2 * hour, 'due'],
      [startAt + 3 * hour, 'due'],
    ])
  })

  it.each(['skip', 'queue', 'cancel'] as const)(
    'under %s the runs go one after the other, oldest first',
    async (overlap) => {
      await stage().put({ overlap, ...(overlap === 'queue' && { queueMax: 1 }), maxLatenessMs: 9 * hour })
      await stage().fireAt(startAt + hour)
      const live = await stage().leaseOne()
      const { made, kept } = await backfilled(stage(), threeHours)
      expect(kept).toBe('overlap')
      expect(await stage().lease()).toEqual([])
      expect((await stage().run(live.runId)).lease?.cancelRequestedAt).toBeNull()
      const waits = await Promise.all(made.map(async ({ run }) => (await stage().run(run)).waitsFor))
      expect(waits).toEqual([live.runId, made[0]?.run, made[1]?.run])
      await stage().end(live)
      for (const { run } of made) {
        const lease = await stage().leaseOne()
        expect(lease.runId).toBe(run)
        await stage().end(lease)
      }
      expect(await stage().lease()).toEqual([])
    },
  )

  it('occurrences that come due meanwhile follow the overlap rule of the schedule', async () => {
    await stage().put({})
    await backfilled(stage(), threeHours)
    expect(await stage().fireAt(startAt + hour)).toMatchObject({ runs: [], skipped: [{ reason: 'overlap' }] })
    await stage().put({ overlap: 'cancel' })
    const { runs } = await stage().fireAt(startAt + 2 * hour)
    expect((await stage().leaseOne()).runId).toBe(runs[0]?.id)
  })

  it('is held while the schedule is paused, and goes one after the other when it is resumed', async () => {
    await stage().put({})
    await stage().store.do(pauseSchedule, 'report', { reason: 'r' })
    const { made, kept } = await backfilled(stage(), threeHours)
    expect(kept).toBe('held')
    expect((await stage().run(made[0]?.run)).status).toBe('held')
    await stage().store.do(resumeSchedule, 'report')
    for (const { run } of made) {
      const lease = await stage().leaseOne()
      expect(lease.runId).toBe(run)
      await stage().end(lease)
    }
  })

  it('obeys the ceiling of its key', async () => {
    await stage().store.do(setQueue, 'default', {
      policy: { maxConcurrentPerKey: 1 },
      actor: { name: 'a', door: 'test' },
    })
    await stage().put({ overlap: 'allow', concurrencyKey: 'k' })
    const { made } = await backfilled(stage(), threeHours)
    expect((await stage().leaseOne()).runId).toBe(made[0]?.run)
  })

  it('of a zone with summer time makes the instants that its calendar has, and no others', async () => {
    await stage().put({ timing: { cron: '30 2 * * *', zone: 'Europe/Paris' }, overlap: 'allow' })
    const gap = await backfilled(stage(), { from: Date.UTC(2025, 2, 29), to: Date.UTC(2025, 3, 1) })
    expect(gap.made.map(({ at }) => new Date(at).toISOString())).toEqual([
      '2025-03-29T01:30:00.000Z',
      '2025-03-30T01:00:00.000Z',
      '2025-03-31T00:30:00.000Z',
    ])
    const overlap = await backfilled(stage(), { from: Date.UTC(2025, 9, 25), to: Date.UTC(2025, 9, 28) })
    expect(overlap.made.map(({ at }) => new Date(at).toISOString())).toEqual([
      '2025-10-25T00:30:00.000Z',
      '2025-10-26T00:30:00.000Z',
      '2025-10-27T01:30:00.000Z',
    ])
  })

  it('leaves out, and says so, what lies before the start or after the end of the schedule', async () => {
    const window = { startAt: startAt + hour, endAt: startAt + 3 * hour }
    await stage().put({ ...window, missed: 'skip', overlap: 'allow' })
    await stage().fireAt(startAt + 6 * hour)
    const { made, left } = await backfilled(stage(), { from: startAt, to: startAt + 5 * hour })
    expect(made.map(({ at }) => at)).toEqual([startAt + hour, startAt + 2 * hour, startAt + 3 * hour])
    expect(left).toEqual([
      { at: startAt, because: 'before-start' },
      { at: startAt + 4 * hour, because: 'after-end' },
    ])
  })

  it('of a fixed rate has the instants of its grid, which begins with the schedule', async () => {
    await stage().put({ timing: { everyMs: hour, from: 'start' }, overlap: 'allow', missed: 'skip' })
    stage().to(startAt + 3 * hour + 2 * minute)
    await stage().fire()
    const { made, left } = await backfilled(stage(), { from: startAt - 10 * hour, to: startAt + 3 * hour + minute })
    expect(made.map(({ at }) => at)).toEqual([startAt + hour, startAt + 2 * hour, startAt + 3 * hour])
    expect(left).toEqual([])
  })

  it('makes nothing at all where there are more than a thousand instants, and says how many there are', async () => {
    await stage().put({ timing: { cron: '* * * * *', zone: 'UTC' }, overlap: 'allow' })
    const from = startAt - 1_001 * minute
    expect(await stage().store.do(backfillSchedule, 'report', { from, to: startAt })).toEqual({
      answer: 'too-many',
      count: 1_001,
      countIsAtLeast: false,
      most: 1_000,
      fitsUntil: startAt - minute,
    })
    expect((await backfilled(stage(), { from, to: startAt - minute })).made).toHaveLength(1_000)
  })

  it('is not for schedules whose instants nobody can name', async () => {
    await stage().put({ name: 'once', timing: { at: startAt + hour } })
    await stage().put({ name: 'delay', timing: { everyMs: hour } })
    await stage().put({ name: 'hinted', timing: {} })
    const because = async (name: string) => stage().store.do(backfillSchedule, name, threeHours)
    expect(await because('once')).toEqual({ answer: 'no-instants', because: 'once' })
    expect(await because('delay')).toEqual({ answer: 'no-instants', because: 'delay' })
    expect(await because('hinted')).toEqual({ answer: 'no-instants', because: 'no-timing' })
  })

  it('finds no schedule that was deleted, and ends with its schedule', async () => {
    await stage().put({ overlap: 'queue' })
    const { made } = await backfilled(stage(), threeHours)
    await stage().store.do(deleteSchedule, 'report')
    for (const { run } of made) {
      expect(await stage().run(run)).toMatchObject({ status: 'cancelled', end: { reason: 'schedule-deleted' } })
    }
    expect(await stage().store.do(backfillSchedule, 'report', threeHours)).toEqual({ answer: 'not-found' })
    expect(await stage().store.do(backfillSchedule, 'no\0body', threeHours)).toEqual({ answer: 'not-found' })
    await stage().put({})
    expect((await backfilled(stage(), threeHours)).made).toHaveLength(3)
  })

  it('refuses a stretch that has not passed, or has no length', async () => {
    await stage().put({})
    const asks: BackfillRequest[] = [
      { from: startAt - hour, to: startAt + 1 },
      { from: startAt, to: startAt },
      { from: -1, to: startAt },
      { from: startAt - hour, to: startAt, again: 'yes' as never },
      { from: startAt - hour, to: startAt, limit: 5 } as never,
    ]
    for (const ask of asks) {
      await expect(stage().store.do(backfillSchedule, 'report', ask), JSON.stringify(ask)).rejects.toMatchObject({
        code: 'invalid',
      })
    }
    expect((await stage().store.look(listRuns, { limit: 10 })).runs).toEqual([])
  })

  it('that is done again by hand stands for the same instant', async () => {
    await stage().put({})
    const { made } = await backfilled(stage(), { from: startAt - hour, to: startAt })
    await stage().fail(await stage().leaseOne())
    stage().pass(minute)
    const retried = await stage().store.do(retryRun, made[0]?.run ?? '')
    const once = await stage().leaseOne()
    expect([retried, once.dueAt]).toMatchObject([{ answer: 'created' }, startAt - hour])
    await stage().fail(once)
    await stage().store.do(retryRun, once.runId)
    expect((await stage().leaseOne()).dueAt).toBe(startAt - hour)
  })
})
