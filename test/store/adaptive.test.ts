import { expect, it } from 'vitest'
import type { Author } from '../../src/core/schedule/hint-author.ts'
import { listHints } from '../../src/store/reads/find-schedule.ts'
import { hintsWithOutcomes } from '../../src/store/reads/hint-outcomes.ts'
import { listAttempts } from '../../src/store/reads/list-attempts.ts'
import { pauseSchedule, resumeSchedule, writePause } from '../../src/store/schedules/pause-schedule.ts'
import { resetSchedule } from '../../src/store/schedules/reset-schedule.ts'
import { runNow } from '../../src/store/schedules/run-now.ts'
import { lockNamedSchedule } from '../../src/store/schedules/schedule-row.ts'
import { clearHints, setHint } from '../../src/store/schedules/set-hint.ts'
import { type HintWish, writeHint } from '../../src/store/schedules/steer-schedule.ts'
import { clockNow, type Step } from '../../src/store/statement.ts'
import type { StoreContext } from '../../src/store/store-context.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
import { Desk, problemsIn, verbsAt } from '../operations/desk.ts'
import { actor, hour, minute, onEachStore, type Stage, second, startAt } from './schedule-stage.ts'

const reason = 'a test'
const hourly = { timing: { everyMs: hour } }
const planner: Author = { kind: 'planner', name: 'model' }

function* asPlanner(context: StoreContext, wanted: HintWish | { readonly until: number }): Step<{ answer: string }> {
  const row = yield* lockNamedSchedule(context, 'report')
  if (row === null) return { answer: 'not-found' }
  const now = yield* clockNow()
  if ('until' in wanted) return yield* writePause(row, { ...wanted, reason, author: planner, now })
  return yield* writeHint(context, row, { wish: wanted, author: planner, now })
}

function hinted({ store }: Stage, ms: number, ttlMs = hour, why = reason) {
  return store.do(setHint, 'report', { kind: 'interval', ms, ttlMs, reason: why, author: 'tester' })
}

function onceAt({ store }: Stage, at: number, ttlMs = hour, why = reason) {
  return store.do(setHint, 'report', { kind: 'oneshot', at, ttlMs, reason: why, author: 'tester' })
}

/** The states from which a change has to take effect at once. */
const states: readonly [string, (stage: Stage) => Promise<unknown>][] = [
  ['a schedule that waits for its instant', async () => undefined],
  ['one whose run is over', (stage) => stage.runAt(startAt + hour)],
  ['one that backs off', (stage) => stage.runAt(startAt + hour, { kind: 'failed', reason: 'x', retryable: false })],
  [
    'one that a planner has slowed down',
    (stage) => stage.store.do(asPlanner, { kind: 'interval', ms: 9 * hour, ttlMs: 20 * hour, reason }),
  ],
  [
    'one that was paused and resumed',
    async ({ store }) => {
      await store.do(pauseSchedule, 'report', { until: startAt + 24 * hour, reason, actor })
      await store.do(resumeSchedule, 'report', { actor })
    },
  ],
]

