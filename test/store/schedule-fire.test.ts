import { expect, it } from 'vitest'
import { answerTo } from '../../src/core/schedule/governor-question.ts'
import { liftHolds } from '../../src/store/holds/lift-hold.ts'
import { putHold } from '../../src/store/holds/put-hold.ts'
import { cancelRun } from '../../src/store/runs/cancel-run.ts'
import { deleteSchedule } from '../../src/store/schedules/delete-schedule.ts'
import { repair } from '../../src/store/schedules/repair.ts'
import { runNow } from '../../src/store/schedules/run-now.ts'
import { stop, stopped } from '../holding.ts'
import { hour, minute, onEachStore, second, startAt } from './schedule-stage.ts'

onEachStore('fire', (stage) => {
  it('makes a run of a due occurrence, with the source and the reasons it was planned by', async () => {
    await stage().put({ payload: { day: 1 }, priority: 7, options: { tags: ['a'] } })
    expect((await stage().view()).nextRunAt).toBe(startAt + hour)
    expect(await stage().fireAt(startAt + hour - 1)).toMatchObject({ runs: [], schedules: 0 })

    const fired = await stage().fireAt(startAt + hour)
    expect(fired).toMatchObject({ runs: [{ schedule: 'report', occurrenceAt: startAt + hour }], more: false })
    const run = await stage().run(fired.runs[0]?.id)
    expect(run).toMatchObject({
      status: 'ready',
      source: 'baseline-cron',
      occurrenceAt: startAt + hour,
      dueAt: startAt + hour,
      lateAfter: startAt + 2 * hour,
      priority: 7,
      payload: { day: 1 },
      target: { handler: 'report' },
      options: { tags: ['a'] },
    })
    expect(run.decision?.at).toBe(startAt)
    expect(run.decision?.trail.map(({ rule }) => rule)).toEqual(['baseline'])
    expect(await stage().view()).toMatchObject({
      lastPlannedAt: startAt + hour,
      nextRunAt: startAt + 2 * hour,
      runsCount: 1,
    })
  })

  it('law 1: an occurrence that has its run gets no second one, whatever the schedule has forgotten', async () => {
    await stage().put({})
    await stage().fireAt(startAt + hour)
    const lease = await stage().leaseOne()
    await stage().end(lease)
    await stage().sql(
      'update belfry.schedule set next_run_at = $1, next_due_at = $1, wake_at = $1, last_planned_at = null, runs_count = 0',
      startAt + hour,
    )
    expect((await stage().fire()).runs).toEqual([])
    expect(await stage().sql('select run_id from belfry.ready union select run_id from belfry.schedule_run')).toEqual(
      [],
    )
    expect(await stage().ledger()).toHaveLength(1)
    expect(await stage().view()).toMatchObject({ nextRunAt: startAt + 2 * hour, runsCount: 0 })
  })

  it('law 1: run-now has no occurrence and moves neither the chain, the counts nor the ledger', async () => {
    await stage().put({ timing: { everyMs: hour } })
    const before = await stage().view()
    stage().pass(minute)
    expect(await stage().store.do(runNow, 'report')).toMatchObject({ answer: 'created' })
    const lease = await stage().leaseOne()
    expect(lease).toMatchObject({ occurrenceAt: null, source: 'run-now' })
    stage().pass(minute)
    await stage().fail(lease)
    expect(await stage().view()).toEqual(before)
    expect(await stage().ledger()).toEqual([])
  })

  it('law 2: a fixed delay names the run it waits for, and the end of that run plans the next', async () => {
    await stage().put({ timing: { everyMs: hour } })
    const { runs } = await stage().fireAt(startAt + hour)
    expect(await stage().view()).toMatchObject({ nextRunAt: null, wakeAt: null, waitsFor: runs[0]?.id })
    stage().pass(10 * minute)
    expect((await stage().fire()).runs).toEqual([])
    await stage().end(await stage().leaseOne())
    expect(await stage().view()).toMatchObject({ nextRunAt: startAt + 2 * hour + 10 * minute, waitsFor: null })
  })

  it('law 2: the chain goes on however the run ends', async () => {
    await stage().put({ timing: { everyMs: hour }, maxLatenessMs: hour })
    const ends: [string, (runId: string) => Promise<unknown>][] = [
      ['failed', async () => stage().fail(await stage().leaseOne())],
      ['cancelled before it is leased', (runId) => stage().store.do(cancelRun, runId, 'no')],
      ['cancelled by its holder', async () => stage().end(await stage().leaseOne(), { kind: 'cancelled' })],
      ['skipped', async () => stage().end(await stage().leaseOne(), { kind: 'skipped', reason: 'guard' })],
      [
        'too late',
        async () => {
          stage().pass(2 * hour)
          expect(await stage().lease()).toEqual([])
        },
      ],
    ]
    for (const [how, end] of ends) {
      const { nextRunAt } = await stage().view()
      const { runs } = await stage().fireAt(nextRunAt ?? 0)
      await end(runs[0]?.id ?? '')
      const { nextRunAt: followingAt, waitsFor } = await stage().view()
      expect(followingAt, how).toBeGreaterThan(stage().clock.now)
      expect(waitsFor, how).toBeNull()
    }
  })

  it('law 2: a retried attempt does not end the occurrence, so the fixed delay goes on waiting', async () => {
    await stage().put({ timing: { everyMs: hour } })
    const { runs } = await stage().fireAt(startAt + hour)
    await stage().end(await stage().leaseOne(), { kind: 'failed', reason: 'flaky' })
    expect(await stage().view()).toMatchObject({ waitsFor: runs[0]?.id, failureCount: 0 })
    expect(await stage().ledger()).toMatchObject([{ outcome: 'fired' }])
    stage().pass(minute)
    await stage().end(await stage().leaseOne())
    expect(await stage().view()).toMatchObject({ nextRunAt: startAt + 2 * hour + minute, waitsFor: null })
    expect(await stage().ledger()).toMatchObject([{ outcome: 'completed' }])
  })

  it('law 6: what the governor was asked is kept with the run, and gives the same answer again', async () => {
    const put = await stage().put({ timing: { everyMs: hour }, minMs: 2 * hour })
    const { runs } = await stage().fireAt(startAt + 2 * hour)
    const run = await stage().run(runs[0]?.id)
    expect(run.source).toBe('clamped-min')
    if (run.decision === null) throw new Error('the run has no decision')
    expect(answerTo(put.schedule.spec, run.decision)).toMatchObject({ at: run.occurrenceAt, source: run.source })
  })

  it('keeps a fixed rate on its grid, whatever the runs take', async () => {
    await stage().put({ timing: { everyMs: hour, from: 'start' } })
    await stage().fireAt(startAt + hour)
    expect(await stage().view()).toMatchObject({ nextRunAt: startAt + 2 * hour, waitsFor: null })
    stage().pass(30 * minute)
    await stage().end(await stage().leaseOne())
    expect((await stage().view()).nextRunAt).toBe(startAt + 2 * hour)
  })

  it('begins at once with startNow, and not before startAt', async () => {
    await stage().put({ timing: { everyMs: hour }, startNow: true })
    await stage().put({ name: 'later', timing: { everyMs: hour }, startAt: startAt + minute })
    expect((await stage().fire()).runs).toMatchObject([{ schedule: 'report', occurrenceAt: startAt }])
    expect((await stage().view('later')).nextRunAt).toBe(startAt + minute)
  })

  it('ends after maxRuns and at endAt, and says that there is nothing more', async () => {
    await stage().put({ maxRuns: 1 })
    await stage().put({ name: 'short', endAt: startAt + hour })
    expect((await stage().fireAt(startAt + hour)).runs).toHaveLength(2)
    for (const name of ['report', 'short']) {
      expect(await stage().view(name)).toMatchObject({
        nextRunAt: null,
        wakeAt: null,
        nextDecision: { source: 'none' },
      })
    }
    expect(await stage().store.do(repair, { limit: 10 })).toEqual([])
  })

  it('a plan that the end of the schedule has overtaken is dropped instead of being looked at for ever', async () => {
    await stage().put({})
    await stage().sql(
      'update belfry.schedule set spec = replace(spec, $1, $2)',
      '"target"',
      `"endAt":${startAt},"target"`,
    )
    expect(await stage().fireAt(startAt + hour)).toMatchObject({ runs: [], more: false })
    expect(await stage().view()).toMatchObject({ nextRunAt: null, wakeAt: null })
  })

  it('does not run one after the other when a run takes longer than max allows between runs', async () => {
    await stage().put({ maxMs: hour, overlap: 'allow' })
    for (const hours of [1, 2, 3]) {
      expect(await stage().fireAt(startAt + hours * hour)).toMatchObject({ runs: [{}], more: false })
      expect((await stage().view()).nextRunAt).toBe(startAt + (hours + 1) * hour)
    }
  })

  it('fires at most as many schedules as it is asked to, from both ends of what is due, and says that there are more', async () => {
    await stage().put({ name: 'b', timing: { at: startAt + 2 * second } })
    await stage().put({ name: 'a', timing: { at: startAt + second } })
    await stage().put({ name: 'c', timing: { at: startAt + 3 * second } })
    stage().pass(minute)
    const first = await stage().fire(2)
    expect(first).toMatchObject({ runs: [{ schedule: 'a' }, { schedule: 'c' }], schedules: 2, more: true })
    expect(await stage().fire(2)).toMatchObject({ runs: [{ schedule: 'b' }], schedules: 1, more: false })
  })

  it.each([1, 2, 3, 5, 8])('fires each of seven schedules once, %i a step, the oldest in the first', async (limit) => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
    // Those due in the same instant are told apart by their ids alone.
    for (const [index, name] of names.entries()) await stage().put({ name, timing: { at: startAt + (index >> 1) + 1 } })
    stage().pass(second)
    const steps: string[][] = []
    for (let more = true; more; ) {
      const fired = await stage().fire(limit)
      more = fired.more
      steps.push(fired.runs.map(({ schedule }) => schedule))
      expect(fired.schedules).toBeLessThanOrEqual(limit)
    }
    expect(steps[0]?.[0]).toBe('a')
    expect(steps.flat().sort()).toEqual(names)
  })

  it('a catch-up that fills a step does not push out the schedule that came due last', async () => {
    const every = { cron: '* * * * *', zone: 'UTC' } as const
    for (let index = 0; index < 60; index++) await stage().put({ name: `s${index}`, timing: every, missed: 'all' })
    stage().pass(2 * hour)
    await stage().put({ name: 'last', timing: { at: stage().clock.now + 1 } })
    stage().pass(1)
    const { runs, more } = await stage().fire(100)
    expect(more).toBe(true)
    expect(runs.map(({ schedule }) => schedule)).toContain('last')
  })

  it('leaves the schedules of a stopped namespace alone', async () => {
    await stage().put({})
    await stage().store.do(putHold, stop)
    expect((await stage().fireAt(startAt + hour)).runs).toEqual([])
    await stage().store.do(liftHolds, stopped, { actor: stop.actor })
    expect((await stage().fire()).runs).toHaveLength(1)
  })

  it('a schedule that cannot be worked out here does not keep the others from firing', async () => {
    await stage().put({ name: 'odd' })
    await stage().put({})
    await stage().sql(`update belfry.schedule set spec = replace(spec, '"UTC"', '"Mars/Olympus"') where name = 'odd'`)
    const fired = await stage().fireAt(startAt + hour)
    expect(fired).toMatchObject({ runs: [{ schedule: 'report' }], broken: [{ schedule: 'odd' }], more: false })
    expect(fired.broken[0]?.error.message).toContain('Mars/Olympus')
    expect((await stage().fire()).broken).toEqual([])
    stage().pass(minute)
    expect((await stage().fire()).broken).toHaveLength(1)
  })

  it('a schedule that cannot be worked out here can still end its runs, be mended and be deleted', async () => {
    const lost = `update belfry.schedule set spec = replace(spec, '"UTC"', '"Mars/Olympus"')`
    await stage().put({})
    await stage().fireAt(startAt + hour)
    await stage().sql(lost)
    expect(await stage().end(await stage().leaseOne())).toMatchObject({ answer: 'written', status: 'completed' })
    stage().pass(hour)
    expect(await stage().put({})).toMatchObject({ answer: 'updated', schedule: { nextRunAt: startAt + 3 * hour } })
    await stage().sql(lost)
    stage().pass(3 * hour)
    expect(await stage().store.do(deleteSchedule, 'report')).toBe('deleted')
  })
})
