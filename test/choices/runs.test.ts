import { describe, expect, it } from 'vitest'
import { RunFailure } from '../../src/index.ts'
import type { Store } from '../../src/store/port.ts'
import { findRun } from '../../src/store/reads/find-run.ts'
import { listAttempts } from '../../src/store/reads/list-attempts.ts'
import { cancelRun } from '../../src/store/runs/cancel-run.ts'
import { registerWorker } from '../../src/store/workers/register-worker.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
import { faulty } from '../engine/faulty-store.ts'
import { deferred, stage as engineStage, openPlace, stopped } from '../engine/stage.ts'
import { aborted, at, Gate, heard, hour, live, minute, open, portOf, sqliteFile, target, time } from './stage.ts'

const hourly = { cron: '0 * * * *', zone: 'UTC' }
const leaseMs = 30_000

/** Another worker, of which nobody here can tell whether it lives, leases what is ready and is not heard of again. */
async function leaseElsewhere(port: Store) {
  const can = { kinds: ['handler'], host: true }
  const workerId = await port.do(registerWorker, { name: 'other', host: 'elsewhere', can, beatMs: minute })
  const { leases } = await port.lease({
    queue: 'default',
    workerId,
    claimId: `of ${workerId}`,
    can,
    limit: 10,
    leaseMs,
  })
  return leases
}

describe('cancelling a leased run', () => {
  it('notes the request with the lease and wakes the holder, who aborts and settles under its fence', async () => {
    const wasTold = new Gate()
    const mayEnd = new Gate()
    const never = new AbortController()
    const stage = await open({
      work: async ({ signal }) => {
        await aborted(signal)
        wasTold.open()
        await mayEnd.pass(never)
        throw signal.reason
      },
    })
    await stage.put(hourly)
    await stage.belfry.start()
    await stage.passTo('10:00')
    const { runId } = await stage.until('run.started')
    const answer = await stage.belfry.runs.cancel(runId, { reason: 'not needed' })
    expect(answer).toEqual({ answer: 'cancel-requested' })
    // Time stands still: whoever hears of it now was woken.
    await wasTold.pass(never)
    expect(await stage.belfry.runs.get(runId)).toMatchObject({
      status: 'leased',
      lease: { cancelRequestedAt: at('10:00').getTime(), cancelReason: 'not needed' },
    })
    expect(await stage.belfry.runs.cancel(runId)).toEqual({ answer: 'already-requested' })
    mayEnd.open()
    expect(await stage.until('run.cancelled')).toMatchObject({ runId, fence: 1, reason: 'not needed' })
    expect(await stage.belfry.runs.attempts(runId)).toMatchObject([{ fence: 1, outcome: 'cancelled' }])
    expect(await stage.ledger()).toEqual(['10:00 cancelled'])
  })

  it('wakes a holder in another process, long before it would renew', async () => {
    const store = sqliteFile()
    const holder = await live({ store, leaseMs: hour })
    holder.handle('work', new Gate().pass)
    await holder.start()
    const started = heard(holder, 'run.started')
    const { id } = await holder.runs.enqueue({ target })
    await started
    const cancelled = heard(holder, 'run.cancelled')
    await (await live({ store })).runs.cancel(id, { reason: 'from elsewhere' })
    expect(await cancelled).toMatchObject({ runId: id, fence: 1, reason: 'from elsewhere' })
  })

  it('is in every answer to a renewal, so that it arrives though every wake-up is lost', async () => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    world.losesWakes = true
    const here = await engineStage({ clock, store: world.store, settings: { leaseMs } })
    here.handle('work', async (attempt) => {
      await stopped(attempt)
      throw new Error('stopped')
    })
    const id = await here.enqueue({ target })
    await here.engine.start()
    await here.until('run.started')
    await here.store.do(cancelRun, id, 'not needed')
    for (let times = 1; times <= 2; times++) {
      expect(await here.store.renew([{ runId: id, fence: 1 }], leaseMs)).toMatchObject([
        { renewed: true, cancelRequestedAt: clock.now() },
      ])
    }
    clock.advance(leaseMs / 3)
    expect(await here.until('run.cancelled')).toMatchObject({ runId: id, fence: 1 })
  })

  it('leaves an end that came first as it is, and marks it', async () => {
    const world = faulty(await openPlace())
    const here = await engineStage({ store: world.store })
    here.handle('work', () => 'done')
    const frozen = deferred()
    const isEnding = deferred()
    world.fault = (verb) => {
      if (verb !== 'settle') return undefined
      isEnding.resolve()
      return frozen.promise
    }
    await here.engine.start()
    const id = await here.enqueue({ target })
    await isEnding.promise
    expect(await world.real.do(cancelRun, id, 'too late')).toBe('cancel-requested')
    frozen.resolve()
    expect(await here.until('run.completed')).toMatchObject({ runId: id })
    expect(await world.real.look(listAttempts, id)).toMatchObject([{ outcome: 'success', reason: 'late-cancel' }])
  })

  it('is the end of a lease that expires after it: the run is never tried again', async () => {
    const store = sqliteFile()
    const stage = await open({ store })
    await stage.put(hourly)
    await stage.belfry.queues.pause('default')
    await stage.drainTo('10:00')
    await stage.belfry.queues.resume('default')
    const [lease] = await leaseElsewhere(await portOf(store, stage.clock))
    const runId = lease?.runId ?? ''
    expect(await stage.belfry.runs.cancel(runId)).toEqual({ answer: 'cancel-requested' })
    await stage.drainTo('10:05')
    expect(stage.of('run.reclaimed')).toMatchObject([{ runId, because: 'expired', status: 'cancelled' }])
    expect(await stage.belfry.runs.get(runId)).toMatchObject({ status: 'cancelled', fence: 1 })
    expect(await stage.ledger()).toEqual(['10:00 cancelled'])
    expect(stage.starts).toEqual([])
  })
})