onEachStore('adaptive schedules', (stage) => {
  it.each(states)(
    'adaptive 1: a hint, run-now, resume, reset, clear and edit take effect at once on %s',
    async (_, bring) => {
      await stage().put({ ...hourly, overlap: 'allow' })
      await bring(stage())
      const { store, clock } = stage()
      const next = async () => (await stage().view()).nextRunAt
      const { anchorAt, failureCount } = await stage().view()
      await hinted(stage(), 30 * second)
      expect(await next()).toBe(Math.max(anchorAt + 30 * second, clock.now))
      await store.do(clearHints, 'report', ['interval', 'oneshot'])
      expect(await next()).toBe(anchorAt + hour * 2 ** failureCount)
      await store.do(resetSchedule, 'report', { actor })
      expect(await next()).toBe(anchorAt + hour)
      await store.do(pauseSchedule, 'report', { until: clock.now + 5 * hour, reason, actor })
      await store.do(resumeSchedule, 'report', { actor })
      expect(await next()).toBe(anchorAt + hour)
      await onceAt(stage(), clock.now + second)
      expect(await next()).toBe(clock.now + second)
      await store.do(clearHints, 'report', ['oneshot'])
      await stage().put({ timing: { everyMs: 10 * minute }, overlap: 'allow' })
      expect(await next()).toBe(clock.now + 10 * minute)
      await store.do(runNow, 'report')
      expect(await stage().lease()).toHaveLength(1)
    },
  )

  it('adaptive 4: a one-shot starts exactly once and then disappears', async () => {
    await stage().put(hourly)
    await onceAt(stage(), startAt + 5 * minute)
    const [first, second_] = [await stage().fireAt(startAt + 5 * minute), await stage().fire()]
    expect([first.runs.length, second_.runs.length]).toEqual([1, 0])
    expect((await stage().view()).hints).toEqual({})
    await stage().end(await stage().leaseOne())
    expect((await stage().fireAt(startAt + 10 * minute)).runs).toEqual([])
    expect(await stage().view()).toMatchObject({ nextRunAt: startAt + 5 * minute + hour, runsCount: 1 })
  })

  it('adaptive 6: the k-th failure waits base × 2^k, and the first success returns to the base at once', async () => {
    await stage().put(hourly)
    const waits: number[] = []
    const failed = { kind: 'failed', reason: 'x', retryable: false } as const
    for (const outcome of [failed, failed, failed, { kind: 'success' } as const]) {
      const { nextRunAt } = await stage().view()
      await stage().runAt(nextRunAt ?? 0, outcome)
      waits.push((((await stage().view()).nextRunAt ?? 0) - stage().clock.now) / hour)
    }
    expect(waits).toEqual([2, 4, 8, 1])
  })

  it('adaptive 7: nothing starts before its instant, and a cron that min moves stays on its calendar', async () => {
    await stage().put({ timing: { cron: '*/10 * * * *', zone: 'UTC' }, minMs: 25 * minute })
    const { nextRunAt } = await stage().view()
    expect((await stage().fireAt((nextRunAt ?? 0) - 1)).runs).toEqual([])
    await stage().runAt(nextRunAt ?? 0)
    const view = await stage().view()
    expect(view).toMatchObject({ nextRunAt: (nextRunAt ?? 0) + 30 * minute, nextDecision: { source: 'clamped-min' } })
  })

  it('adaptive 8: a run that fails ends, and the schedules beside it go on', async () => {
    await stage().put(hourly)
    await stage().put({ ...hourly, name: 'other' })
    await stage().fireAt(startAt + hour)
    const [first, second_] = await stage().lease()
    if (first === undefined || second_ === undefined) throw new Error('two runs are to go')
    await stage().fail(first)
    await stage().end(second_)
    expect([(await stage().run(first.runId)).status, (await stage().run(second_.runId)).status]).toEqual([
      'failed',
      'completed',
    ])
    const nexts = [(await stage().view()).nextRunAt, (await stage().view('other')).nextRunAt]
    expect(nexts.toSorted()).toEqual([startAt + 2 * hour, startAt + 3 * hour])
  })

  it('adaptive 9: each hint has its own time to live and reason', async () => {
    await stage().put(hourly)
    await hinted(stage(), 10 * minute, 5 * minute, 'it grows')
    await onceAt(stage(), startAt + 20 * hour, 24 * hour, 'a release')
    await stage().fireAt(startAt + 5 * minute)
    expect(await stage().store.look(listHints, 'report')).toMatchObject([
      { kind: 'oneshot', reason: 'a release', expiresAt: startAt + 24 * hour, ended: null },
      {
        kind: 'interval',
        reason: 'it grows',
        expiresAt: startAt + 5 * minute,
        ended: { by: 'expired', at: startAt + 5 * minute },
      },
    ])
    const { hints, nextRunAt } = await stage().view()
    expect(hints).toEqual({ oneshot: { at: startAt + 20 * hour, expiresAt: startAt + 24 * hour } })
    expect(nextRunAt).toBe(startAt + hour)
  })

  it('adaptive 9: no schedule has a min over its max, be they written at the same moment, nor a max below what its namespace allows', async () => {
    const { context } = new Desk(stage().store, new TestClock(startAt))
    const { schedules, namespaces } = verbsAt(() => context)
    const spec = { name: 'report', every: '6h', min: '1m', max: '3h', target: { handler: 'report' } }
    expect(await problemsIn(schedules.put({ ...spec, min: '4h' }))).toMatchObject([{ field: 'min' }])
    for (let round = 0; round < 5; round += 1) {
      await schedules.put(spec)
      const name = 'report'
      await Promise.allSettled([schedules.update({ name, min: '2h' }), schedules.update({ name, max: '1h' })])
      const { minMs, maxMs } = (await stage().view()).spec
      expect([minMs, maxMs]).toEqual(minMs === minute ? [minute, hour] : [2 * hour, 3 * hour])
    }
    await namespaces.set('default', { everyMin: '10m' })
    expect(await problemsIn(schedules.put({ ...spec, max: '9m' }))).toMatchObject([{ field: 'max' }])
    await schedules.put({ ...spec, max: '10m' })
  })

  it('adaptive 13: a run keeps its instant, the source decided when it was planned, its worker, its attempts and how each ended', async () => {
    await stage().put(hourly)
    await hinted(stage(), 10 * minute, 11 * minute)
    const { runs } = await stage().fireAt(startAt + 10 * minute)
    // By the time it is executed the hint is over, and what comes next has another source.
    stage().to(startAt + 30 * minute)
    const first = await stage().leaseOne()
    await stage().end(first, { kind: 'failed', reason: 'no-answer', retryable: true })
    stage().pass(minute)
    const { runId, fence, scheduleId } = await stage().leaseOne()
    const outcome = { kind: 'failed', reason: 'status-500', retryable: false } as const
    const result = { status: 500, headers: {}, body: 'down' }
    await stage().store.settle([{ runId, fence, scheduleId, outcome, result }])
    const run = await stage().run(runs[0]?.id)
    expect(run).toMatchObject({
      ...{ id: runId, occurrenceAt: startAt + 10 * minute, source: 'ai-interval', status: 'failed' },
      ...{ fence: 2, end: { reason: 'status-500 (not retryable)' }, result: { value: { status: 500 } } },
    })
    expect(run.decision?.state?.hints?.interval?.ms).toBe(10 * minute)
    const { workerId } = stage()
    expect(await stage().store.look(listAttempts, runId)).toMatchObject([
      { fence: 1, workerId, startedAt: startAt + 30 * minute, outcome: 'failed', reason: 'no-answer', ends: null },
      {
        fence: 2,
        workerId,
        endedAt: startAt + 31 * minute,
        outcome: 'failed',
        reason: 'status-500 (not retryable)',
        ends: 'failed',
      },
    ])
    expect(await stage().view()).toMatchObject({ failureCount: 1, nextDecision: { source: 'baseline-interval' } })
  })

  it('adaptive 14: what a planner wants is bounded, and a pause of it ends by itself', async () => {
    await stage().put({ ...hourly, minMs: minute, maxMs: 2 * hour })
    const { store } = stage()
    const clamped = await store.do(asPlanner, { kind: 'interval', ms: second, ttlMs: hour, reason })
    expect(clamped).toMatchObject({ answer: 'written', clamped: { from: second, to: minute } })
    const long = await store.do(asPlanner, { kind: 'interval', ms: minute, ttlMs: 25 * hour, reason })
    expect(long).toMatchObject({ answer: 'refused', refusal: { code: 'not-allowed', field: 'expiresAt' } })
    expect(await store.do(asPlanner, { until: startAt + 100 * hour })).toMatchObject({ until: startAt + 2 * hour })
    expect((await stage().fireAt(startAt + 2 * hour)).runs).toHaveLength(1)
  })

  it('an hourly endpoint follows a 30 s hint at once, and its baseline after it', async () => {
    await stage().put({ ...hourly, startNow: true })
    await stage().runAt(startAt)
    stage().pass(20 * minute)
    const hintedAt = stage().clock.now
    await hinted(stage(), 30 * second, 5 * minute)
    expect((await stage().view()).nextRunAt).toBe(hintedAt)
    const explained = () => {
      const { context } = new Desk(stage().store, new TestClock(stage().clock.now))
      return verbsAt(() => context).schedules.explain('report')
    }
    expect(await explained()).toMatchObject({
      next: { at: hintedAt, source: 'ai-interval' },
      hints: [{ counts: true, reason }],
    })
    const starts: number[] = []
    for (let wakeAt: number | null = hintedAt; wakeAt !== null && wakeAt < hintedAt + 2 * hour; ) {
      const { runs } = await stage().fireAt(wakeAt)
      if (runs.length > 0) {
        starts.push((stage().clock.now - hintedAt) / second)
        stage().pass(5 * second)
        await stage().end(await stage().leaseOne())
      }
      wakeAt = (await stage().view()).wakeAt
    }
    const underHint = [0, 35, 70, 105, 140, 175, 210, 245, 280]
    expect(starts).toEqual([...underHint, 285 + 3_600])
    expect(await explained()).toMatchObject({ hints: [{ counts: false, ended: { by: 'expired' } }] })
    const [outcome] = await stage().store.look(hintsWithOutcomes, 'report')
    expect(outcome).toMatchObject({ ended: { by: 'expired' }, outcome: { starts: 9, failures: 0, baseline: null } })
  })
})
