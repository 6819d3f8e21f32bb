import { describe, expect, it } from 'vitest'
import { registerWorker } from '../../src/store/workers/register-worker.ts'
import { at, Gate, minute, open, portOf, sqliteFile, time } from './stage.ts'

describe('retry of a run vs. backoff of a schedule', () => {
  it('retries a run under the policy of its queue, and for its schedule nothing has failed', async () => {
    const stage = await open({
      work: ({ attempt }) => {
        if (attempt < 3) throw new Error('not yet')
      },
    })
    await stage.belfry.queues.set('default', { maxAttempts: 3, backoffBase: '10s', backoffFactor: 3 })
    await stage.put({ every: '10m' })
    await stage.drainTo('09:15')
    expect(stage.starts).toEqual(['09:10', '09:10:10', '09:10:40'])
    expect(await stage.belfry.schedules.get('s')).toMatchObject({ failureCount: 0 })
    expect(await stage.ledger()).toEqual(['09:10 completed'])
    expect(await stage.next()).toBe('09:20:40 baseline-interval')
  })

  it('doubles the wait of an interval with each occurrence that finally failed, five times at most', async () => {
    let failures = 7
    const stage = await open({
      work: () => {
        if (failures-- > 0) throw new Error('down')
      },
    })
    await stage.belfry.queues.set('default', { maxAttempts: 1 })
    await stage.put({ every: '10m' })
    await stage.belfry.start()
    await stage.drainTo('09:10')
    const waits: number[] = []
    for (let failed = 1; failed <= 7; failed++) {
      const { nextRunAt, failureCount } = await stage.belfry.schedules.get('s')
      expect(failureCount).toBe(failed)
      waits.push(((nextRunAt ?? 0) - stage.clock.now()) / (10 * minute))
      await stage.drainTo(nextRunAt ?? 0)
    }
    expect(waits).toEqual([2, 4, 8, 16, 32, 32, 32])
    // The eighth succeeded, and that returns to the base at once.
    const { nextRunAt, failureCount } = await stage.belfry.schedules.get('s')
    expect([failureCount, (nextRunAt ?? 0) - stage.clock.now()]).toEqual([0, 10 * minute])
  })

  it('counts a run once, when it has finally failed, and not its attempts', async () => {
    const stage = await open({ work: () => Promise.reject(new Error('down')) })
    await stage.put({ every: '10m' })
    await stage.drainTo('09:10:30')
    expect(stage.starts).toEqual(['09:10', '09:10:01', '09:10:03'])
    expect(await stage.ledger()).toEqual(['09:10 failed'])
    expect(await stage.next()).toBe('09:30:03 baseline-interval')
  })

  it('backs off neither a cron nor hints', async () => {
    const stage = await open({ work: () => Promise.reject(new Error('down')) })
    await stage.belfry.queues.set('default', { maxAttempts: 1 })
    await stage.put({ cron: '*/20 * * * *', zone: 'UTC' })
    await stage.put({ name: 'hinted', every: '5h', overlap: 'allow' })
    await stage.belfry.schedules.hint('hinted', { every: '25m', ttl: '5h', reason: 'a test' })
    await stage.drainTo('10:20')
    const failed = (name: string) => stage.ledger(name)
    expect(await failed('s')).toEqual(['09:20 failed', '09:40 failed', '10:00 failed', '10:20 failed'])
    expect(await failed('hinted')).toEqual(['09:25 failed', '09:50 failed', '10:15 failed'])
    await stage.belfry.schedules.clearHints('hinted')
    await stage.belfry.schedules.hint('hinted', { at: at('10:25'), reason: 'a test' })
    expect(await stage.next('hinted')).toBe('10:25 ai-oneshot')
  })

  it('pauses a schedule after as many failures in a row as it says, with a reason', async () => {
    let calls = 0
    const stage = await open({
      work: () => {
        calls++
        if (calls !== 3) throw new Error('down')
      },
    })
    await stage.belfry.queues.set('default', { maxAttempts: 1 })
    await stage.put({ cron: '*/10 * * * *', zone: 'UTC', pauseAfterFailures: 3 })
    await stage.drainTo('10:30')
    // Two failures, a success, and only then three in a row.
    expect(await stage.belfry.schedules.get('s')).toMatchObject({
      disabled: { at: at('10:00').getTime(), reason: 'failed 3 times in a row' },
      nextDecision: { source: 'disabled' },
    })
    expect(calls).toBe(6)
  })

  it('counts no end that was cancelled, skipped, given back or asked for by hand', async () => {
    const gate = new Gate()
    let fails = true
    const stage = await open({
      work: (run) => {
        if (fails) throw new Error('down')
        return gate.pass(run)
      },
    })
    const { schedules, queues, runs } = stage.belfry
    const known = async () => [(await schedules.get('s')).failureCount, await stage.next()]
    await queues.set('default', { maxAttempts: 1 })
    await stage.put({ every: '10m', maxLateness: '5m', missed: 'once' })
    await stage.belfry.start()
    await stage.drainTo('09:10')
    expect(await known()).toEqual([1, '09:30 baseline-interval'])

    await schedules.run('s')
    await stage.until('run.failed', 2)
    expect(await known()).toEqual([1, '09:30 baseline-interval'])

    fails = false
    await stage.passTo('09:30')
    const cancelled = await stage.until('run.started', 3)
    await runs.cancel(cancelled.runId)
    await stage.until('run.cancelled')
    expect(await known()).toEqual([1, '09:50 baseline-interval'])

    await queues.pause('default')
    await stage.passTo('09:50')
    await stage.passTo('10:00')
    await queues.resume('default')
    await stage.until('run.skipped')
    expect(await known()).toEqual([1, '10:20 baseline-interval'])

    await stage.passTo('10:20')
    await stage.until('run.started', 4)
    await stage.belfry.stop({ graceMs: 0 })
    expect(await runs.list({ status: 'ready' })).toMatchObject({ runs: [{ attempts: 0, releases: 0 }] })
    expect(await schedules.get('s')).toMatchObject({ failureCount: 1 })
    expect(await stage.ledger()).toEqual(['09:10 failed', '09:30 cancelled', '09:50 skipped', '10:20 fired'])
  })

  it('counts nothing for a host that gave its run back', async () => {
    const store = sqliteFile()
    const stage = await open({ store })
    await stage.put({ every: '10m', maxLateness: '1h', target: null })
    await stage.drainTo('09:10')
    const port = await portOf(store, stage.clock)
    const can = { kinds: [], host: true }
    const workerId = await port.do(registerWorker, { name: 'host', host: 'elsewhere', can, beatMs: minute })
    const { leases } = await port.lease({ queue: 'default', workerId, claimId: 'c', can, limit: 1 })
    const ends = leases.map(({ runId, fence, scheduleId }) => {
      return { runId, fence, scheduleId, outcome: { kind: 'released' as const } }
    })
    expect(await port.settle(ends)).toMatchObject([{ answer: 'written', status: 'ready' }])
    expect(await stage.runs()).toMatchObject([{ status: 'ready', attempts: 0, releases: 1 }])
    expect(await stage.belfry.schedules.get('s')).toMatchObject({ failureCount: 0, waitsFor: leases[0]?.runId })
  })
})

