import { expect, it } from 'vitest'
import type { Outcome } from '../../src/core/run/verdict.ts'
import { setQueue } from '../../src/store/queues/set-queue.ts'
import { actor, second } from '../store/schedule-stage.ts'
import { problemsIn } from './desk.ts'
import { onEachTold } from './explain/stage.ts'

const broken: Outcome = { kind: 'failed', reason: 'broken' }

onEachTold('attempts and backoff per schedule and per run, in place of a queue for each policy', (told) => {
  const { target } = { target: { handler: 'report' } }

  /** Fails the one run that can go, as often as it can, and answers how long each wait was and how it ended. */
  async function failThrough(): Promise<{ waits: number[]; end: unknown; runId: string }> {
    const { stage } = told()
    const waits: number[] = []
    for (;;) {
      const lease = await stage.leaseOne()
      const settled = await stage.end(lease, broken)
      if (settled?.answer !== 'written') throw new Error('the end was not written')
      const { status, reason, nextEligibleAt } = settled
      if (status !== 'ready') return { waits, end: [status, reason], runId: lease.runId }
      waits.push((nextEligibleAt ?? 0) - stage.clock.now)
      stage.to(nextEligibleAt ?? 0)
    }
  }

  it('a run is tried as often as it says itself, and waits as it says', async () => {
    const { verbs } = told()
    await verbs.runs.enqueue({ target, attempts: 4, backoff: { base: '5s', factor: 3, capMs: 20_000 } })
    const { waits, end } = await failThrough()
    expect(waits).toEqual([5 * second, 15 * second, 20 * second])
    expect(end).toEqual(['parked', 'broken (attempt 4/4)'])
  })

  it('a run of a schedule is tried as the schedule said when it was made, whatever an edit says since', async () => {
    const { verbs } = told()
    await verbs.schedules.put('report', { every: '1h', target, attempts: 2, backoff: { base: '7s' } })
    await verbs.schedules.run('report')
    await verbs.schedules.update('report', { attempts: 9, backoff: null })
    const first = await failThrough()
    expect([first.waits, first.end]).toEqual([[7 * second], ['failed', 'broken (attempt 2/2)']])
    await verbs.schedules.run('report')
    expect((await failThrough()).waits).toHaveLength(8)
  })

  it('what neither of them says is as the queue says at the moment when an attempt ends', async () => {
    const { verbs, stage } = told()
    await verbs.runs.enqueue({ target, attempts: 4 })
    await stage.store.do(setQueue, 'default', { policy: { maxAttempts: 1, backoffBaseMs: 50_000 }, actor })
    expect((await failThrough()).waits).toEqual([50 * second, 60 * second, 60 * second])
    await verbs.runs.enqueue({ target, backoff: { base: '1s' } })
    expect((await failThrough()).end).toEqual(['parked', 'broken (attempt 1/1)'])
  })

  it('a retry of a run is tried as the run was, and with --latest as its schedule says now', async () => {
    const { verbs } = told()
    await verbs.schedules.put('report', { every: '1h', target, attempts: 1 })
    const { id } = await verbs.schedules.run('report')
    await failThrough()
    await verbs.schedules.update('report', { attempts: 2 })
    await verbs.runs.retry(id)
    expect((await failThrough()).waits).toHaveLength(0)
    await verbs.runs.retry(id, { latest: true })
    expect((await failThrough()).waits).toHaveLength(1)
  })

  it('explain tells which of run, schedule and queue holds', async () => {
    const { verbs } = told()
    const own = await verbs.runs.enqueue({ target, attempts: 4 })
    expect((await verbs.runs.explain(own.id)).retries).toEqual({
      maxAttempts: 4,
      attemptsFrom: 'run',
      backoff: { baseMs: 1_000, factor: 2, capMs: 60_000 },
      backoffFrom: 'queue',
    })
    expect(await verbs.runs.get(own.id)).toMatchObject({ attempts: 0, maxAttempts: 4 })
    await verbs.schedules.put('report', { every: '1h', target, backoff: { base: '5s', cap: '2m' } })
    const { id } = await verbs.schedules.run('report')
    const said = { maxAttempts: 3, attemptsFrom: 'queue', backoffFrom: 'schedule' }
    const retries = { ...said, backoff: { baseMs: 5_000, factor: 2, capMs: 120_000 } }
    expect(await verbs.runs.explain(id)).toMatchObject({ budget: { used: 0, max: 3 }, retries })
    expect((await verbs.schedules.explain('report')).retries).toEqual(retries)
  })

  it('a change of a backoff leaves the parts that it does not name, and null takes all of it away', async () => {
    const { verbs } = told()
    await verbs.schedules.put('report', { every: '1h', target, attempts: 2, backoff: { base: '5s', cap: '2m' } })
    const { schedule, changed } = await verbs.schedules.update('report', { backoff: { baseMs: 9_000, factor: 4 } })
    expect([schedule.attempts, schedule.backoff, changed]).toEqual([
      2,
      { baseMs: 9_000, factor: 4, capMs: 120_000 },
      ['backoff'],
    ])
    const without = await verbs.schedules.update('report', { attempts: null, backoff: null })
    expect([without.schedule.attempts, without.schedule.backoff]).toEqual([undefined, undefined])
  })

  it('a file says them too, and a routine of the runs that it makes', async () => {
    const { verbs } = told()
    const nightly = { every: '1h', target, attempts: 6, backoff: { base: '3s' } }
    const applied = await verbs.config.apply({ source: 'ops', schedules: { nightly } })
    expect(applied.schedules[0]?.inWords).toContain('A run has at most 6 attempts, between two attempts it waits 3s')
    expect(await verbs.schedules.get('nightly')).toMatchObject({ attempts: 6, backoff: { baseMs: 3_000 } })
    await verbs.routines.create('push', { run: { target, attempts: 5 } })
    const { run } = await verbs.routines.fire('push')
    expect(await verbs.runs.get(run ?? '')).toMatchObject({ maxAttempts: 5 })
    expect((await verbs.routines.get('push')).run).toMatchObject({ attempts: 5 })
  })

  it('what is wrong with them is told at once, in the words that they were written in', async () => {
    const { verbs } = told()
    const refused = verbs.runs.enqueue({ target, attempts: 0, backoff: { base: '1h', factor: 0.5, cap: '1m' } })
    expect(await problemsIn(refused)).toEqual([
      { field: 'attempts', problem: 'is 0', expected: 'an integer from 1 to 1000000' },
      { field: 'backoff.factor', problem: 'is 0.5', expected: 'a number from 1 to 1000' },
      { field: 'backoff.cap', problem: 'is 1m', expected: 'at least `backoff.base`, which is 1h' },
    ])
    const empty = verbs.schedules.put('report', { every: '1h', target, backoff: {} })
    expect(await problemsIn(empty)).toMatchObject([{ field: 'backoff', problem: 'is empty' }])
  })
})
