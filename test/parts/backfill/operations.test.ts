import { describe, expect, it } from 'vitest'
import { atDesk, errorOf, problemsIn, startAt, verbsAt } from '../../operations/desk.ts'

const desk = atDesk()
const { schedules, runs, sched } = verbsAt(() => desk().context)
const daily = { name: 'report', cron: '0 9 * * *', zone: 'UTC', target: { handler: 'report' } }
const day = 86_400_000

describe('backfill', () => {
  it('answers the instants with their runs, and those that it left out with the reason', async () => {
    await schedules.create(daily)
    const stretch = { from: '2026-01-03T00:00Z', to: '2026-01-05T09:00Z' }
    const first = await schedules.backfill('report', { ...stretch, from: '2026-01-04T00:00Z' })
    expect(first).toMatchObject({ schedule: 'report', from: Date.UTC(2026, 0, 4), to: startAt, left: [] })
    expect(await schedules.backfill('report', stretch)).toMatchObject({
      made: [{ at: startAt - 2 * day }],
      left: [{ at: startAt - day, because: 'made-before', run: first.made[0]?.run }],
      kept: 'overlap',
    })
  })

  it('is told in the explanation of its run, with the instant', async () => {
    await schedules.create(daily)
    const { made } = await schedules.backfill('report', { from: '2026-01-04T00:00Z', to: '2026-01-05T00:00Z' })
    const explained = await runs.explain(made[0]?.run ?? '')
    expect(explained.planned).toMatchObject({
      source: 'backfill',
      sentence: expect.stringContaining('A backfill created it'),
      dueAt: startAt - day,
      rederived: { answer: 'not-asked' },
    })
    expect(explained.lateness).toMatchObject({ against: 'enqueued', startedMs: 0 })
    expect(explained.timeline).toContainEqual({
      at: startAt,
      what: 'enqueued',
      detail: 'by hand, for 2026-01-04T09:00:00.000Z',
    })
  })

  it('tells an outside host the instant that it stands for', async () => {
    await schedules.create({ ...daily, target: null })
    await schedules.backfill('report', { from: '2026-01-04T00:00Z', to: '2026-01-05T00:00Z' })
    const { leases } = await sched.lease('builder')
    expect(leases).toMatchObject([{ source: 'backfill', plannedAt: startAt - day }])
  })

  it('refuses what is to come and what ends before it begins, all at once', async () => {
    await schedules.create(daily)
    const problems = await problemsIn(
      schedules.backfill('report', { from: '2027-01-04T00:00Z', to: '2027-01-01T00:00Z', limit: 5 } as never),
    )
    expect(problems.map(({ field, problem }) => [field, problem])).toEqual([
      ['limit', expect.any(String)],
      ['to', 'is 2027-01-01T00:00:00.000Z'],
      ['to', 'is 2027-01-01T00:00:00.000Z, which is in the future'],
    ])
  })

  it('refuses too many instants, with how many there are and an end that would be right', async () => {
    await schedules.create({ ...daily, cron: '* * * * *' })
    const [problem] = await problemsIn(
      schedules.backfill('report', { from: '2026-01-01T00:00Z', to: '2026-01-02T00:00Z' }),
    )
    expect(problem).toEqual({
      field: 'to',
      problem: 'is the end of a range of 1,440 instants',
      expected: 'at most 1,000 at a time, which ends at 2026-01-01T16:40:00.000Z',
    })
    const { made } = await schedules.backfill('report', { from: '2026-01-01T00:00Z', to: '2026-01-01T16:40:00.000Z' })
    expect(made).toHaveLength(1_000)
  })

  it('refuses schedules without instants, each for its reason', async () => {
    const stretch = { from: '2026-01-01T00:00Z', to: '2026-01-02T00:00Z' }
    await schedules.create({ name: 'once', at: '2026-01-06T00:00Z', target: { handler: 'report' } })
    await schedules.create({ name: 'delay', every: '1h', target: { handler: 'report' } })
    const of = async (name: string) => (await problemsIn(schedules.backfill(name, stretch)))[0]?.problem
    expect(await of('once')).toContain('runs once')
    expect(await of('delay')).toContain('from the end of the previous run')
    expect(await errorOf(schedules.backfill('nobody', stretch))).toMatchObject({ code: 'not-found' })
  })
})