describe('intervals', () => {
  it('are a fixed delay from the end of the last occurrence, however it ended', async () => {
    const stage = await open({
      work: () => {
        stage.clock.advance(25 * minute)
        if (stage.seen.length === 2) throw Object.assign(new Error('no'), { retryable: false })
      },
    })
    await stage.put({ every: '1h' })
    await stage.drainTo('15:00')
    expect(stage.starts).toEqual(['10:00', '11:25', '13:50'])
  })

  it('from start are a fixed rate on a grid that begins with the creation, or at startAt', async () => {
    const stage = await open({ work: () => stage.clock.advance(10 * minute) })
    await stage.passTo('09:10')
    await stage.put({ every: '1h', from: 'start' })
    await stage.put({ name: 'begun', every: '1h', from: 'start', startAt: at('09:30') })
    await stage.drainTo('12:00')
    const planned = async (name: string) => (await stage.runs(name)).map(({ occurrenceAt }) => time(occurrenceAt))
    expect(await planned('s')).toEqual(['10:10', '11:10'])
    expect(await planned('begun')).toEqual(['09:30', '10:30', '11:30'])
  })

  it('from start begin anew when every is edited, and at no other edit', async () => {
    const stage = await open()
    await stage.put({ every: '1h', from: 'start' })
    await stage.drainTo('10:20')
    await stage.belfry.schedules.update('s', { payload: 1 })
    expect(await stage.next()).toBe('11:00 baseline-interval')
    await stage.belfry.schedules.update('s', { every: '30m' })
    await stage.drainTo('11:30')
    expect(stage.starts).toEqual(['10:00', '10:50', '11:20'])
  })

  it('from start back off to the first point of the grid that is far enough from the last', async () => {
    const stage = await open({
      work: () => {
        stage.clock.advance(4 * minute)
        if (stage.seen.length < 3) throw Object.assign(new Error('no'), { retryable: false })
      },
    })
    await stage.put({ every: '10m', from: 'start' })
    await stage.drainTo('10:30')
    // 09:10 and twice ten minutes; 09:30 and four times; then on as if nothing had been.
    expect(stage.starts).toEqual(['09:10', '09:30', '10:10', '10:20', '10:30'])
  })

  it('begin one interval after the creation, or at once with startNow', async () => {
    const stage = await open()
    for (const from of ['end', 'start'] as const) {
      await stage.put({ name: `${from} later`, every: '1h', from })
      await stage.put({ name: `${from} now`, every: '1h', from, startNow: true })
    }
    const next = await Promise.all(['end later', 'start later', 'end now', 'start now'].map((name) => stage.next(name)))
    expect(next.map((answer) => answer.split(' ')[0])).toEqual(['10:00', '10:00', '09:00', '09:00'])
    await stage.drainTo('10:00')
    expect(stage.starts).toEqual(['09:00', '09:00', '10:00', '10:00', '10:00', '10:00'])
  })
})
