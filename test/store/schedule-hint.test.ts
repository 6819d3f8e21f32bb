import { expect, it } from 'vitest'
import type { NewHint } from '../../src/store/port.ts'
import { listHints } from '../../src/store/reads/find-schedule.ts'
import { pauseSchedule, resumeSchedule } from '../../src/store/schedules/pause-schedule.ts'
import { runNow } from '../../src/store/schedules/run-now.ts'
import { clearHints, setHint } from '../../src/store/schedules/set-hint.ts'
import { hour, minute, onEachStore, type Stage, startAt } from './schedule-stage.ts'

const words = { reason: 'traffic is high', author: 'planner' }

function interval(stage: Stage, ms: number, forMs = hour) {
  return stage.store.do(setHint, 'report', { kind: 'interval', ms, expiresAt: stage.clock.now + forMs, ...words })
}

function oneshot(stage: Stage, at: number, forMs = hour) {
  return stage.store.do(setHint, 'report', { kind: 'oneshot', at, expiresAt: at + forMs, ...words })
}

onEachStore('hints', (stage) => {
  it('law 8: an interval hint overrides the cron at once and is measured from the last end', async () => {
    await stage().put({ timing: { cron: '0 0 * * *', zone: 'UTC' } })
    expect(await interval(stage(), 5 * minute, 2 * hour)).toMatchObject({
      answer: 'set',
      nextRunAt: startAt + 5 * minute,
      waitsFor: null,
    })
    const { runs } = await stage().fireAt(startAt + 5 * minute)
    expect((await stage().run(runs[0]?.id)).source).toBe('ai-interval')
    expect(await stage().view()).toMatchObject({ nextRunAt: null, waitsFor: runs[0]?.id, wakeAt: startAt + 2 * hour })
    stage().pass(minute)
    await stage().end(await stage().leaseOne())
    expect((await stage().view()).nextRunAt).toBe(startAt + 11 * minute)
  })

  it('law 8: a hint reaches a schedule that waits for a run', async () => {
    await stage().put({ timing: { everyMs: hour }, overlap: 'allow' })
    const { runs } = await stage().fireAt(startAt + hour)
    expect(await interval(stage(), minute)).toMatchObject({ answer: 'set', nextRunAt: null, waitsFor: runs[0]?.id })
    expect(await oneshot(stage(), startAt + 2 * hour)).toMatchObject({ nextRunAt: startAt + 2 * hour, waitsFor: null })
    expect((await stage().fireAt(startAt + 2 * hour)).runs).toHaveLength(1)
  })

  it('an interval hint on a cron with a live run waits for the end of that run', async () => {
    await stage().put({})
    const { runs } = await stage().fireAt(startAt + hour)
    expect((await stage().view()).nextDecision?.unmeasured).toBeUndefined()
    expect(await interval(stage(), minute)).toMatchObject({ nextRunAt: null, waitsFor: runs[0]?.id })
    expect((await stage().view()).nextDecision?.unmeasured).toEqual(['max'])
    stage().pass(minute)
    await stage().end(await stage().leaseOne())
    expect((await stage().view()).nextRunAt).toBe(startAt + hour + 2 * minute)
  })

  it('an edit to a single instant ends the interval hints of every author, and the instant stays as it was asked for', async () => {
    await stage().put({ timing: { cron: '0 12 * * *', zone: 'UTC' } })
    await interval(stage(), 10 * minute)
    await oneshot(stage(), startAt + 20 * minute)
    await stage().put({ timing: { at: startAt + 30 * minute } })
    expect((await stage().view()).hints).toEqual({ oneshot: expect.anything() })
    await stage().store.do(clearHints, 'report', ['oneshot'])
    expect(await stage().view()).toMatchObject({ nextRunAt: startAt + 30 * minute, hints: {} })
    expect(await stage().store.look(listHints, 'report')).toMatchObject([
      { kind: 'oneshot', ended: { by: 'cleared' } },
      { kind: 'interval', ended: { at: startAt, by: 'edited' } },
    ])
  })

  it('the expiry of a hint is an instant at which the governor is asked', async () => {
    await stage().put({ timing: { cron: '0 12 * * *', zone: 'UTC' } })
    await interval(stage(), 2 * hour, hour)
    expect(await stage().view()).toMatchObject({ nextRunAt: startAt + 2 * hour, wakeAt: startAt + hour })
    expect((await stage().fireAt(startAt + hour)).runs).toEqual([])
    expect(await stage().view()).toMatchObject({ nextRunAt: startAt + 3 * hour, hints: {} })
    expect(await stage().store.look(listHints, 'report')).toMatchObject([
      { ended: { by: 'expired', at: startAt + hour } },
    ])
  })

  it('a hint that expired while nobody looked did not plan what came after its expiry', async () => {
    await stage().put({ timing: { cron: '0 12 * * *', zone: 'UTC' } })
    await interval(stage(), 2 * hour, hour)
    expect((await stage().fireAt(startAt + 2 * hour + minute)).runs).toEqual([])
    expect(await stage().view()).toMatchObject({ nextRunAt: startAt + 3 * hour })
  })

  it('the expiry of an interval hint frees a cron from the run it waited for', async () => {
    await stage().put({})
    await stage().fireAt(startAt + hour)
    await interval(stage(), minute, 30 * minute)
    await stage().fireAt(startAt + hour + 30 * minute)
    expect(await stage().view()).toMatchObject({ nextRunAt: startAt + 2 * hour, waitsFor: null })
  })

  it('a one-shot is used up by its run, before the next is asked for', async () => {
    await stage().put({})
    await oneshot(stage(), startAt + minute)
    const { runs } = await stage().fireAt(startAt + minute)
    expect((await stage().run(runs[0]?.id)).source).toBe('ai-oneshot')
    const { hints, nextRunAt } = await stage().view()
    expect({ hints, nextRunAt }).toEqual({ hints: {}, nextRunAt: startAt + hour })
    expect(await stage().store.look(listHints, 'report')).toMatchObject([{ ended: { by: 'consumed' } }])
    expect((await stage().fire()).runs).toEqual([])
  })

  it('a one-shot that ties with its rival is used up by the rival, and makes no second run', async () => {
    await stage().put({})
    await oneshot(stage(), startAt + hour)
    const { runs } = await stage().fireAt(startAt + hour)
    expect((await stage().run(runs[0]?.id)).source).toBe('baseline-cron')
    expect(await stage().view()).toMatchObject({ hints: {}, nextRunAt: startAt + 2 * hour })
    expect(await stage().store.look(listHints, 'report')).toMatchObject([{ ended: { by: 'consumed' } }])
    expect((await stage().fireAt(startAt + hour + 1)).runs).toEqual([])
  })

  it('a one-shot that comes after its rival is not used up by it', async () => {
    await stage().put({})
    await oneshot(stage(), startAt + hour + minute)
    await stage().runAt(startAt + hour)
    expect(await stage().view()).toMatchObject({ nextRunAt: startAt + hour + minute })
  })

  it('a one-shot that overlap forbids waits until the live run ends', async () => {
    await stage().put({})
    await stage().fireAt(startAt + hour)
    await oneshot(stage(), startAt + hour + minute)
    expect((await stage().fireAt(startAt + hour + minute)).runs).toEqual([])
    expect(await stage().view()).toMatchObject({
      hints: { oneshot: { at: startAt + hour + minute } },
      nextRunAt: startAt + 2 * hour,
    })
    expect(await stage().ledger()).toHaveLength(1)
    stage().pass(minute)
    await stage().end(await stage().leaseOne())
    expect((await stage().view()).nextRunAt).toBe(startAt + hour + 2 * minute)
    expect((await stage().fire()).runs).toHaveLength(1)
  })

  it('a one-shot that overlap forbids waits for a run-now run as well', async () => {
    await stage().put({})
    await stage().store.do(runNow, 'report')
    await oneshot(stage(), startAt + minute)
    await stage().fireAt(startAt + minute)
    await stage().end(await stage().leaseOne())
    expect((await stage().fire()).runs).toHaveLength(1)
  })

  it('a one-shot that has to wait leaves no occurrence of the calendar without an end where the two tie', async () => {
    const beginsAt = startAt + 30 * minute
    await stage().put({ timing: { everyMs: hour, from: 'start' }, startAt: beginsAt })
    await stage().store.do(runNow, 'report', {})
    await oneshot(stage(), startAt + 5 * minute)
    expect((await stage().view()).nextRunAt).toBe(beginsAt)
    expect((await stage().fireAt(beginsAt)).runs).toEqual([])
    await stage().fire()
    expect(await stage().ledger()).toEqual([{ from: beginsAt, to: beginsAt, count: 1, outcome: 'overlap' }])
    // The hint waits on, for the end of the run that is in its way.
    stage().pass(minute)
    await stage().fire()
    await stage().end(await stage().leaseOne())
    expect((await stage().fire()).runs).toMatchObject([{ occurrenceAt: beginsAt + minute }])
    expect((await stage().view()).hints).toEqual({})
  })

  it('a one-shot that overlap forbids is gone when its time is over', async () => {
    await stage().put({})
    await stage().fireAt(startAt + hour)
    const lease = await stage().leaseOne()
    await oneshot(stage(), startAt + hour + minute, 10 * minute)
    await stage().fireAt(startAt + hour + minute)
    expect((await stage().view()).wakeAt).toBe(startAt + hour + 11 * minute)
    await stage().fireAt(startAt + hour + 11 * minute)
    expect(await stage().store.look(listHints, 'report')).toMatchObject([{ ended: { by: 'expired' } }])
    await stage().end(lease)
    expect((await stage().view()).nextRunAt).toBe(startAt + 2 * hour)
  })

  it('a one-shot that was due before its expiry fires however late we look, and its rival is gone by then', async () => {
    await stage().put({ timing: { everyMs: 10 * hour } })
    await interval(stage(), 9 * hour, 2 * hour)
    await oneshot(stage(), startAt + minute)
    const { runs } = await stage().fireAt(startAt + 3 * hour)
    expect((await stage().run(runs[0]?.id)).source).toBe('ai-oneshot')
    expect(await stage().view()).toMatchObject({ hints: {}, waitsFor: runs[0]?.id, wakeAt: null })
    const ended = (await stage().store.look(listHints, 'report')).map((hint) => hint.ended?.by)
    expect(ended.sort()).toEqual(['consumed', 'expired'])
  })

  it('a hint replaces the one of its kind, and clearing goes back to the baseline', async () => {
    await stage().put({})
    await oneshot(stage(), startAt + 10 * minute)
    await oneshot(stage(), startAt + 20 * minute)
    expect((await stage().view()).nextRunAt).toBe(startAt + 20 * minute)
    expect(await stage().store.do(clearHints, 'report', ['oneshot', 'interval'])).toMatchObject({ answer: 'cleared' })
    expect(await stage().view()).toMatchObject({ hints: {}, nextRunAt: startAt + hour })
    const ended = (await stage().store.look(listHints, 'report')).map((hint) => hint.ended?.by)
    expect(ended.sort()).toEqual(['cleared', 'replaced'])
  })

  it('a one-shot set in place of one that is overdue is not used up by the run of that one', async () => {
    await stage().put({})
    await oneshot(stage(), startAt + minute)
    stage().to(startAt + 2 * minute)
    await oneshot(stage(), startAt + 10 * minute)
    expect((await stage().fire()).runs).toMatchObject([{ occurrenceAt: startAt + minute }])
    expect(await stage().view()).toMatchObject({ nextRunAt: startAt + 10 * minute })
    await stage().end(await stage().leaseOne())
    const { runs } = await stage().fireAt(startAt + 10 * minute)
    expect((await stage().run(runs[0]?.id)).source).toBe('ai-oneshot')
    expect(await stage().view()).toMatchObject({ hints: {}, nextRunAt: startAt + hour })
  })

  it('a one-shot whose own instant has come is used up by the overdue run of the one it replaced', async () => {
    await stage().put({})
    await oneshot(stage(), startAt + 2 * minute)
    stage().to(startAt + 3 * minute)
    await oneshot(stage(), startAt + minute)
    expect((await stage().fire()).runs).toMatchObject([{ occurrenceAt: startAt + 2 * minute }])
    expect(await stage().view()).toMatchObject({ hints: {}, nextRunAt: startAt + hour })
  })

  it('a one-shot that `max` brings forward is used up by its run', async () => {
    await stage().put({ timing: { everyMs: hour }, maxMs: 2 * hour })
    await stage().runAt(startAt + hour)
    await interval(stage(), 10 * hour, 20 * hour)
    await oneshot(stage(), startAt + 5 * hour)
    const { runs } = await stage().fireAt(startAt + 3 * hour)
    expect((await stage().run(runs[0]?.id)).source).toBe('clamped-max')
    expect(await stage().store.look(listHints, 'report')).toMatchObject([
      { kind: 'oneshot', ended: { by: 'consumed' } },
      {},
    ])
  })

  it('an interval hint longer than it lives holds its schedule back until it expires, and no longer', async () => {
    await stage().put({ timing: { everyMs: 10 * minute } })
    await interval(stage(), 2 * hour, hour)
    expect(await stage().view()).toMatchObject({ nextRunAt: startAt + 2 * hour, wakeAt: startAt + hour })
    expect((await stage().fireAt(startAt + hour - 1)).runs).toEqual([])
    const { runs } = await stage().fireAt(startAt + hour)
    expect(runs).toHaveLength(1)
    expect((await stage().run(runs[0]?.id)).source).toBe('baseline-interval')
  })

  it('a one-shot cleared after its instant has come does not fire any more', async () => {
    await stage().put({})
    await oneshot(stage(), startAt + minute)
    stage().pass(2 * minute)
    await stage().store.do(clearHints, 'report', ['oneshot'])
    expect((await stage().fire()).runs).toEqual([])
  })

  it('the expiry of an interval hint is seen while a one-shot is planned beside a live run', async () => {
    await stage().put({ timing: { everyMs: hour, from: 'start' }, overlap: 'allow' })
    await stage().fireAt(startAt + hour)
    await interval(stage(), 3 * hour, 30 * minute)
    await oneshot(stage(), startAt + 6 * hour)
    expect(await stage().view()).toMatchObject({ nextRunAt: startAt + 6 * hour, wakeAt: startAt + hour + 30 * minute })
    expect((await stage().fireAt(startAt + hour + 30 * minute)).runs).toEqual([])
    expect((await stage().view()).nextRunAt).toBe(startAt + 2 * hour)
  })

  it('what the calendar named after a one-shot that nobody fired has its end, though the hint is cleared', async () => {
    await stage().put({})
    await oneshot(stage(), startAt + 30 * minute)
    stage().to(startAt + 2 * hour + 10)
    await stage().store.do(clearHints, 'report', ['oneshot'])
    expect((await stage().fire()).runs).toMatchObject([{ occurrenceAt: startAt + 2 * hour }])
    expect(await stage().ledger()).toMatchObject([
      { from: startAt + hour, to: startAt + hour, count: 1, outcome: 'missed' },
      { from: startAt + 2 * hour, outcome: 'fired' },
    ])
  })

  it('what the calendar named after a one-shot that nobody fired has its end, though a pause came before', async () => {
    await stage().put({})
    await oneshot(stage(), startAt + 30 * minute)
    stage().to(startAt + hour + minute)
    await stage().store.do(pauseSchedule, 'report', { reason: 'for a test' })
    stage().to(startAt + 3 * hour + minute)
    await stage().store.do(resumeSchedule, 'report')
    expect(await stage().ledger()).toEqual([
      { from: startAt + hour, to: startAt + 3 * hour, count: 3, outcome: 'paused' },
    ])
  })

  it('a hint does not take away an occurrence that is due', async () => {
    await stage().put({})
    stage().to(startAt + hour + 10)
    await interval(stage(), 30 * minute)
    expect((await stage().fire()).runs).toMatchObject([{ occurrenceAt: startAt + hour }])
  })

  it('refuses what cannot mean anything, and says why', async () => {
    await stage().put({})
    const refused = async (hint: Partial<NewHint>, sentence: RegExp) => {
      const whole = { kind: 'oneshot', at: startAt + minute, expiresAt: startAt + hour, ...words, ...hint } as NewHint
      await expect(stage().store.do(setHint, 'report', whole)).rejects.toThrow(sentence)
    }
    await refused({ at: startAt + 2 * hour } as Partial<NewHint>, /before the hint expires/)
    await refused({ expiresAt: startAt, at: startAt - 1 } as Partial<NewHint>, /after now/)
    await refused({ kind: 'interval', ms: 10 } as Partial<NewHint>, /ms is 10/)
    await refused({ kind: 'later' } as unknown as Partial<NewHint>, /one of interval, oneshot/)
    await refused({ reason: '' }, /reason is empty/)
    await stage().put({ timing: { at: startAt + hour } })
    await refused({ kind: 'interval', ms: minute } as Partial<NewHint>, /oneshot, because/)
    expect(await stage().store.do(clearHints, 'nobody', ['oneshot'])).toEqual({ answer: 'not-found' })
  })
})
