import { expect, it } from 'vitest'
import type { Outcome } from '../../../src/core/run/verdict.ts'
import { type RunCode, runReasons } from '../../../src/operations/reasons/run-reasons.ts'
import { putHold } from '../../../src/store/holds/put-hold.ts'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { cancelRun } from '../../../src/store/runs/cancel-run.ts'
import { retryRun } from '../../../src/store/runs/retry-run.ts'
import { pauseSchedule } from '../../../src/store/schedules/pause-schedule.ts'
import { runNow } from '../../../src/store/schedules/run-now.ts'
import { registerWorker } from '../../../src/store/workers/register-worker.ts'
import { stop } from '../../holding.ts'
import { actor, hour, minute, second, startAt } from '../../store/schedule-stage.ts'
import { errorOf } from '../desk.ts'
import { onEachTold, pruneAll } from '../explain/stage.ts'
import { canTellProcesses, startProcess } from '../mortal.ts'

const broken: Outcome = { kind: 'failed', reason: 'broken' }

onEachTold('explain a run', (told) => {
  const seen = new Set<RunCode>()
  const explain = async (id: string, more: { schedule?: string } = {}) => {
    const answer = await told().verbs.runs.explain(id, more)
    seen.add(answer.code)
    return answer
  }
  const setPolicy = (policy: object, name = 'default') => told().stage.store.do(setQueue, name, { policy, actor })

  it('in line says so, and how many are before it', async () => {
    await told().worker()
    const [first, second] = [await told().enqueue(), await told().enqueue()]
    expect(await explain(first)).toMatchObject({
      code: 'in-line',
      status: 'ready',
      waiting: { before: 0 },
      unblock: [],
    })
    expect(await explain(second)).toMatchObject({ code: 'in-line', waiting: { before: 1 } })
    expect((await explain(second)).sentence).toBe('It is in line, and there are slots for it and for the 1 before it.')
  })

  it('is in line exactly when the next lease hands it out', async () => {
    await setPolicy({ maxConcurrent: 3, maxConcurrentPerKey: 1 })
    await told().worker()
    const ids = [
      await told().enqueue({ concurrencyKey: 'k' }),
      await told().enqueue({ concurrencyKey: 'k' }),
      await told().enqueue({ notBefore: startAt + hour }),
      await told().enqueue({ priority: 200 }),
      await told().enqueue(),
      await told().enqueue({ priority: 300 }),
    ]
    const answers = await Promise.all(ids.map((id) => explain(id)))
    const leased = (await told().stage.lease()).map(({ runId }) => runId)
    expect(answers.filter(({ code }) => code === 'in-line').map(({ run }) => run)).toEqual(leased.sort())
    expect(answers.map(({ code }) => code)).toEqual([
      'in-line',
      'key-ceiling',
      'not-before',
      'in-line',
      'in-line',
      'concurrency-ceiling',
    ])
  })

  it('behind a full ceiling names the runs and the worker that hold it, and the runs before it', async () => {
    await setPolicy({ maxConcurrent: 2 })
    const [a, b] = [await told().enqueue(), await told().enqueue()]
    await told().stage.lease()
    await told().enqueue()
    const { code, sentence, waiting, unblock } = await explain(await told().enqueue())
    expect(code).toBe('concurrency-ceiling')
    expect(sentence).toBe(
      `Queue default is at its ceiling: 2 of 2 at work (${a}, ${b}), and 1 run is before it in line.`,
    )
    expect(waiting).toMatchObject({ before: 1, holdersCount: 2, holders: [{ run: a, since: startAt }, { run: b }] })
    expect(waiting?.holders[0]?.worker).toMatch(/^w on h \(w-/)
    expect(unblock.map(({ what }) => what)).toEqual([
      'A slot is free once one of these runs ends.',
      'Or raise maxConcurrent of queue default.',
    ])
  })

  it('behind runs that will take the free slots is told that, and not that the ceiling is full', async () => {
    await setPolicy({ maxConcurrent: 1 })
    await told().worker()
    await told().enqueue()
    const { code, sentence } = await explain(await told().enqueue())
    expect([code, sentence]).toEqual([
      'concurrency-ceiling',
      'Queue default has 1 slot free of 1, and 1 run is before it in line.',
    ])
  })

  it('behind a full key names the runs with that key and no others', async () => {
    await setPolicy({ maxConcurrentPerKey: 1 })
    await told().enqueue()
    const holder = await told().enqueue({ concurrencyKey: 'k' })
    await told().stage.lease()
    const { code, sentence, waiting } = await explain(await told().enqueue({ concurrencyKey: 'k' }))
    expect(code).toBe('key-ceiling')
    expect(sentence).toBe(`The key "k" allows 1 at a time, and these runs are at work or before it: ${holder}.`)
    expect(waiting?.holders.map(({ run }) => run)).toEqual([holder])
  })

  it('that no live worker can execute names what is missing, and what the workers have', async () => {
    const id = await told().enqueue({ target: { handler: 'rare' } })
    expect(await explain(id)).toMatchObject({
      code: 'no-worker',
      sentence: 'No worker is alive; it needs the handler "rare".',
      unblock: [
        { what: `A program of yours must register it, with belfry.handle('rare', …), and start().`, command: null },
      ],
    })
    await told().worker({ kinds: ['http'], handlers: ['report'] })
    expect((await explain(id)).sentence).toBe(
      '1 worker is alive, but none has the handler "rare": they have the handler "report", the target kind http.',
    )
    told().stage.pass(2 * minute + 1)
    expect((await explain(id)).sentence).toMatch(/^No worker is alive/)
  })

  it('whose workers have no slot free is not said to be about to go', async () => {
    const workerId = await told().worker({ kinds: ['handler'] }, 1)
    await told().enqueue()
    const id = await told().enqueue()
    await told().stage.store.lease({ queue: 'default', workerId, claimId: 'c', can: { kinds: ['handler'] }, limit: 1 })
    expect(await explain(id)).toMatchObject({
      code: 'workers-busy',
      sentence:
        'Its queue has a free slot, but the only live worker that has the handler "report" has all its slots taken.',
    })
    await told().worker({ kinds: ['handler'] }, 1)
    expect((await explain(id)).code).toBe('in-line')
  })

  it('that is leased tells by whom, since when, how late it started, and that it was asked to end', async () => {
    const id = await told().enqueue()
    told().stage.pass(3 * second)
    await told().stage.lease()
    const answer = await explain(id)
    expect(answer).toMatchObject({
      code: 'leased',
      lateness: { against: 'enqueued', at: startAt, firedMs: null, startedMs: 3 * second, isGrowing: false },
      next: { what: 'Attempt 1 ends; until then its worker renews the lease.', at: startAt + 3 * second + 10 * hour },
    })
    expect(answer.sentence).toMatch(/^w on h \(w-\w+\) executes attempt 1\.$/)
    expect(answer.unblock[1]?.command).toBe(`belfry run cancel ${id}`)
    await told().stage.store.do(cancelRun, id, 'enough')
    const asked = await explain(id)
    expect(asked.sentence).toMatch(/executes attempt 1\. Its cancellation was requested: enough\.$/)
    expect(asked.timeline.map(({ what }) => what)).toEqual(['enqueued', 'started', 'cancel-requested', 'lease-expires'])
  })

  // Only Linux tells one process from another.
  it.runIf(canTellProcesses)('whose worker was killed is not said to be at work', async () => {
    const { identity, kill } = startProcess()
    const { store } = told().stage
    const can = { kinds: ['handler'] }
    const workerId = await store.do(registerWorker, { name: 'mill', host: 'm', can, beatMs: minute, process: identity })
    const id = await told().enqueue()
    await store.lease({ queue: 'default', workerId, claimId: 'c', can, limit: 1, leaseMs: hour })
    await kill()
    expect((await explain(id)).code).toBe('holder-dead')
    told().stage.pass(hour)
    expect((await explain(id)).code).toBe('holder-dead')
  })

  it('whose worker fell silent says that the lease is over and still keeps its slot', async () => {
    const id = await told().enqueue()
    await told().stage.lease()
    told().stage.pass(10 * hour)
    expect(await explain(id)).toMatchObject({ code: 'lease-expired', unblock: [{ command: 'belfry up' }] })
    await told().worker()
    expect((await explain(id)).unblock).toEqual([{ what: 'A live worker reclaims it.', command: null, at: null }])
  })

  it('that is held tells whose pause it is, and when that ends', async () => {
    await told().stage.put({ name: 'night report' })
    const { store } = told().stage
    const made = await store.do(runNow, 'night report')
    const id = 'id' in made ? made.id : ''
    await store.do(pauseSchedule, 'night report', { until: startAt + hour, reason: 'the database moves' })
    expect(await explain(id)).toMatchObject({
      code: 'held',
      sentence: 'Its schedule night report is paused: the database moves.',
      unblock: [
        { what: 'The pause ends by itself.', at: startAt + hour },
        { command: `belfry schedule resume 'night report'` },
      ],
      planned: { source: 'run-now', rederived: { answer: 'not-asked' } },
    })
    await store.do(pauseSchedule, 'night report', { reason: 'for good' })
    const disabled = await explain(id)
    expect(disabled.sentence).toBe('Its schedule night report is paused: for good.')
    expect(disabled.unblock.map(({ at }) => at)).toEqual([null])
  })

  it('in backoff tells the instant, the budget, and what was made of each attempt', async () => {
    const id = await told().enqueue()
    await told().stage.end(await told().stage.leaseOne(), broken)
    told().stage.pass(second)
    await told().stage.end(await told().stage.leaseOne(), broken)
    const answer = await explain(id)
    expect(answer).toMatchObject({
      code: 'backoff',
      sentence: 'Its last attempt failed, and it waits for its backoff to end. It has used 2 of 3 attempts.',
      unblock: [
        { what: 'The next attempt may start.', at: startAt + 3 * second },
        { command: `belfry run output ${id}` },
      ],
      next: { what: 'Attempt 3 may start.', at: startAt + 3 * second },
      budget: { used: 2, max: 3 },
    })
    expect(answer.attempts.map(({ verdict, isCounted, nextAt }) => [verdict, isCounted, nextAt])).toEqual([
      [
        'It was tried again 1s later (1 attempt used; the current policy gives a backoff of 1s).',
        true,
        startAt + second,
      ],
      [
        'It may be tried again 2s later (2 attempts used; the current policy gives a backoff of 2s).',
        true,
        startAt + 3 * second,
      ],
    ])
    expect(answer.timeline.map(({ what, at }) => [what, at - startAt])).toEqual([
      ['enqueued', 0],
      ['started', 0],
      ['attempt-ended', 0],
      ['started', second],
      ['attempt-ended', second],
      ['waits-until', 3 * second],
    ])
  })

  it('that is parked tells why, and how a person gets it on', async () => {
    const id = await told().enqueue()
    await told().stage.fail(await told().stage.leaseOne())
    expect(await explain(id)).toMatchObject({
      code: 'parked',
      sentence: 'It is parked and needs a person: broken (not retryable).',
      unblock: [
        { command: `belfry run output ${id}` },
        { command: `belfry run reset ${id}` },
        { command: `belfry run cancel ${id}` },
      ],
      attempts: [{ verdict: 'The run was parked: broken (not retryable).' }],
    })
    const risky = await told().enqueue({ repeatable: false })
    await told().stage.end(await told().stage.leaseOne(), { kind: 'forced-stop' })
    expect((await explain(risky)).sentence).toBe(
      'It is parked and needs a person: effect-unknown (it is not known whether it was done, and it must not be done twice).',
    )
  })

  it('that must not start yet, or not any more, tells which instant says so', async () => {
    await told().worker()
    const later = await told().enqueue({ notBefore: startAt + hour })
    expect(await explain(later)).toMatchObject({ code: 'not-before', unblock: [{ at: startAt + hour }] })
    const over = await told().enqueue({ deadline: startAt + second })
    told().stage.pass(second)
    expect(await explain(over)).toMatchObject({
      code: 'deadline',
      sentence: 'Its deadline is over, so it does not start; a worker ends it as skipped.',
    })
    await told().stage.lease()
    const sentence = 'It ended without being executed: deadline (its deadline was over).'
    const lateness = { startedMs: null, isGrowing: false }
    expect(await explain(over)).toMatchObject({ code: 'skipped', sentence, lateness })
  })

  it('in a paused queue, under a spent rate, and while everything is stopped', async () => {
    await told().worker()
    await setPolicy({ rateLimit: { startsMax: 1, perMs: minute } })
    await told().enqueue()
    const id = await told().enqueue()
    // The one before it would use the rate up at this very instant.
    expect(await explain(id)).toMatchObject({ code: 'rate-limit', unblock: [{ at: startAt + minute }] })
    await told().stage.lease()
    told().stage.pass(10 * second)
    expect(await explain(id)).toMatchObject({
      code: 'rate-limit',
      sentence: 'Queue default has used its rate limit of 1 start in 1m.',
      unblock: [{ at: startAt + minute }],
    })
    await told().stage.store.do(setQueue, 'default', { paused: { reason: 'a bad deploy' }, actor })
    expect(await explain(id)).toMatchObject({
      code: 'held-by',
      sentence: 'Its queue default is paused: a bad deploy.',
      unblock: [{ command: 'belfry queue resume default' }],
    })
    await told().stage.store.do(putHold, stop)
    expect(await explain(id)).toMatchObject({ code: 'held-by', unblock: [{ command: 'belfry go' }] })
  })

  it('whose queue has a policy that nobody can read', async () => {
    const id = await told().enqueue()
    await told().stage.sql(`update belfry.queue set policy = '{'`)
    expect(await explain(id)).toMatchObject({ code: 'policy-unreadable', budget: { used: 0, max: null } })
  })

  it('behind another run of its schedule names that run, also when it was asked to end', async () => {
    const { stage } = told()
    await stage.put({ overlap: 'queue', queueMax: 2 })
    const [first] = (await stage.fireAt(startAt + hour)).runs
    await stage.lease()
    const [next] = (await stage.fireAt(startAt + 2 * hour)).runs
    expect(await explain(next?.id ?? '')).toMatchObject({
      code: 'overlap',
      sentence: `It waits for the end of ${first?.id}, another run of its schedule.`,
      unblock: [
        { what: `${first?.id} ends.` },
        { command: `belfry explain run ${first?.id}` },
        { command: `belfry run cancel ${first?.id}` },
      ],
    })
    const [third] = (await stage.fireAt(startAt + 3 * hour)).runs
    expect((await explain(third?.id ?? '')).waiting?.holders.map(({ run }) => run)).toEqual([next?.id])
    await stage.put({ name: 'replacing', overlap: 'cancel' })
    const [old] = (await stage.fireAt(startAt + 4 * hour)).runs.filter(({ schedule }) => schedule === 'replacing')
    await stage.lease()
    const [replacing] = (await stage.fireAt(startAt + 5 * hour)).runs.filter(({ schedule }) => schedule === 'replacing')
    const answer = await explain(replacing?.id ?? '')
    expect(answer.code).toBe('blocked-by-cancel')
    expect(answer.sentence).toBe(`It replaces ${old?.id}, which was asked to stop and has not ended yet.`)
    expect(answer.unblock[0]?.at).toBe(startAt + 14 * hour)
  })

  it('that ended tells why, how often it was tried, and what its schedule did next', async () => {
    const { stage } = told()
    await stage.put({ onExhausted: 'fail' })
    await setPolicy({ maxAttempts: 1 })
    const [run] = (await stage.fireAt(startAt + hour + 5 * second)).runs
    await stage.end(await stage.leaseOne(), broken)
    const failed = await explain(run?.id ?? '')
    expect(failed).toMatchObject({
      code: 'failed',
      sentence: 'It failed for good: broken (attempt 1/1).',
      unblock: [{ command: `belfry run output ${run?.id}` }, { command: `belfry run retry ${run?.id}` }],
      lateness: { against: 'due', at: startAt + hour, firedMs: 5 * second, startedMs: 5 * second },
      next: { at: startAt + 2 * hour },
      schedule: { name: 'report', after: null, next: { at: startAt + 2 * hour } },
    })
    const fired = failed.timeline.find(({ what }) => what === 'fired')
    expect(fired?.detail).toBe('late by 5s')
    await stage.runAt(startAt + 2 * hour)
    expect((await explain(run?.id ?? '')).schedule?.after).toMatchObject({
      from: startAt + 2 * hour,
      outcome: 'completed',
    })
  })

  it('that was retried, and one that was cancelled', async () => {
    const { stage } = told()
    const id = await told().enqueue()
    await stage.store.do(cancelRun, id, 'not needed')
    expect((await explain(id)).sentence).toBe('It was cancelled: not needed.')
    expect((await explain(id)).code).toBe('cancelled')
    const again = await stage.store.do(retryRun, id)
    const retryId = 'id' in again ? again.id : ''
    await stage.end(await stage.leaseOne())
    expect(await explain(retryId)).toMatchObject({
      code: 'completed',
      sentence: 'It completed.',
      unblock: [],
      waiting: null,
      planned: { sentence: `It is a retry of ${id}.` },
    })
  })

  it('that retention has removed is told by the ledger of its schedule, as removed', async () => {
    const { stage } = told()
    await stage.put({})
    const id = await stage.runAt(startAt + hour)
    await stage.runAt(startAt + 2 * hour, { kind: 'failed', reason: 'broken', retryable: false })
    stage.pass(8 * 24 * hour)
    await pruneAll(told().stage.store)
    const absent = await errorOf(explain(id))
    expect([absent.code, absent.hint]).toEqual([
      'not-found',
      'It never existed here, or retention removed it. Give its schedule too, whose ledger may name the run, or see the history of the schedule.',
    ])
    const answer = await explain(id, { schedule: 'report' })
    expect(answer).toMatchObject({
      code: 'pruned',
      status: null,
      sentence: 'Retention has removed the run; the ledger of report says: its run completed.',
      planned: { source: 'baseline-cron', occurrenceAt: startAt + hour, rederived: { answer: 'pruned' } },
      timeline: [{ what: 'decided' }, { what: 'nominal' }, { what: 'fired' }, { what: 'ended', detail: 'completed' }],
    })
    expect(answer.planned.candidates).toMatchObject([{ by: 'baseline', effect: 'won' }])
    await stage.put({ name: 'other' })
    expect((await errorOf(explain(id, { schedule: 'other' }))).message).toContain('do not name it')
  })

  it('has been told with every code there is', () => {
    if (!canTellProcesses) seen.add('holder-dead')
    expect([...seen].sort()).toEqual(Object.keys(runReasons).sort())
  })
})