describe('repeatable: false', () => {
  it('parks a run whose lease was lost, of a schedule as of direct work; by default it is tried again', async () => {
    const store = sqliteFile()
    const stage = await open({ store })
    await stage.put({ ...hourly, repeatable: false })
    await stage.belfry.queues.pause('default')
    await stage.drainTo('10:00')
    const once = await stage.belfry.runs.enqueue({ target, repeatable: false })
    const again = await stage.belfry.runs.enqueue({ target })
    await stage.belfry.queues.resume('default')
    expect(await leaseElsewhere(await portOf(store, stage.clock))).toHaveLength(3)
    await stage.drainTo('10:05')
    const parked = { status: 'parked', attempts: 1, parked: { reason: 'effect-unknown' } }
    expect(await stage.belfry.runs.get(once.id)).toMatchObject(parked)
    expect(await stage.runs()).toMatchObject([parked])
    expect(await stage.ledger()).toEqual(['10:00 parked'])
    expect(await stage.belfry.runs.get(again.id)).toMatchObject({ status: 'completed', fence: 2 })
  })

  it('parks a run that a forced stop broke off; by default it is given back', async () => {
    const stage = await open({ work: new Gate().pass })
    await stage.belfry.start()
    const once = await stage.belfry.runs.enqueue({ target, repeatable: false })
    const again = await stage.belfry.runs.enqueue({ target })
    await stage.until('run.started', 2)
    await stage.belfry.stop({ graceMs: 0 })
    expect(await stage.belfry.runs.get(once.id)).toMatchObject({
      status: 'parked',
      attempts: 0,
      parked: { reason: 'effect-unknown' },
    })
    expect(await stage.belfry.runs.get(again.id)).toMatchObject({ status: 'ready', attempts: 0 })
  })

  it('parks a run whose outcome nobody knows; by default it is tried again', async () => {
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    const here = await engineStage({ clock, store: world.store, settings: { leaseMs } })
    here.handle('work', async (attempt) => {
      await stopped(attempt)
      throw new Error('stopped in the middle')
    })
    await here.engine.start()
    const once = await here.enqueue({ target, repeatable: false })
    const again = await here.enqueue({ target })
    await here.until('run.started', 2)
    const frozen = deferred()
    world.fault = (verb) => (verb === 'renew' ? frozen.promise : undefined)
    // It cannot renew, trusts its lease no longer, and stops what it was doing.
    clock.advance(leaseMs)
    await here.until('run.parked')
    await here.until('run.retrying')
    frozen.resolve()
    expect(await here.store.look(findRun, once)).toMatchObject({
      status: 'parked',
      parked: { reason: 'effect-unknown' },
    })
    expect(await here.store.look(findRun, again)).toMatchObject({ status: 'ready', attempts: 1 })
  })

  it('tries a failure that its own worker reports again only where it is marked retryable', async () => {
    const stage = await open({
      work: ({ payload }) => {
        throw payload === 'harmless' ? new RunFailure('no harm was done', { retryable: true }) : new Error('who knows')
      },
    })
    const plain = await stage.belfry.runs.enqueue({ target, repeatable: false })
    const harmless = await stage.belfry.runs.enqueue({ target, repeatable: false, payload: 'harmless' })
    await stage.put({ ...hourly, repeatable: false })
    await stage.drainTo('10:00')
    expect(await stage.belfry.runs.attempts(plain.id)).toHaveLength(1)
    expect(await stage.belfry.runs.get(plain.id)).toMatchObject({
      status: 'parked',
      parked: { reason: 'who knows (not repeatable)' },
    })
    expect(await stage.belfry.runs.attempts(harmless.id)).toHaveLength(3)
    expect(await stage.ledger()).toEqual(['10:00 failed'])
  })
})

