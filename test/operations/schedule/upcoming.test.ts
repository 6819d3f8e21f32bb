import { describe, expect, it } from 'vitest'
import { promptSpread } from '../../../src/core/timing/spread.ts'
import type { ScheduleInput } from '../../../src/operations/schedule/schedule-input.ts'
import { findRun } from '../../../src/store/reads/find-run.ts'
import { nextInstants } from '../../../src/store/reads/next-instants.ts'
import { putSchedule } from '../../../src/store/schedules/put-schedule.ts'
import { atDesk, type Desk, startAt, verbsAt } from '../desk.ts'

const desk = atDesk()
const { schedules } = verbsAt(() => desk().context)
const minuteMs = 60_000

/** What really happens: the store fires at each instant it names, and every run ends well at once. */
async function lived(at: Desk, count: number): Promise<{ at: number; source: string }[]> {
  const runs: { at: number; source: string }[] = []
  for (let looks = 0; runs.length < count && looks < 50; looks++) {
    const { scheduleAt } = await at.store.look(nextInstants)
    if (scheduleAt === null) return runs
    at.clock.set(Math.max(at.clock.now(), scheduleAt))
    const fired = await at.store.fireDue({ limit: 10 })
    for (const { id, occurrenceAt } of fired.runs) {
      runs.push({ at: occurrenceAt, source: (await at.store.look(findRun, id))?.source ?? '' })
    }
    await at.work()
  }
  return runs
}

async function foretold(name: string, count: number) {
  const found = await schedules.next(name, { count })
  return found.map(({ at, source }) => ({ at, source }))
}

describe('the next occurrences that are shown are those that come:', () => {
  const target = { handler: 'report' }
  const cases: [string, Omit<ScheduleInput, 'name'>][] = [
    ['of a cron', { cron: '0 9 * * 1-5' }],
    ['of a cron over a change of the clocks', { cron: '30 2 * * *', startAt: '2026-03-27T00:00Z' }],
    ['of a cron that min thins out', { cron: '*/10 * * * *', min: '25m' }],
    ['of a fixed delay', { every: '7m' }],
    ['of a fixed delay that begins at once', { every: '7m', startNow: true }],
    ['of a fixed rate', { every: '7m', from: 'start' }],
    ['of a fixed rate that begins at an instant', { every: '7m', from: 'start', startAt: '2026-01-05T10:01Z' }],
    ['of a single instant', { at: '2026-01-06T09:00Z' }],
    ['of a schedule that ends', { cron: '0 * * * *', endAt: '2026-01-05T12:00Z' }],
    ['of a schedule with three runs', { every: '1h', maxRuns: 3 }],
    ['of none, without a timing', {}],
  ]

  it.each(cases)('%s', async (_, input) => {
    const at = desk()
    await schedules.put({ name: 'report', target, ...input })
    const shown = await foretold('report', 8)
    expect(shown).toEqual(await lived(at, 8))
    expect(shown).toHaveLength(input.at ? 1 : input.endAt ? 3 : (input.maxRuns ?? (input.cron || input.every ? 8 : 0)))
  })

  it('under an interval hint, and after it has expired', async () => {
    const at = desk()
    await schedules.put({ name: 'report', target, cron: '0 * * * *' })
    await schedules.hint('report', { every: '10m', ttl: '35m', reason: 'r' })
    const shown = await foretold('report', 6)
    expect(shown.map(({ source }) => source)).toEqual([
      ...Array(3).fill('ai-interval'),
      ...Array(3).fill('baseline-cron'),
    ])
    expect(shown).toEqual(await lived(at, 6))
  })

  it('under a hint to wait that expires before it is due', async () => {
    const at = desk()
    await schedules.put({ name: 'report', target, every: '10m' })
    await schedules.hint('report', { every: '2h', ttl: '30m', reason: 'r' })
    expect(await foretold('report', 4)).toEqual(await lived(at, 4))
  })

  it('with a one-shot hint among them, which is used up', async () => {
    const at = desk()
    await schedules.put({ name: 'report', target, cron: '0 * * * *' })
    await schedules.hint('report', { at: '2026-01-05T09:05Z', reason: 'r' })
    const shown = await foretold('report', 4)
    expect(shown[0]).toEqual({ at: startAt + 5 * minuteMs, source: 'ai-oneshot' })
    expect(shown).toEqual(await lived(at, 4))
  })

  it('on the grid of a fixed rate, though a hint went off it', async () => {
    const at = desk()
    await schedules.put({ name: 'report', target, every: '7m', from: 'start' })
    await schedules.hint('report', { at: '2026-01-05T09:05Z', reason: 'r' })
    const shown = await foretold('report', 4)
    expect(shown[1]?.at).toBe(startAt + 7 * minuteMs)
    expect(shown).toEqual(await lived(at, 4))
  })

  it.each(['150m', '120m', '119m'])('after a pause of %s, not during it', async (pause) => {
    const at = desk()
    await schedules.put({ name: 'report', target, cron: '0 * * * *' })
    await schedules.pause('report', { for: pause })
    const shown = await foretold('report', 3)
    expect(shown).toEqual(await lived(at, 3))
    expect(shown[0]?.at).toBeGreaterThanOrEqual(startAt + 120 * minuteMs)
  })

  it('with the spread that the store gives them', async () => {
    const at = desk()
    const spec = { name: 'report', timing: { cron: '*/30 * * * *', zone: 'UTC' }, spread: promptSpread, target }
    await at.store.do(putSchedule, spec, { mode: 'put', actor: at.context.actor })
    const [first, second] = await schedules.next('report', { count: 2 })
    const { nextRunAt, nextDueAt } = await schedules.get('report')
    expect([first?.at, first?.dueAt]).toEqual([nextRunAt, nextDueAt])
    expect(first?.dueAt).toBeGreaterThan(first?.at ?? 0)
    expect((second?.dueAt ?? 0) - (second?.at ?? 0)).toBe((first?.dueAt ?? 0) - (first?.at ?? 0))
    await lived(at, 1)
    const after = await schedules.get('report')
    expect([after.nextRunAt, after.nextDueAt]).toEqual([second?.at, second?.dueAt])
  })
})

