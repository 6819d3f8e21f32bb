import { expect, it } from 'vitest'
import type { ScheduleSpec } from '../../src/core/schedule/schedule-spec.ts'
import { listLedger } from '../../src/store/reads/find-schedule.ts'
import { deleteSchedule } from '../../src/store/schedules/delete-schedule.ts'
import { pauseSchedule, resumeSchedule } from '../../src/store/schedules/pause-schedule.ts'
import { runNow } from '../../src/store/schedules/run-now.ts'
import { clearHints, setHint } from '../../src/store/schedules/set-hint.ts'
import { hour, minute, onEachStore, type Stage, second, startAt } from './schedule-stage.ts'

const words = { reason: 'traffic is high', author: 'planner' }
const expiresAt = startAt + 2 * hour

function hint(stage: Stage, ms: number) {
  return stage.store.do(setHint, 'report', { kind: 'interval', ms, expiresAt, ...words })
}

/** Calendars and grids whose instants are the full hours. */
const grids: [string, Partial<ScheduleSpec>][] = [
  ['calendar', {}],
  ['grid', { timing: { everyMs: hour, from: 'start' } }],
]

/** What the ledger says of the expiry. */
async function atExpiry(stage: Stage): Promise<string[]> {
  const rows = await stage.store.look(listLedger, 'report')
  return rows.filter(({ from, to }) => from <= expiresAt && to >= expiresAt).map(({ outcome }) => outcome)
}

onEachStore('a calendar or grid instant at which an interval hint expires', (stage) => {
  it.each(grids)('is not lost: the %s fires there, and the hint plans nothing after it', async (_, spec) => {
    await stage().put(spec)
    await hint(stage(), 7 * minute)
    for (let at = startAt + 7 * minute; at < expiresAt; at += 7 * minute) await stage().runAt(at)
    expect((await stage().view()).wakeAt).toBe(expiresAt)
    const { runs } = await stage().fireAt(expiresAt)
    expect(runs).toMatchObject([{ occurrenceAt: expiresAt }])
    expect((await stage().run(runs[0]?.id)).source).toMatch(/^baseline-/)
    expect((await stage().view()).hints).toEqual({})
    await stage().end(await stage().leaseOne())
    expect((await stage().view()).nextRunAt).toBe(expiresAt + hour)
    expect((await stage().fire()).runs).toEqual([])
  })

  it.each(grids)('is the baseline’s where the hint asks for the same instant, and fires once (%s)', async (_, spec) => {
    await stage().put(spec)
    await hint(stage(), 2 * hour)
    expect((await stage().view()).nextRunAt).toBe(expiresAt)
    const { runs } = await stage().fireAt(expiresAt)
    expect(runs).toMatchObject([{ occurrenceAt: expiresAt }])
    expect((await stage().run(runs[0]?.id)).source).toMatch(/^baseline-/)
  })

  it('has its end when every worker was away from before the last run of the hint until after it', async () => {
    await stage().put({ overlap: 'allow', missed: 'all' })
    await hint(stage(), 110 * minute)
    const { runs } = await stage().fireAt(expiresAt + hour + 5 * minute)
    expect(runs.map(({ occurrenceAt }) => occurrenceAt)).toEqual([startAt + 110 * minute, expiresAt, expiresAt + hour])
    expect(await stage().view()).toMatchObject({ nextRunAt: expiresAt + 2 * hour, hints: {} })
  })

  it('has its end when a run of the hint ends after it and before any worker has looked', async () => {
    await stage().put({})
    await hint(stage(), 7 * minute)
    await stage().fireAt(startAt + 7 * minute)
    const lease = await stage().leaseOne()
    stage().to(expiresAt + second)
    await stage().end(lease)
    expect((await stage().view()).nextRunAt).toBe(expiresAt)
    expect((await stage().fire()).runs).toMatchObject([{ occurrenceAt: expiresAt }])
  })

  const steps: [string, string, (stage: Stage) => Promise<unknown>][] = [
    ['the hint is cleared', 'fired', ({ store }) => store.do(clearHints, 'report', ['interval'])],
    [
      'another hint takes its place',
      'fired',
      ({ store, clock }) =>
        store.do(setHint, 'report', { kind: 'interval', ms: minute, expiresAt: clock.now + hour, ...words }),
    ],
    [
      'the schedule is paused and resumed',
      'paused',
      async ({ store }) => {
        await store.do(pauseSchedule, 'report', { reason: 'lunch' })
        await store.do(resumeSchedule, 'report')
      },
    ],
    ['its timing is edited', 'fired', (own) => own.put({ timing: { cron: '30 * * * *', zone: 'UTC' } })],
    ['another field is edited', 'fired', (own) => own.put({ description: 'another' })],
    ['it is deleted', 'schedule-deleted', ({ store }) => store.do(deleteSchedule, 'report')],
  ]
  it.each(steps)('has its end where %s a moment later, before any worker has looked', async (_, outcome, act) => {
    await stage().put({})
    const { id } = await stage().view()
    await hint(stage(), 3 * hour)
    stage().to(expiresAt + second)
    await act(stage())
    await stage().fire()
    const rows = await stage().store.look(listLedger, id)
    expect(rows.filter(({ from }) => from === expiresAt)).toMatchObject([{ outcome }])
  })

  it('ends as paused where the hint expires in a pause', async () => {
    await stage().put({})
    await hint(stage(), 7 * minute)
    await stage().store.do(pauseSchedule, 'report', { until: expiresAt + 90 * minute, reason: 'lunch' })
    await stage().fireAt(expiresAt + 90 * minute)
    expect(await atExpiry(stage())).toEqual(['paused'])
    expect((await stage().view()).nextRunAt).toBe(expiresAt + 2 * hour)
  })
})