describe('an edit during a run', () => {
  it('does not reach the run, which keeps target, payload and policy version to its last attempt', async () => {
    const stage = await open({
      work: async ({ attempt }) => {
        if (attempt > 1) return
        await stage.belfry.queues.set('default', { maxConcurrent: 7 })
        await stage.belfry.schedules.update('s', { payload: 'new', target: { handler: 'newer' } })
        throw new Error('try again')
      },
    })
    const newer: unknown[] = []
    stage.belfry.handle('newer', ({ payload }) => newer.push(payload))
    await stage.put({ ...hourly, payload: 'old' })
    await stage.drainTo('10:30')
    expect(stage.seen.map(({ run }) => `${run.attempt} ${run.payload}`)).toEqual(['1 old', '2 old'])
    expect(newer).toEqual([])
    await stage.drainTo('11:00')
    expect(newer).toEqual(['new'])
    expect(await stage.runs()).toMatchObject([
      { target, policyVersion: 1, fence: 2 },
      { target: { handler: 'newer' }, policyVersion: 2, fence: 1 },
    ])
    const history = await stage.belfry.schedules.history('s')
    expect(history.map(({ decision }) => decision?.version)).toEqual([2, 1])
  })

  it('reaches no run that is only waiting either', async () => {
    const stage = await open()
    await stage.put({ ...hourly, payload: 'old', overlap: 'allow' })
    await stage.belfry.queues.pause('default')
    await stage.drainTo('10:00')
    await stage.belfry.schedules.update('s', { payload: 'new' })
    await stage.belfry.queues.resume('default')
    await stage.belfry.drain()
    await stage.drainTo('11:00')
    expect(stage.seen.map(({ at: when, run }) => `${when} ${run.payload}`)).toEqual(['10:00 old', '11:00 new'])
  })

  it('reaches a retry that asks for the latest, and no other', async () => {
    const stage = await open()
    const newer: unknown[] = []
    stage.belfry.handle('newer', ({ payload }) => newer.push(payload))
    await stage.put({ ...hourly, payload: 'old' })
    await stage.drainTo('10:00')
    const runId = (await stage.runs())[0]?.id ?? ''
    await stage.belfry.schedules.update('s', { payload: 'new', target: { handler: 'newer' } })
    const same = await stage.belfry.runs.retry(runId)
    await stage.belfry.drain()
    const latest = await stage.belfry.runs.retry(runId, { latest: true })
    await stage.belfry.drain()
    expect(stage.seen.map(({ run }) => run.payload)).toEqual(['old', 'old'])
    expect(newer).toEqual(['new'])
    expect(await stage.belfry.runs.get(same.id)).toMatchObject({ retryOf: runId, target, occurrenceAt: null })
    expect(await stage.belfry.runs.get(latest.id)).toMatchObject({ retryOf: runId, target: { handler: 'newer' } })
    expect(time((await stage.belfry.schedules.get('s')).nextRunAt)).toBe('11:00')
  })
})