describe('what is shown of the next occurrences', () => {
  it('says which are estimates, because they count from ends that have not come', async () => {
    await schedules.put({ name: 'report', every: '10m' })
    await schedules.put({ name: 'grid', every: '10m', from: 'start' })
    const estimates = async (name: string) =>
      (await schedules.next(name, { count: 3 })).map(({ isEstimate }) => isEstimate)
    expect(await estimates('report')).toEqual([false, true, true])
    expect(await estimates('grid')).toEqual([false, false, false])
  })

  it('counts a fixed delay from now while its last run is at work', async () => {
    const at = desk()
    await schedules.put({ name: 'report', every: '10m', startNow: true, target: { handler: 'report' } })
    await at.store.fireDue({ limit: 1 })
    at.clock.advance(3 * minuteMs)
    const [first] = await schedules.next('report')
    expect(first).toMatchObject({ at: startAt + 13 * minuteMs, isEstimate: true })
  })

  it('begins with the occurrence that is due and has not fired yet', async () => {
    const at = desk()
    await schedules.put({ name: 'report', cron: '0 * * * *' })
    at.clock.advance(61 * minuteMs)
    const [first, second] = await schedules.next('report', { count: 2 })
    expect([first?.at, second?.at]).toEqual([startAt + 60 * minuteMs, startAt + 120 * minuteMs])
  })

  it('says what a change of the clocks does to an occurrence, also to the first that is shown', async () => {
    const { clock } = desk()
    clock.set(Date.UTC(2026, 9, 25, 2))
    await schedules.put({ name: 'report', cron: '0 9 * * *' })
    await schedules.put({ name: 'often', cron: '30 * * * *', startAt: '2026-03-29T00:00Z' })
    const marks = async (name: string) => (await schedules.next(name, { count: 2 })).map(({ dst }) => dst?.mark)
    expect(await marks('report')).toEqual(['clocks-back', undefined])
    expect(await marks('often')).toEqual([undefined, undefined])
    clock.set(Date.UTC(2026, 9, 25, 0, 0, 1))
    await schedules.put({ name: 'twice', cron: '30 * * * *' })
    expect(await marks('twice')).toEqual(['first-of-two', 'second-of-two'])
  })

  it('compares each with the one that is shown before it, not with one that min left out', async () => {
    desk().clock.set(Date.UTC(2026, 2, 28))
    await schedules.put({ name: 'report', cron: '0 1-23 * * *', min: '12h' })
    const shown = await schedules.next('report', { count: 3 })
    expect(shown.map(({ dst }) => dst?.says)).toEqual([
      undefined,
      undefined,
      '12h after the one before, because the clocks go forward by 1h in between',
    ])
  })

  it('marks nothing of what no calendar asked for, and names a zone only where there is one', async () => {
    desk().clock.set(Date.UTC(2026, 9, 25, 0))
    await schedules.put({ name: 'interval', every: '30m', from: 'start' })
    await schedules.put({ name: 'once', at: '2026-10-25T00:30Z' })
    for (const name of ['interval', 'once']) {
      for (const run of await schedules.next(name, { count: 5 })) {
        expect(Object.keys(run).sort()).toEqual(['at', 'dueAt', 'isEstimate', 'source'])
      }
    }
    await schedules.put({ name: 'hinted', cron: '0 9 * * *' })
    await schedules.hint('hinted', { at: '2026-10-25T00:10Z', reason: 'r' })
    const [hinted, own] = await schedules.next('hinted', { count: 2 })
    expect(hinted).toMatchObject({ source: 'ai-oneshot', zone: 'Europe/Paris' })
    expect(hinted).not.toHaveProperty('dst')
    expect(own?.dst).toMatchObject({ mark: 'clocks-back' })
  })

  it('is nothing of a schedule that is paused without end', async () => {
    await schedules.put({ name: 'report', cron: '0 * * * *' })
    await schedules.pause('report')
    expect(await schedules.next('report')).toEqual([])
  })
})
