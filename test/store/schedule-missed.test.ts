import { describe, expect, it } from 'vitest'
import { dueOf } from '../../src/core/schedule/next-plan.ts'
import { upcoming } from '../../src/operations/schedule/upcoming.ts'
import { listLedger } from '../../src/store/reads/find-schedule.ts'
import { resetRun } from '../../src/store/runs/reset-run.ts'
import { runNow } from '../../src/store/schedules/run-now.ts'
import { scheduleRowOf } from '../../src/store/schedules/schedule-row.ts'
import { clearHints, setHint } from '../../src/store/schedules/set-hint.ts'
import { hour, hourly, minute, onEachStore, second, startAt } from './schedule-stage.ts'

const day = 24 * hour
const minutely = { cron: '* * * * *', zone: 'UTC' }
const spread = { recurringFraction: 0.5, recurringCapMs: hour, oneShotMaxMs: 90 * second, oneShotMinuteModulo: 30 }

onEachStore('late and missed', (stage) => {
  it('fires what is merely late, and calls nothing missed', async () => {
    await stage().put({ missed: 'skip' })
    const { runs } = await stage().fireAt(startAt + hour + minute)
    expect(runs).toMatchObject([{ occurrenceAt: startAt + hour }])
  })

  it('once: the newest stands for all that were missed, and those before it share one row', async () => {
    await stage().put({})
    const { runs, skipped } = await stage().fireAt(startAt + 5 * hour + 10 * minute)
    expect(runs).toMatchObject([{ occurrenceAt: startAt + 5 * hour }])
    expect(skipped).toEqual([{ schedule: 'report', from: startAt + hour, count: 4, reason: 'missed' }])
    expect(await stage().ledger()).toEqual([
      { from: startAt + hour, to: startAt + 4 * hour, count: 4, outcome: 'missed' },
      { from: startAt + 5 * hour, to: startAt + 5 * hour, count: 1, outcome: 'fired' },
    ])
    expect(await stage().view()).toMatchObject({
      nextRunAt: startAt + 6 * hour,
      lastPlannedAt: startAt + 5 * hour,
      // Those that ended without a run ended now.
      anchorAt: startAt + 5 * hour + 10 * minute,
    })
  })

  it('ledger: a gap of any length is one row, extended in place by the next one of the same reason', async () => {
    await stage().put({ timing: minutely, missed: 'skip' })
    await stage().fireAt(startAt + 30 * day + 2 * minute + 30 * second)
    await stage().fireAt(startAt + 30 * day + 10 * minute + 30 * second)
    // The newest of each look is merely late and fires; it stands between the rows of those before it.
    expect(await stage().ledger()).toMatchObject([
      { from: startAt + minute, count: 30 * 24 * 60 + 1, outcome: 'missed' },
      { outcome: 'fired' },
      { count: 7, outcome: 'missed' },
      { outcome: 'overlap' },
    ])
  })

  it('ledger: skips in a row for one reason and one cause share a row', async () => {
    await stage().put({})
    const { runs } = await stage().fireAt(startAt + hour)
    for (const hours of [2, 3, 4]) await stage().fireAt(startAt + hours * hour)
    expect(await stage().store.look(listLedger, 'report')).toMatchObject([
      { from: startAt + 2 * hour, to: startAt + 4 * hour, count: 3, outcome: 'overlap', causedBy: runs[0]?.id },
      { outcome: 'fired' },
    ])
  })

  it('ledger: skips with another cause have a row of their own', async () => {
    await stage().put({})
    await stage().store.do(runNow, 'report')
    await stage().fireAt(startAt + hour)
    await stage().end(await stage().leaseOne())
    await stage().store.do(runNow, 'report')
    await stage().fireAt(startAt + 2 * hour)
    const rows = await stage().store.look(listLedger, 'report')
    expect(rows).toMatchObject([{ outcome: 'overlap' }, { outcome: 'overlap' }])
    expect(rows[0]?.causedBy).not.toBe(rows[1]?.causedBy)
  })

  it('maxLateness: what is too late ends skipped, at fire and again before its first attempt', async () => {
    await stage().put({ maxLatenessMs: 10 * minute })
    await stage().fireAt(startAt + hour + 11 * minute)
    expect(await stage().ledger()).toMatchObject([{ outcome: 'lateness', count: 1 }])
    const { runs } = await stage().fireAt(startAt + 2 * hour)
    stage().pass(10 * minute + 1)
    expect(await stage().lease()).toEqual([])
    expect(await stage().run(runs[0]?.id)).toMatchObject({ status: 'skipped', end: { reason: 'lateness' } })
    expect((await stage().ledger())[1]).toMatchObject({ outcome: 'skipped' })
  })

  it('maxLateness is not held against what is merely late in a busy queue', async () => {
    await stage().put({ timing: { everyMs: 5 * second } })
    await stage().fireAt(startAt + 5 * second)
    stage().pass(minute)
    expect(await stage().lease()).toHaveLength(1)
  })

  it('all: fires every missed one, oldest first, each after its share of the catch-up', async () => {
    await stage().put({ missed: 'all', overlap: 'allow' })
    const { runs } = await stage().fireAt(startAt + 5 * hour + 10 * minute)
    expect(runs.map(({ occurrenceAt }) => occurrenceAt)).toEqual([1, 2, 3, 4, 5].map((hours) => startAt + hours * hour))
    const shares = await Promise.all(
      runs.map(async ({ id }) => ((await stage().run(id)).notBefore ?? stage().clock.now) - stage().clock.now),
    )
    expect(new Set(shares).size).toBeGreaterThan(2)
    expect(Math.max(...shares)).toBeLessThan(30 * second)
    expect(await stage().view()).toMatchObject({ runsCount: 5, nextRunAt: startAt + 6 * hour })
  })

  it('all: what is made up queues by itself, one at a time in the order of the calendar', async () => {
    await stage().put({ missed: 'all' })
    const { runs } = await stage().fireAt(startAt + 3 * hour + 10 * minute)
    const order: string[] = []
    for (const _ of runs) {
      const lease = await stage().leaseOne()
      order.push(lease.runId)
      await stage().end(lease)
    }
    expect(order).toEqual(runs.map(({ id }) => id))
    expect(await stage().lease()).toEqual([])
  })

  it('a catch-up of more occurrences than maxRuns ends with maxRuns', async () => {
    await stage().put({ missed: 'all', maxRuns: 2 })
    expect((await stage().fireAt(startAt + 4 * hour + 10 * minute)).runs).toHaveLength(2)
    expect(await stage().ledger()).toMatchObject([
      { outcome: 'fired' },
      { outcome: 'fired' },
      { outcome: 'max-runs', count: 2 },
    ])
    expect(await stage().view()).toMatchObject({ runsCount: 2, nextRunAt: null })
  })

  it('a missed one-shot that asks is a parked run that starts when a person resets it, however late that is', async () => {
    await stage().put({ timing: { at: startAt + hour }, asksWhenMissed: true, maxLatenessMs: minute })
    const { runs } = await stage().fireAt(startAt + 2 * hour)
    expect(runs).toMatchObject([{ isAsked: true, occurrenceAt: startAt + hour }])
    const id = runs[0]?.id ?? ''
    expect(await stage().store.look(listLedger, 'report')).toMatchObject([
      { from: startAt + hour, count: 1, outcome: 'asked', runId: id, endedAt: startAt + 2 * hour },
    ])
    expect(await stage().view()).toMatchObject({ nextRunAt: null, wakeAt: null, runsCount: 1 })
    expect(await stage().run(id)).toMatchObject({ status: 'parked', parked: { reason: 'missed' }, attempts: 0 })
    expect(await stage().lease()).toEqual([])
    expect(await stage().store.do(resetRun, id)).toBe('ready')
    const lease = await stage().leaseOne()
    expect(lease.runId).toBe(id)
    await stage().end(lease)
    expect(await stage().ledger()).toMatchObject([{ outcome: 'asked' }])
  })

  it('a fixed delay that is skipped is measured anew from the skip, and not asked for again at once', async () => {
    await stage().put({ timing: { everyMs: hour }, missed: 'skip' })
    expect(await stage().fireAt(startAt + 3 * hour)).toMatchObject({ runs: [], more: false })
    expect(await stage().ledger()).toEqual([{ from: startAt + hour, to: startAt + hour, count: 1, outcome: 'missed' }])
    expect(await stage().view()).toMatchObject({ nextRunAt: startAt + 4 * hour })
  })
})

