import { describe, expect, it } from 'vitest'
import { problemsIn } from '../operations/desk.ts'
import { at, Gate, hour, open, time } from './stage.ts'

const reason = 'a test'

describe('one-shot hints', () => {
  it('are used up by the transaction that makes their run, before the next is asked for', async () => {
    const gate = new Gate()
    const stage = await open({ work: gate.pass })
    await stage.put({ cron: '0 * * * *', zone: 'UTC' })
    await stage.belfry.schedules.hint('s', { at: at('09:20'), reason })
    await stage.belfry.start()
    await stage.passTo('09:20')
    await stage.until('run.started')
    const [run] = await stage.runs()
    const [hint] = await stage.belfry.schedules.hints('s')
    expect(run).toMatchObject({ source: 'ai-oneshot', status: 'leased' })
    expect(hint?.ended).toEqual({ by: 'consumed', at: run?.enqueuedAt })
    expect(await stage.next()).toBe('10:00 baseline-cron')
    gate.open()
    await stage.until('run.completed')
    await stage.drainTo('10:00')
    expect(stage.starts).toEqual(['09:20', '10:00'])
  })

  it('are refused after their own expiry, and so is an interval hint on an at', async () => {
    const stage = await open()
    await stage.put({ at: at('12:00') })
    const late = stage.belfry.schedules.hint('s', { at: at('10:00'), ttl: '30m', reason })
    expect(await problemsIn(late)).toMatchObject([
      { field: 'at', problem: expect.stringContaining('the hint expires at') },
    ])
    const interval = stage.belfry.schedules.hint('s', { every: '10m', reason })
    expect(await problemsIn(interval)).toMatchObject([
      { field: 'every', expected: expect.stringContaining('a hint with `at`') },
    ])
    expect(await stage.belfry.schedules.hints('s')).toEqual([])
    await stage.belfry.schedules.hint('s', { at: at('10:00'), ttl: '61m', reason })
    expect(await stage.next()).toBe('10:00 ai-oneshot')
  })

  it('wait for the end of a live run that overlap puts in their way', async () => {
    const gate = new Gate()
    const stage = await open({ work: gate.pass })
    await stage.put({ cron: '0 * * * *', zone: 'UTC' })
    await stage.belfry.start()
    await stage.passTo('10:00')
    await stage.until('run.started')
    await stage.belfry.schedules.hint('s', { at: at('10:10'), reason })
    await stage.passTo('10:20')
    expect(await stage.ledger()).toEqual(['10:00 fired'])
    gate.open()
    await stage.until('run.completed', 2)
    expect(stage.seen.map(({ at: when, run }) => `${when} ${run.source}`)).toEqual([
      '10:00 baseline-cron',
      '10:20 ai-oneshot',
    ])
    expect(await stage.ledger()).toEqual(['10:00 completed', '10:20 completed'])
  })

  it('wait no longer than they live', async () => {
    const gate = new Gate()
    const stage = await open({ work: gate.pass })
    await stage.put({ cron: '0 * * * *', zone: 'UTC' })
    await stage.belfry.start()
    await stage.passTo('10:00')
    await stage.until('run.started')
    await stage.belfry.schedules.hint('s', { at: at('10:10'), ttl: '30m', reason })
    await stage.passTo('10:29:59')
    expect((await stage.belfry.schedules.hints('s'))[0]?.ended).toBe(null)
    await stage.passTo('10:30')
    const [hint] = await stage.belfry.schedules.hints('s')
    expect([hint?.ended?.by, time(hint?.ended?.at)]).toEqual(['expired', '10:30'])
    gate.open()
    await stage.until('run.completed')
    expect(await stage.next()).toBe('11:00 baseline-cron')
    expect(stage.starts).toEqual(['10:00'])
  })
})