onEachStore('calendar instants after a pause that ended before any worker looked', (stage) => {
  const pauseEndsAt = startAt + 90 * minute
  const now = startAt + 3 * hour + 10 * minute
  const oneshot = (at: number) => ({ kind: 'oneshot', at, expiresAt: startAt + 9 * hour, ...words }) as const
  const steps: [string, (stage: Stage) => Promise<unknown>][] = [
    [
      'an interval hint follows',
      ({ store }) =>
        store.do(setHint, 'report', { kind: 'interval', ms: 2 * hour, expiresAt: startAt + 5 * hour, ...words }),
    ],
    ['a one-shot follows', ({ store }) => store.do(setHint, 'report', oneshot(now + minute))],
    ['hints are cleared', ({ store }) => store.do(clearHints, 'report', ['interval', 'oneshot'])],
  ]

  async function pausedUntilNow(own: Stage, before: () => Promise<unknown> = async () => undefined): Promise<void> {
    await own.put({ overlap: 'allow', missed: 'all' })
    await before()
    await own.store.do(pauseSchedule, 'report', { until: pauseEndsAt, reason: 'lunch' })
    own.to(now)
  }

  it.each(steps)('are not lost when %s: each has its row in the ledger', async (_, act) => {
    await pausedUntilNow(stage())
    await act(stage())
    await stage().fire()
    const rows = await stage().ledger()
    expect(rows.slice(0, 3)).toEqual([
      { from: startAt + hour, to: startAt + hour, count: 1, outcome: 'paused' },
      { from: startAt + 2 * hour, to: startAt + 2 * hour, count: 1, outcome: 'fired' },
      { from: startAt + 3 * hour, to: startAt + 3 * hour, count: 1, outcome: 'fired' },
    ])
  })

  const takers: [string, (stage: Stage) => Promise<unknown>][] = [
    ['cleared', ({ store }) => store.do(clearHints, 'report', ['oneshot'])],
    ['replaced', ({ store }) => store.do(setHint, 'report', oneshot(now + 5 * minute))],
  ]
  it.each(takers)('fire, and a one-shot from between them that is %s does not', async (_, act) => {
    const between = startAt + 2 * hour + 20 * minute
    await pausedUntilNow(stage(), () => stage().store.do(setHint, 'report', oneshot(between)))
    await act(stage())
    await stage().fire()
    const froms = (await stage().ledger()).filter(({ outcome }) => outcome === 'fired').map(({ from }) => from)
    expect(froms).toEqual([startAt + 2 * hour, startAt + 3 * hour])
  })

  it('stay with the pause while it lasts, though a hint comes', async () => {
    await pausedUntilNow(stage())
    stage().to(pauseEndsAt - minute)
    await stage().store.do(clearHints, 'report', ['interval'])
    await stage().fire()
    expect((await stage().ledger()).filter(({ outcome }) => outcome === 'fired')).toEqual([])
  })
})

onEachStore('calendar instants after the expiry of a one-shot before any worker looked', (stage) => {
  const oneshot = { kind: 'oneshot', at: startAt + 10 * minute, expiresAt: startAt + 20 * minute, ...words } as const
  const interval = { kind: 'interval', ms: 40 * minute, expiresAt: startAt + 9 * hour, ...words } as const

  it('end as paused where an interval hint follows in the pause', async () => {
    await stage().put({})
    await stage().store.do(setHint, 'report', oneshot)
    await stage().store.do(pauseSchedule, 'report', { until: startAt + 90 * minute, reason: 'lunch' })
    stage().to(startAt + hour + minute)
    await stage().store.do(setHint, 'report', interval)
    await stage().fireAt(startAt + 90 * minute)
    expect(await stage().ledger()).toEqual([{ from: startAt + hour, to: startAt + hour, count: 1, outcome: 'paused' }])
  })

  it('are not those of a timing that was written later, in the pause', async () => {
    await stage().put({})
    await stage().store.do(setHint, 'report', oneshot)
    await stage().store.do(pauseSchedule, 'report', { until: startAt + 90 * minute, reason: 'lunch' })
    stage().to(startAt + 50 * minute)
    await stage().put({ timing: { cron: '*/15 * * * *', zone: 'UTC' } })
    await stage().fireAt(startAt + 90 * minute)
    expect((await stage().ledger())[0]).toEqual({
      from: startAt + hour,
      to: startAt + 75 * minute,
      count: 2,
      outcome: 'paused',
    })
  })

  it('have their end where an interval hint follows that came after them', async () => {
    await stage().put({})
    await stage().store.do(runNow, 'report')
    await stage().store.do(setHint, 'report', oneshot)
    // The run that is live keeps the one-shot waiting until it expires.
    expect((await stage().fireAt(oneshot.at)).runs).toEqual([])
    stage().to(startAt + hour + minute)
    await stage().store.do(setHint, 'report', interval)
    await stage().fire()
    expect((await stage().ledger())[0]).toEqual({
      from: startAt + hour,
      to: startAt + hour,
      count: 1,
      outcome: 'overlap',
    })
  })
})