onEachStore('spread', (stage) => {
  it('law 7: an occurrence keeps its nominal identity and fires at its due instant, never before', async () => {
    await stage().put({ spread })
    const { nextRunAt, nextDueAt } = await stage().view()
    expect(nextRunAt).toBe(startAt + hour)
    expect(nextDueAt).toBeGreaterThan(startAt + hour)
    expect((await stage().fireAt((nextDueAt ?? 0) - 1)).runs).toEqual([])
    const { runs } = await stage().fireAt(nextDueAt ?? 0)
    expect(await stage().run(runs[0]?.id)).toMatchObject({ occurrenceAt: startAt + hour, dueAt: nextDueAt })
    expect((await stage().view()).nextRunAt).toBe(startAt + 2 * hour)
  })

  it('an occurrence between its nominal and its due instant is passed by nobody', async () => {
    await stage().put({ spread, timing: { cron: '*/10 * * * *', zone: 'UTC' }, overlap: 'allow' })
    const offsetMs = ((await stage().view()).nextDueAt ?? 0) - (startAt + 10 * minute)
    expect(offsetMs).toBeGreaterThan(0)
    // The occurrence of :10 is over, that of :20 has begun but is not due.
    await stage().fireAt(startAt + 20 * minute + offsetMs - 1)
    expect(await stage().view()).toMatchObject({
      lastPlannedAt: startAt + 10 * minute,
      nextRunAt: startAt + 20 * minute,
    })
    await stage().store.do(setHint, 'report', {
      kind: 'oneshot',
      at: startAt + hour,
      expiresAt: startAt + 2 * hour,
      reason: 'r',
      author: 'a',
    })
    expect((await stage().view()).nextRunAt).toBe(startAt + 20 * minute)
    expect((await stage().fireAt(startAt + 20 * minute + offsetMs)).runs).toHaveLength(1)
    expect((await stage().view()).nextRunAt).toBe(startAt + 30 * minute)
  })

  it.each([
    ['a calendar', { timing: { cron: '*/30 * * * *', zone: 'UTC' } }],
    ['a calendar with a start that is over', { timing: { cron: '*/30 * * * *', zone: 'UTC' }, startAt }],
    ['a fixed rate with a start that is over', { timing: { everyMs: 30 * minute, from: 'start' as const }, startAt }],
  ])('%s brings nothing from before it was written, though its spread is not over', async (_, edited) => {
    await stage().put({ spread, overlap: 'allow' })
    const offsetMs = ((await stage().view()).nextDueAt ?? 0) - (startAt + hour)
    expect(offsetMs).toBeGreaterThan(1)
    await stage().fireAt(startAt + hour + offsetMs)
    // The half hour would be due by now and half of the offset: its period is half as long.
    stage().to(startAt + hour + 30 * minute + 1)
    await stage().put({ spread, overlap: 'allow', ...edited })
    const { nextRunAt, nextDueAt } = await stage().view()
    expect({ nextRunAt, nextDueAt }).toEqual({
      nextRunAt: startAt + 2 * hour,
      nextDueAt: startAt + 2 * hour + Math.floor(offsetMs / 2),
    })
    // Nor does it when it is asked once more.
    const at = startAt + 9 * hour
    await stage().store.do(setHint, 'report', { kind: 'oneshot', at, expiresAt: at + hour, reason: 'r', author: 'a' })
    expect((await stage().view()).nextRunAt).toBe(startAt + 2 * hour)
    // What comes under the new timing is passed by nobody.
    await stage().fireAt(startAt + 2 * hour + 30 * minute + 1)
    expect(await stage().view()).toMatchObject({
      lastPlannedAt: startAt + 2 * hour,
      nextRunAt: startAt + 2 * hour + 30 * minute,
    })
  })

  const asksAgain: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['cleared', () => stage().store.do(clearHints, 'report', ['interval'])],
    ['over', () => stage().fire()],
  ]
  describe.each(asksAgain)('once an interval hint is %s', (_, askAgain) => {
    /** Has an interval hint stand before the calendar until just after an instant. */
    async function hideUntil(expiresAt: number): Promise<void> {
      await stage().store.do(setHint, 'report', { kind: 'interval', ms: 9 * hour, expiresAt, reason: 'r', author: 'a' })
      expect((await stage().view()).nextRunAt).toBeGreaterThan(expiresAt)
    }

    async function expectItsEnd(at: number): Promise<void> {
      const [foreseen] = upcoming({ now: stage().clock.now, schedule: await stage().view(), count: 1 })
      stage().to(at + 1)
      await askAgain()
      const { nextRunAt, nextDueAt } = await stage().view()
      expect(nextRunAt).toBe(at)
      expect(nextDueAt).toBeGreaterThan(at + 1)
      expect(foreseen).toMatchObject({ at, dueAt: nextDueAt })
      expect((await stage().fireAt(nextDueAt ?? 0)).runs).toMatchObject([{ occurrenceAt: at }])
    }

    it.each([
      ['calendar', { timing: hourly }],
      ['fixed rate', { timing: { everyMs: hour, from: 'start' as const } }],
    ])('the first occurrence of a new %s has its end, though its nominal instant is over', async (_, timed) => {
      await stage().put({ spread, ...timed })
      await hideUntil(startAt + hour + 1)
      await expectItsEnd(startAt + hour)
    })

    it.each([
      ['calendar', { timing: hourly }],
      ['fixed rate', { timing: { everyMs: hour, from: 'start' as const } }],
    ])('so has the one of a %s that is the very instant from which an edit lets it start', async (_, timed) => {
      await stage().put({ spread, ...timed })
      await stage().runAt(startAt + hour + 30 * minute)
      await stage().put({ spread, ...timed, startAt: startAt + 3 * hour })
      await hideUntil(startAt + 3 * hour + 1)
      await expectItsEnd(startAt + 3 * hour)
    })

    it('an edit of something else does not make its timing a new one', async () => {
      await stage().put({ spread })
      await hideUntil(startAt + hour + 1)
      stage().to(startAt + hour)
      await stage().put({ spread, priority: 7 })
      await expectItsEnd(startAt + hour)
    })
  })

  it('hints are not spread', async () => {
    await stage().put({ spread })
    const at = startAt + 5 * minute
    await stage().store.do(setHint, 'report', { kind: 'oneshot', at, expiresAt: at + hour, reason: 'r', author: 'a' })
    expect(await stage().view()).toMatchObject({ nextRunAt: at, nextDueAt: at })
  })

  it('law 7: a one-shot is not due before it was written, also when an edit moves it near', async () => {
    await stage().put({ spread, timing: { at: startAt + 10 * hour } })
    const early = (await stage().view()).nextDueAt
    expect(early).toBeLessThan(startAt + 10 * hour)
    stage().to(startAt + hour - second)
    await stage().put({ spread, timing: { at: startAt + hour } })
    expect(await stage().view()).toMatchObject({ nextRunAt: startAt + hour, nextDueAt: startAt + hour })
    expect((await stage().fire()).runs).toEqual([])
  })

  it('plans the same due instant that a look back finds', async () => {
    await stage().put({ spread, missed: 'all', overlap: 'allow' })
    const [row] = await stage().sql('select * from belfry.schedule')
    if (row === undefined) throw new Error('there is no row')
    const { runs } = await stage().fireAt(startAt + 4 * hour + 50 * minute)
    expect(runs).toHaveLength(4)
    for (const { id, occurrenceAt } of runs) {
      expect((await stage().run(id)).dueAt).toBe(dueOf(scheduleRowOf(row), occurrenceAt, 'baseline'))
    }
  })
})