describe('pause', () => {
  it('is an instant at which to ask again, and never becomes a run by itself', async () => {
    const stage = await open()
    await stage.put({ cron: '0 * * * *', zone: 'UTC' })
    await stage.belfry.schedules.pause('s', { until: at('11:20'), reason: 'lunch' })
    expect(await stage.belfry.schedules.get('s')).toMatchObject({
      nextRunAt: null,
      nextDecision: { source: 'paused', winner: null },
      paused: { until: at('11:20').getTime(), reason: 'lunch' },
    })
    await stage.belfry.start()
    expect(time(await stage.belfry.nextInstant())).toBe('11:20')
    await stage.drainTo('11:20')
    expect(stage.starts).toEqual([])
    expect(await stage.next()).toBe('12:00 baseline-cron')
    await stage.drainTo('12:00')
    expect(await stage.ledger()).toEqual(['10:00..11:00 x2 paused', '12:00 completed'])
  })

  it('without an end is a schedule that is not enabled, with its reason', async () => {
    const stage = await open()
    await stage.put({ cron: '0 * * * *', zone: 'UTC' })
    await stage.belfry.schedules.pause('s', { reason: 'broken until Ann is back' })
    expect(await stage.belfry.schedules.get('s')).toMatchObject({
      disabled: { at: stage.clock.now(), reason: 'broken until Ann is back' },
      paused: null,
      nextRunAt: null,
      nextDecision: { source: 'disabled' },
    })
    expect(await stage.belfry.nextInstant()).toBe(null)
    await stage.drainTo('23:00')
    expect(stage.starts).toEqual([])
    await stage.belfry.schedules.resume('s')
    expect(await stage.next()).toBe('01-06 00:00 baseline-cron')
    expect(await stage.ledger()).toEqual(['10:00..23:00 x14 paused'])
  })

  it('holds the ready runs of the schedule at once, and they are ready again when it is resumed', async () => {
    const stage = await open()
    await stage.put({ cron: '0 * * * *', zone: 'UTC', maxLateness: '1h' })
    await stage.belfry.queues.pause('default')
    await stage.drainTo('10:00')
    const status = async () => (await stage.runs()).map((run) => run.status)
    expect(await status()).toEqual(['ready'])
    await stage.belfry.schedules.pause('s', { until: at('10:40'), reason })
    expect(await status()).toEqual(['held'])
    await stage.belfry.queues.resume('default')
    await stage.drainTo('10:20')
    expect(stage.starts).toEqual([])
    await stage.belfry.schedules.resume('s')
    expect(await status()).toEqual(['ready'])
    await stage.belfry.drain()
    expect(stage.starts).toEqual(['10:20'])
  })

  it('that ends by itself lets them go as well', async () => {
    const stage = await open()
    await stage.put({ cron: '0 * * * *', zone: 'UTC', maxLateness: '1h' })
    await stage.belfry.queues.pause('default')
    await stage.drainTo('10:00')
    await stage.belfry.schedules.pause('s', { until: at('10:40'), reason })
    await stage.belfry.queues.resume('default')
    await stage.drainTo('10:40')
    expect(stage.starts).toEqual(['10:40'])
  })

  it('does not undo lateness: what was held for too long ends as skipped when it is resumed', async () => {
    const stage = await open()
    await stage.put({ cron: '0 * * * *', zone: 'UTC', maxLateness: '10m' })
    await stage.belfry.queues.pause('default')
    await stage.drainTo('10:00')
    await stage.belfry.schedules.pause('s', { reason })
    await stage.belfry.queues.resume('default')
    await stage.passTo('10:20')
    await stage.belfry.schedules.resume('s')
    await stage.belfry.drain()
    expect(stage.starts).toEqual([])
    expect((await stage.runs())[0]).toMatchObject({ status: 'skipped', end: { reason: 'lateness' } })
    expect(await stage.ledger()).toEqual(['10:00 skipped'])
  })

  it('lets nothing of the schedule start, neither what is asked for by hand nor a retry; leased runs finish', async () => {
    const gate = new Gate()
    const stage = await open({ work: gate.pass })
    await stage.put({ cron: '0 * * * *', zone: 'UTC', overlap: 'allow' })
    await stage.belfry.start()
    await stage.passTo('10:00')
    await stage.until('run.started')
    await stage.belfry.schedules.pause('s', { reason })
    const { id, kept } = await stage.belfry.schedules.run('s')
    expect(kept).toBe('held')
    gate.open()
    const ended = await stage.until('run.completed')
    expect(await stage.ledger()).toEqual(['10:00 completed'])
    const retried = await stage.belfry.runs.retry(ended.runId)
    await stage.passTo(stage.clock.now() + hour)
    expect(await stage.belfry.runs.get(id)).toMatchObject({ status: 'held' })
    expect(await stage.belfry.runs.get(retried.id)).toMatchObject({ status: 'held' })
    await stage.belfry.schedules.resume('s')
    await stage.until('run.completed', 3)
  })
})
