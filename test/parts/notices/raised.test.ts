import { expect, it } from 'vitest'
import { parseId } from '../../../src/core/id.ts'
import { Belfry, RunFailure } from '../../../src/index.ts'
import { askHolders, goOn, stopWork } from '../../../src/parts/holds/stop-work.ts'
import type { Notice } from '../../../src/parts/notices/notice.ts'
import { notifyRaised } from '../../../src/parts/notices/notify-raised.ts'
import { listNotices } from '../../../src/parts/notices/read-notices.ts'
import { setNotify } from '../../../src/parts/notices/set-notify.ts'
import { workAhead } from '../../../src/store/reads/find-queue.ts'
import { registerWorker } from '../../../src/store/workers/register-worker.ts'
import { TestClock } from '../../../src/testing/test-clock.ts'
import { actor, hour, onEachStore, startAt } from '../../store/schedule-stage.ts'
import { enqueue, http, told, work } from './stage.ts'

const hook = { http: { url: 'https://example.org/hook' } }

/** The notifications that a store has made, oldest first, as their receivers read them. */
async function made(belfry: Belfry): Promise<string[]> {
  const { runs } = await belfry.runs.list({ queue: 'notices', limit: 100 })
  const ids = runs.map(({ id }) => id).reverse()
  const notices = await Promise.all(ids.map(async (id) => (await belfry.runs.get(id)).payload as Notice))
  return notices.map(({ event, about, happened, reason }) => `${event}: ${about} ${happened}: ${reason}`)
}

async function open(): Promise<{ belfry: Belfry; clock: TestClock }> {
  const clock = new TestClock(Date.UTC(2026, 0, 5, 9))
  const belfry = await Belfry.open({ store: 'memory:', clock, log: false })
  await belfry.store.notify({ onBudget: hook, onAccount: hook, onStop: hook })
  await belfry.queues.pause('notices')
  return { belfry, clock }
}

it('a budget is told of at 80 % and at 100 % of its period, each once, and again in the next', async () => {
  const { belfry, clock } = await open()
  belfry.handle('work', () => 'done')
  await belfry.budgets.put({ name: 'day', per: 'day', zone: 'UTC', runs: 5, for: 'namespace' })
  const work = async (runs: number) => {
    for (let run = 0; run < runs; run++) await belfry.runs.enqueue({ target: { handler: 'work' } })
    await belfry.drain()
  }
  await work(3)
  expect(await made(belfry)).toEqual([])
  await work(1)
  const next = 'the next period begins at 2026-01-06T00:00:00.000Z'
  const first = `budget: budget day is used to 80 %: used 4 runs of 5 runs; ${next}`
  expect(await made(belfry)).toEqual([first])
  await work(2)
  const second = `budget: budget day is spent: used 5 runs of 5 runs; ${next}`
  expect(await made(belfry)).toEqual([first, second])
  clock.advance(86_400_000)
  // The sixth run waited for the new day.
  await work(3)
  expect((await made(belfry)).slice(2)).toEqual([
    'budget: budget day is used to 80 %: used 4 runs of 5 runs; the next period begins at 2026-01-07T00:00:00.000Z',
  ])
  await belfry.close()
})

it('an account is told of when it is blocked and when a run has used it again, not at each limit in between', async () => {
  const { belfry, clock } = await open()
  let isLimited = true
  belfry.handle('ask', () => {
    if (isLimited) throw new RunFailure('limit', { rateLimited: true })
    return 'answer'
  })
  await belfry.accounts.put({ name: 'claude', maxConcurrent: 4 })
  const { id } = await belfry.runs.enqueue({ target: { handler: 'ask' }, account: ['claude'] })
  await belfry.drain()
  clock.advance(60_000)
  await belfry.drain()
  isLimited = false
  clock.advance(600_000)
  await belfry.drain()
  expect(await belfry.runs.get(id)).toMatchObject({ status: 'completed' })
  const [blocked, opened, ...others] = await made(belfry)
  expect(blocked).toMatch(/^account: account claude is blocked until 2026-01-05T09:01:00.000Z: .*reported by run r-/)
  expect(opened).toBe(`account: account claude is open again: run ${id} used it with success`)
  expect(others).toEqual([])
  await belfry.accounts.block({ name: 'claude', for: '1h', reason: 'Being moved.' })
  expect((await made(belfry)).slice(2)).toEqual([
    expect.stringMatching(/^account: account claude is blocked until 2026-01-05T10:11:00.000Z: Being moved\.$/),
  ])
  await belfry.close()
})

it('a stop is told of, and that work goes on', async () => {
  const { belfry } = await open()
  await belfry.holds.stop({ on: 'kind:agent', reason: 'Incident 4711' })
  await expect(belfry.holds.stop({ on: 'kind:agent' })).rejects.toThrow('stopped already')
  await belfry.holds.go({ on: 'kind:agent' })
  await belfry.holds.stop({})
  expect((await made(belfry)).map((line) => line.replace(/by .*?(?=:|$)/, 'by X'))).toEqual([
    'stop: kind agent is stopped: by X: Incident 4711',
    'stop: kind agent goes on: by X',
    'stop: namespace default is stopped: by X',
  ])
  const { told: last } = await belfry.store.notices({})
  expect(last.map(({ about }) => about)).toEqual(['namespace default', 'kind agent'])
  await belfry.close()
})

