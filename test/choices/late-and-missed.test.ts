import { describe, expect, it } from 'vitest'
import { listLedger } from '../../src/store/reads/find-schedule.ts'
import { listRuns } from '../../src/store/reads/list-runs.ts'
import { putSchedule } from '../../src/store/schedules/put-schedule.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
import { actor, stage as engineStage } from '../engine/stage.ts'
import { at, hour, minute, open, type Stage, target, time } from './stage.ts'

/** Nobody is there until an instant, and then somebody is. */
async function awayUntil(stage: Stage, instant: string): Promise<void> {
  await stage.passTo(instant)
  await stage.belfry.drain()
}

const everyHalfMinute = { cron: '*/30 * * * * *', zone: 'UTC' }
const hourly = { cron: '0 * * * *', zone: 'UTC' }

describe('late and missed', () => {
  it('calls an occurrence missed when it is over 60 s late, and merely late until then', async () => {
    const stage = await open()
    await stage.put({ ...hourly, missed: 'skip' })
    await awayUntil(stage, '10:01:00')
    await awayUntil(stage, '11:01:00.001')
    expect(stage.starts).toEqual(['10:01'])
    expect(await stage.ledger()).toEqual(['10:00 completed', '11:00 missed'])
  })

  it('calls an occurrence missed when a later one is due already, however little late it is', async () => {
    const stage = await open()
    await stage.put({ ...everyHalfMinute, missed: 'skip' })
    await awayUntil(stage, '09:01:00')
    expect(await stage.ledger()).toEqual(['09:00:30 missed', '09:01 completed'])
  })

  it('fires what is merely late whatever missed and maxLateness say, and at once', async () => {
    const stage = await open()
    await stage.put({ ...hourly, missed: 'skip', maxLateness: '1s' })
    await stage.put({ name: 'all', ...everyHalfMinute, missed: 'all', overlap: 'allow' })
    await awayUntil(stage, '10:00:10')
    expect(await stage.ledger()).toEqual(['10:00 completed'])
    // Of 120 occurrences the newest is ten seconds late: it alone does not wait for its share of the catch-up.
    expect((await stage.runs('all')).filter(({ notBefore }) => notBefore === null)).toMatchObject([
      { occurrenceAt: at('10:00').getTime(), status: 'completed' },
    ])
  })

  it('makes of missed ones one run, none or all, oldest first', async () => {
    const stage = await open()
    await stage.put({ name: 'default', ...hourly })
    await stage.put({ name: 'once', ...hourly, missed: 'once' })
    await stage.put({ name: 'skip', ...hourly, missed: 'skip' })
    await stage.put({ name: 'all', ...hourly, missed: 'all' })
    await awayUntil(stage, '12:30')
    await stage.drainTo('12:30:30')
    const once = ['10:00..11:00 x2 missed', '12:00 completed']
    expect(await stage.ledger('default')).toEqual(once)
    expect(await stage.ledger('once')).toEqual(once)
    expect(await stage.ledger('skip')).toEqual(['10:00..12:00 x3 missed'])
    expect(await stage.ledger('all')).toEqual(['10:00 completed', '11:00 completed', '12:00 completed'])
    const { id } = await stage.belfry.schedules.get('all')
    const made = stage.seen.filter(({ run }) => run.scheduleId === id).map(({ run }) => time(run.plannedAt))
    expect(made).toEqual(['10:00', '11:00', '12:00'])
  })

  it('looks back a hundred and counts what lies before as one range; the hundred fire oldest first', async () => {
    const stage = await open()
    await stage.belfry.queues.set('default', { maxConcurrent: 1 })
    await stage.put({ cron: '* * * * *', zone: 'UTC', missed: 'all' })
    await stage.passTo('12:00:30')
    await stage.drainTo('12:00:59.999')
    const [before, ...made] = await stage.ledger()
    expect(before).toBe('09:01..10:20 x80 missed')
    expect(made).toEqual(
      Array.from({ length: 100 }, (_, index) => `${time(at('10:21').getTime() + index * minute)} completed`),
    )
    const planned = stage.seen.map(({ run }) => run.plannedAt)
    expect(planned).toEqual(planned.toSorted((a, b) => a - b))
  })

  it('does not fire what was missed by more than its maxLateness', async () => {
    const stage = await open()
    await stage.put({ ...hourly, maxLateness: '10m' })
    await awayUntil(stage, '10:10')
    await awayUntil(stage, '11:10:00.001')
    expect(stage.starts).toEqual(['10:10'])
    expect(await stage.ledger()).toEqual(['10:00 completed', '11:00 lateness'])
  })

  it('takes for maxLateness the period and a day at most, where a schedule says nothing', async () => {
    const stage = await open()
    await stage.put({ name: 'hourly', every: '1h', from: 'start' })
    await stage.put({ name: 'weekly', cron: '0 10 * * 1', zone: 'UTC' })
    await stage.belfry.queues.pause('default')
    await stage.drainTo('10:00')
    expect((await stage.runs('hourly'))[0]?.lateAfter).toBe(at('11:00').getTime())
    expect((await stage.runs('weekly'))[0]?.lateAfter).toBe(at('10:00').getTime() + 24 * hour)
  })

  it('judges lateness again before the first attempt, and of no other attempt', async () => {
    const stage = await open({
      work: ({ attempt }) => {
        if (attempt === 1) throw new Error('once more')
      },
    })
    await stage.belfry.queues.set('default', { backoffBase: '30m', backoffCap: '30m' })
    await stage.put({ ...hourly, maxLateness: '10m' })
    await stage.drainTo('10:30')
    expect(stage.starts).toEqual(['10:00', '10:30'])
    await stage.belfry.queues.pause('default')
    await stage.drainTo('11:00')
    await stage.passTo('11:10:00.001')
    await stage.belfry.queues.resume('default')
    await stage.belfry.drain()
    expect(stage.starts).toEqual(['10:00', '10:30'])
    expect((await stage.runs())[1]).toMatchObject({ status: 'skipped', fence: 0, end: { reason: 'lateness' } })
    expect(await stage.ledger()).toEqual(['10:00 completed', '11:00 skipped'])
  })

  it('puts a missed one-shot that is to be asked about before a person instead of firing it', async () => {
    const clock = new TestClock(at('09:00').getTime())
    const here = await engineStage({ clock })
    here.handle('work', () => 'done')
    const prompt = { timing: { at: at('10:00').getTime() }, asksWhenMissed: true, target }
    await here.store.do(putSchedule, { name: 'missed', ...prompt }, { mode: 'create', actor })
    await here.store.do(
      putSchedule,
      { name: 'late', ...prompt, timing: { at: at('10:02').getTime() } },
      { mode: 'create', actor },
    )
    clock.advance(hour + 3 * minute)
    await here.engine.drain()
    const [asked] = (await here.store.look(listRuns, { schedule: 'missed', limit: 10 })).runs
    expect(asked).toMatchObject({ status: 'parked', parked: { reason: 'missed' } })
    expect(await here.store.look(listLedger, 'missed')).toMatchObject([
      { outcome: 'asked', runId: asked?.id, endedAt: clock.now() },
    ])
    expect(await here.store.look(listLedger, 'late')).toMatchObject([{ outcome: 'completed' }])
  })
})