onEachStore('a notification of a stop', (stage) => {
  const everything = { scope: 'namespace', subject: '', everywhere: false } as const

  it('is sent while everything is stopped, and nothing else is, nor is it cancelled with what was at work', async () => {
    await stage().store.do(setNotify, { onStop: http('stop'), onFailure: http('failure') }, { actor })
    await work(stage(), 'fail')
    const other = await enqueue(stage(), 'notices')
    await stage().store.do(stopWork, { ...everything, note: 'Incident 4711', forMs: undefined, actor })
    const can = { kinds: ['http'] }
    const workerId = await stage().store.do(registerWorker, { name: 'w', host: 'h', can, beatMs: hour })
    const ahead = await stage().store.look(workAhead, can)
    expect(ahead).toMatchObject({ queues: ['notices'] })
    const { leases } = await stage().store.lease({ queue: 'notices', workerId, claimId: 'c', can, limit: 100 })
    expect(leases.map(({ payload }) => (payload as Notice).happened)).toEqual(['is stopped'])
    expect(await stage().store.do(askHolders, { ...everything, how: 'cancel', reason: 'x', limit: 100 })).toEqual([])
    expect(await stage().lease(10, 'notices')).toEqual([])
    await stage().store.do(goOn, { ...everything, actor })
    expect((await stage().lease(10, 'notices')).map(({ runId }) => runId)).toContain(other)
    expect((await told(stage())).map(({ notice }) => notice.event).sort()).toEqual(['failure', 'stop'])
  })

  it('waits where its own queue or kind is stopped', async () => {
    await stage().store.do(setNotify, { onStop: http('stop') }, { actor })
    for (const subject of [
      { scope: 'queue', subject: 'notices' } as const,
      { scope: 'kind', subject: 'http' } as const,
    ]) {
      await stage().store.do(stopWork, { ...everything, ...subject, note: null, forMs: undefined, actor })
      expect(await told(stage())).toEqual([])
      await stage().store.do(goOn, { ...everything, ...subject, actor })
      expect(await told(stage())).toHaveLength(2)
    }
  })
})

onEachStore('what a part raises', (stage) => {
  it('goes to the receiver of the schedule first, and each is sent', async () => {
    await stage().store.do(setNotify, { onMissed: http('all'), onExpiring: http('all') }, { actor })
    await stage().put({ onMissed: http('own') })
    await stage().fireAt(startAt + hour)
    const scheduleId = parseId('schedule', (await stage().leaseOne()).scheduleId ?? '') as number
    const missed = { event: 'missed', scheduleId, reason: 'The prompt was due at nine.' }
    await stage().store.do(notifyRaised, [missed, { event: 'expiring', scheduleId, reason: 'Tomorrow.' }])
    await stage().store.do(notifyRaised, [missed])
    const notices = await told(stage())
    expect(notices.map(({ notice, target }) => [notice.event, notice.schedule, target, notice.suppressed])).toEqual([
      ['missed', 'report', http('own'), 0],
      ['expiring', 'report', http('all'), 0],
      ['missed', 'report', http('own'), 0],
    ])
    expect((await stage().store.look(listNotices, { limit: 10 })).told).toHaveLength(2)
  })

  it('is nothing where no receiver is named, and a defect where the event is unknown', async () => {
    await stage().store.do(notifyRaised, [{ event: 'budget', about: 'budget a', reason: 'x' }])
    expect(await told(stage())).toEqual([])
    await expect(stage().store.do(notifyRaised, [{ event: 'bugdet', reason: 'x' }])).rejects.toThrow('no event')
  })
})

onEachStore('an answer', (stage) => {
  const answer = { text: 'All tests are green.', usage: {}, denials: ['Bash'] }

  it('is sent to where its schedule says, each time, with its text, cost and duration', async () => {
    await stage().put({ onComplete: http('a') })
    for (const occurrence of [1, 2]) {
      await stage().fireAt(startAt + occurrence * hour)
      const { runId, fence, scheduleId } = await stage().leaseOne()
      stage().pass(1_500)
      const usage = { tokensIn: 1, money: { amount: 42_100, currency: 'USD' } }
      const result = occurrence === 1 ? { text: 'é'.repeat(5_000) } : { text: 'All is well.' }
      await stage().store.settle([{ runId, fence, scheduleId, outcome: { kind: 'success' }, result, usage }])
    }
    const [first, second, ...others] = (await told(stage())).map(({ notice }) => notice)
    expect(others).toEqual([])
    expect(Buffer.byteLength(first?.answer ?? '')).toBeLessThanOrEqual(4_096)
    expect(first?.answer).toMatch(/^é{2000,}…$/)
    expect(second).toMatchObject({
      ...{ event: 'complete', answer: 'All is well.', cost: '0.0421 USD', durationMs: 1_500 },
      ...{ suppressed: 0, output: null },
    })
  })

  it('of a run that found nothing to do is not sent', async () => {
    await stage().put({ onComplete: http('a') })
    await stage().fireAt(startAt + hour)
    await stage().end(await stage().leaseOne(), { kind: 'success', noop: true })
    expect(await told(stage())).toEqual([])
  })

  it('for which tools were denied is told of to who wants that, also where it failed', async () => {
    await stage().put({ onPermission: http('p'), onFailure: http('f') })
    await stage().fireAt(startAt + hour)
    const lease = await stage().leaseOne()
    const { runId, fence, scheduleId } = lease
    await stage().store.appendOutput(lease, 'I try Bash.\nIt is denied.\n')
    const outcome = { kind: 'failed', reason: 'permission-denied: Bash', retryable: false } as const
    await stage().store.settle([{ runId, fence, scheduleId, outcome, result: answer }])
    const notices = await told(stage())
    expect(notices.map(({ notice, target }) => [notice.event, notice.reason, target])).toEqual([
      ['permission', 'denied: Bash', http('p')],
      ['failure', expect.stringContaining('permission-denied: Bash'), http('f')],
    ])
    // Two notices of one attempt: its lines stand once in each.
    for (const { notice } of notices) expect(notice.output).toBe('I try Bash.\nIt is denied.')
  })
})
