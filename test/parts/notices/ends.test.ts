import { expect, it } from 'vitest'
import { noticeOverdue } from '../../../src/parts/notices/notice-overdue.ts'
import { findNotify, listNotices } from '../../../src/parts/notices/read-notices.ts'
import { setNotify } from '../../../src/parts/notices/set-notify.ts'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { findQueue } from '../../../src/store/reads/find-queue.ts'
import { findRun } from '../../../src/store/reads/find-run.ts'
import { listRuns } from '../../../src/store/reads/list-runs.ts'
import { retryRun } from '../../../src/store/runs/retry-run.ts'
import { runNow } from '../../../src/store/schedules/run-now.ts'
import { registerWorker } from '../../../src/store/workers/register-worker.ts'
import { listAudit } from '../../store/list-audit.ts'
import { actor, hour, minute, onEachStore, startAt } from '../../store/schedule-stage.ts'
import { broken, enqueue, http, told, words, work } from './stage.ts'

onEachStore('a notice', (stage) => {
  it('of an occurrence that failed for good is made in the step that ends it, with all that is known', async () => {
    await stage().put({ onFailure: http('a') })
    await stage().fireAt(startAt + hour)
    const lease = await stage().leaseOne()
    await stage().end(lease, { ...broken, reason: `it broke: ${'x'.repeat(2_000)}` })
    const [notice, ...others] = await told(stage())
    expect(others).toEqual([])
    expect(notice).toMatchObject({ source: 'notice', queue: 'notices', scheduleId: null, target: http('a') })
    const { reason = '', ...facts } = notice?.notice ?? {}
    expect(facts).toEqual({
      event: 'failure',
      at: new Date(startAt + hour).toISOString(),
      namespace: 'default',
      schedule: 'report',
      queue: 'default',
      run: lease.runId,
      attempt: 1,
      failuresInARow: 1,
      suppressed: 0,
      output: null,
      test: false,
    })
    expect(reason.startsWith('it broke: xxx')).toBe(true)
    expect(reason.length).toBeLessThanOrEqual(501)
  })

  it('has the last 20 lines of output of the attempt it is about, and of no other', async () => {
    await stage().put({ onFailure: http('a'), onRecover: http('a') })
    await stage().fireAt(startAt + hour)
    const first = await stage().leaseOne()
    await stage().store.appendOutput(first, 'of the first attempt\n')
    await stage().end(first, { kind: 'failed', reason: 'once more' })
    stage().pass(minute)
    const second = await stage().leaseOne()
    // More than one row of the store holds, so that its end stands in several.
    for (let line = 0; line < 30; line++) await stage().store.appendOutput(second, `${'x'.repeat(700)} line ${line}\n`)
    for (let line = 0; line < 25; line++) await stage().store.appendOutput(second, `the end ${line}\n`)
    await stage().end(second, broken)
    const [failure] = await told(stage())
    const lines = failure?.notice.output?.split('\n') ?? []
    expect(lines).toEqual(Array.from({ length: 20 }, (_, index) => `the end ${index + 5}`))
    await stage().fireAt(startAt + 2 * hour)
    const good = await stage().leaseOne()
    await stage().store.appendOutput(good, 'all is well\n')
    await stage().end(good)
    const [recovery] = await told(stage())
    expect(recovery?.notice).toMatchObject({ event: 'recover', output: null })
  })

  it('is not made of an attempt that another follows, nor of what ended well, was skipped or cancelled', async () => {
    await stage().store.do(setNotify, { onFailure: http('n'), onPark: http('n'), onRecover: http('n') }, { actor })
    await stage().put({})
    await stage().fireAt(startAt + hour)
    await stage().end(await stage().leaseOne(), { kind: 'failed', reason: 'once more' })
    stage().pass(minute)
    await stage().end(await stage().leaseOne())
    await stage().fireAt(startAt + 2 * hour)
    const cancelled = await stage().leaseOne()
    await stage().end(cancelled, { kind: 'cancelled' })
    await stage().fireAt(startAt + 3 * hour)
    await stage().end(await stage().leaseOne(), { kind: 'skipped', reason: 'not today' })
    expect(await words(stage())).toEqual([])
  })

  it('goes to the nearest who wants to know, and to nobody else', async () => {
    const { store } = stage()
    await store.do(setNotify, { onFailure: http('namespace'), onPark: http('namespace') }, { actor })
    await store.do(setQueue, 'default', { policy: { onFailure: http('queue') }, actor })
    await stage().put({ onFailure: http('schedule') })
    await stage().put({ name: 'other' })
    await stage().fireAt(startAt + hour)
    for (const lease of await stage().lease()) await stage().fail(lease)
    await work(stage(), 'fail')
    await work(stage(), 'park')
    await work(stage(), 'fail', 'elsewhere')
    expect((await words(stage())).toSorted()).toEqual([
      'failure of other to queue',
      'failure of queue default to queue',
      'failure of queue elsewhere to namespace',
      'failure of report to schedule',
      'park of queue default to namespace',
    ])
  })

  it('is made once in five minutes of one subject and event, and tells how many were held back', async () => {
    await stage().store.do(setQueue, 'default', { policy: { onFailure: http('q') }, actor })
    for (let count = 0; count < 4; count++) await work(stage(), 'fail')
    await work(stage(), 'park')
    expect(await words(stage())).toEqual(['failure of queue default to q'])
    stage().pass(5 * minute - 1)
    await work(stage(), 'fail')
    expect(await words(stage())).toEqual([])
    stage().pass(1)
    await work(stage(), 'fail')
    expect((await told(stage())).map(({ notice }) => notice.suppressed)).toEqual([4])
  })

  it('counts what fails in one step like what fails in several', async () => {
    await stage().store.do(setQueue, 'default', { policy: { onFailure: http('q') }, actor })
    for (let count = 0; count < 5; count++) await enqueue(stage(), 'default', 'fail')
    const ends = (await stage().lease()).map(({ runId, fence }) => ({ runId, fence, outcome: broken }))
    expect(ends).toHaveLength(5)
    await stage().store.settle(ends)
    expect(await words(stage())).toEqual(['failure of queue default to q'])
    expect((await stage().store.look(listNotices, { limit: 10 })).told).toEqual([
      { event: 'failure', schedule: null, queue: 'default', about: null, at: startAt, suppressed: 4, isOpen: false },
    ])
  })

  it('of a recovery comes with the first success, and the next failure is told at once', async () => {
    await stage().put({ onFailure: http('f'), onRecover: http('r') })
    for (const hours of [1, 2, 3]) await stage().runAt(startAt + hours * hour, broken)
    expect(await words(stage())).toEqual(['failure of report to f', 'failure of report to f', 'failure of report to f'])
    const id = await stage().runAt(startAt + 4 * hour)
    const [recovery, ...others] = await told(stage())
    expect(others).toEqual([])
    expect(recovery?.notice).toMatchObject({ event: 'recover', run: id, failuresInARow: 3, reason: 'completed' })
    await stage().runAt(startAt + 5 * hour)
    expect(await words(stage())).toEqual([])
    await stage().runAt(startAt + 6 * hour, broken)
    expect(await words(stage())).toEqual(['failure of report to f'])
  })

  it('tells of a failure and a recovery that are written in one step as if each had been written by itself', async () => {
    const notify = { onFailure: http('f'), onRecover: http('r') }
    await stage().put({ overlap: 'allow', maxLatenessMs: 10 * hour, ...notify })
    for (const hours of [1, 2, 3]) await stage().fireAt(startAt + hours * hour)
    const [first, second, third] = (await stage().lease()).map(({ runId, fence }) => ({ runId, fence }))
    if (first === undefined || second === undefined || third === undefined) throw new Error('fewer could go')
    await stage().store.settle([
      { ...first, outcome: broken },
      { ...second, outcome: broken },
      { ...third, outcome: { kind: 'success' } },
    ])
    const said = (await told(stage())).map(({ notice }) => [notice.event, notice.run, notice.failuresInARow])
    expect(said).toEqual([
      ['failure', first.runId, 1],
      ['recover', third.runId, 2],
    ])
    expect((await stage().store.look(listNotices, { limit: 10 })).told.map(({ isOpen }) => isOpen)).toEqual([
      false,
      false,
    ])
  })

  it('of a failure right after a recovery is not held back by the one before it', async () => {
    await stage().put({ timing: { everyMs: 10_000 }, onFailure: http('f'), onRecover: http('r') })
    const next = async () => (await stage().view()).nextRunAt ?? 0
    await stage().runAt(await next(), broken)
    await stage().runAt(await next(), broken)
    await stage().runAt(await next())
    await stage().runAt(await next(), broken)
    const notices = (await told(stage())).map(({ notice }) => `${notice.event} ${notice.suppressed}`)
    expect(notices).toEqual(['failure 0', 'recover 1', 'failure 0'])
    await stage().runAt(await next())
    expect(await words(stage())).toEqual([])
  })

  it('of a recovery that came too soon after another is made when that is a while ago', async () => {
    await stage().put({ timing: { everyMs: 10_000 }, onFailure: http('f'), onRecover: http('r') })
    const next = async () => (await stage().view()).nextRunAt ?? 0
    for (const outcome of [broken, undefined, broken, undefined]) await stage().runAt(await next(), outcome)
    expect(await words(stage())).toEqual(['failure of report to f', 'recover of report to r', 'failure of report to f'])
    await stage().store.do(noticeOverdue, { limit: 100 })
    expect(await words(stage())).toEqual([])
    stage().pass(4 * minute + 50_000)
    await stage().store.do(noticeOverdue, { limit: 100 })
    const [late] = await told(stage())
    expect(late?.notice).toMatchObject({ event: 'recover', suppressed: 1 })
    await stage().store.do(noticeOverdue, { limit: 100 })
    expect(await words(stage())).toEqual([])
  })

  it('does not go on for ever where a schedule has had its last occurrence', async () => {
    const { store } = stage()
    const notify = { onFailure: http('f'), onRecover: http('r') }
    await stage().put({ name: 'once', timing: { at: startAt + hour }, ...notify })
    await stage().put({ timing: { everyMs: hour }, maxRuns: 2, ...notify })
    await stage().fireAt(startAt + hour)
    for (const lease of await stage().lease()) await stage().fail(lease)
    expect(await words(stage())).toHaveLength(2)
    await store.do(noticeOverdue, { limit: 100 })
    const open = (await store.look(listNotices, { limit: 10 })).told.map(({ schedule, isOpen }) => [schedule, isOpen])
    expect(Object.fromEntries(open)).toEqual({ once: false, report: true })
    await stage().runAt((await stage().view()).nextRunAt ?? 0)
    expect(await words(stage())).toEqual(['recover of report to r'])
  })

  it('of a failure is not made of a run by hand, and no recovery follows from what was no failure of its schedule', async () => {
    await stage().put({ onFailure: http('f'), onRecover: http('r') })
    await stage().store.do(runNow, 'report')
    await stage().fail(await stage().leaseOne())
    expect(await words(stage())).toEqual([])
    stage().pass(minute)
    await stage().store.do(noticeOverdue, { limit: 100 })
    await stage().runAt(startAt + hour)
    expect(await words(stage())).toEqual([])
  })

  it('that fails or is parked is told to nobody, whatever its queue and namespace say', async () => {
    const { store } = stage()
    const everything = { onFailure: http('n'), onPark: http('n'), onRecover: http('n'), onOverdue: http('n') }
    await store.do(setNotify, everything, { actor })
    await store.do(setQueue, 'notices', { policy: { ...everything, onExhausted: 'park', rateLimit: null }, actor })
    await work(stage(), 'fail')
    const [first] = await told(stage(), 'failed')
    const ended = await store.look(findRun, first?.runId ?? '')
    expect(ended).toMatchObject({ status: 'failed', source: 'notice' })
    expect(await words(stage())).toEqual([])
    // One that a person tries again is still a notice, and so is one that its worker parks.
    const again = await store.do(retryRun, first?.runId ?? '')
    expect(again).toMatchObject({ answer: 'created' })
    const can = { kinds: ['http'] }
    const workerId = await store.do(registerWorker, { name: 'teller', host: 'h', can, beatMs: minute })
    const { leases } = await store.lease({ queue: 'notices', workerId, claimId: 'c', can, limit: 10 })
    expect(leases).toMatchObject([{ source: 'notice' }])
    const outcome = { kind: 'parked', reason: 'ask somebody' } as const
    await store.settle(leases.map(({ runId, fence }) => ({ runId, fence, outcome })))
    expect(await store.look(listRuns, { queue: 'notices', status: 'parked', limit: 10 })).toMatchObject({ runs: [{}] })
    stage().pass(hour)
    await store.do(noticeOverdue, { limit: 100 })
    expect(await words(stage())).toEqual([])
    expect((await store.look(listRuns, { queue: 'notices', limit: 100 })).runs).toHaveLength(2)
  })

  it('is made of a run that its worker took along, and of one that cannot be read', async () => {
    const { store } = stage()
    await store.do(setNotify, { onPark: http('p') }, { actor })
    const [answer] = await store.enqueue([{ target: { handler: 'work' }, repeatable: false }])
    const lease = await stage().leaseOne()
    stage().pass(10 * hour)
    await store.reclaim({ limit: 10 })
    expect(await store.look(findRun, answer?.id ?? '')).toMatchObject({ status: 'parked' })
    const [first] = await told(stage())
    expect(first?.notice).toMatchObject({ event: 'park', run: lease.runId, reason: 'effect-unknown' })
    stage().pass(hour)
    const id = await enqueue(stage())
    await stage().sql(`update belfry.run set payload = '{' where payload is null and source = 'enqueued'`)
    expect(await stage().lease()).toEqual([])
    const [second] = await told(stage())
    expect(second?.notice).toMatchObject({ event: 'park', run: id })
  })

  it('is not made where the end is not written', async () => {
    await stage().put({ onFailure: http('f') })
    await stage().fireAt(startAt + hour)
    const { runId, fence } = await stage().leaseOne()
    expect(await stage().store.settle([{ runId, fence: fence + 1, outcome: broken }])).toMatchObject([
      { answer: 'lease-lost' },
    ])
    expect(await words(stage())).toEqual([])
    await stage().store.settle([{ runId, fence, outcome: broken }])
    expect(await stage().store.settle([{ runId, fence, outcome: broken }])).toMatchObject([
      { answer: 'already-written' },
    ])
    expect(await words(stage())).toEqual(['failure of report to f'])
  })

  it('wants no more than it says: what cannot be read is wanted by nobody, and no run fails for it', async () => {
    await stage().store.do(setNotify, { onFailure: http('n') }, { actor })
    await stage().sql(`update belfry.namespace set notify = '{"onFailure":'`)
    expect(await work(stage(), 'fail')).not.toBe('')
    expect(await words(stage())).toEqual([])
    expect(await stage().store.look(findNotify)).toEqual({})
  })

  it('is kept in mind for a month, and one that goes on for longer', async () => {
    const { store } = stage()
    await stage().put({ onFailure: http('f') })
    await stage().runAt(startAt + hour, broken)
    await store.do(setQueue, 'default', { policy: { onFailure: http('q') }, actor })
    await work(stage(), 'fail')
    expect((await store.look(listNotices, { limit: 10 })).told).toHaveLength(2)
    stage().pass(31 * 24 * hour)
    for (let from: string | null | undefined; from !== null; ) {
      from = (await store.prune({ limit: 1_000, ...(from !== undefined && { from }) })).next
    }
    expect((await store.look(listNotices, { limit: 10 })).told).toMatchObject([{ schedule: 'report', isOpen: true }])
  })
})

onEachStore('what was told', (stage) => {
  it('is listed a page at a time, the newest first, also where all of it was told at one instant', async () => {
    const { store } = stage()
    await store.do(setNotify, { onFailure: http('n'), onPark: http('n') }, { actor })
    for (const queue of ['default', 'a', 'b'])
      for (const end of ['fail', 'park'] as const) await work(stage(), end, queue)
    stage().pass(minute)
    await work(stage(), 'park', 'c')
    const { told: all, next: none } = await store.look(listNotices, { limit: 100 })
    expect([all.length, none, all[0]?.queue]).toEqual([7, null, 'c'])
    const pages: unknown[] = []
    for (let before: string | null | undefined; before !== null; ) {
      const { told: page, next } = await store.look(listNotices, { limit: 2, ...(before !== undefined && { before }) })
      pages.push(...page)
      before = next
    }
    expect(pages).toEqual(all)
    for (const before of ['', 'x', '1.queue.1', '1.other.1.park', '1.queue.1.told', '99999999999999999.queue.1.park']) {
      await expect(store.look(listNotices, { limit: 2, before })).rejects.toThrow(/the `next` of the page before/)
    }
  })
})

onEachStore('where notices go', (stage) => {
  it('is said of a namespace field by field, by somebody, and taken away by null', async () => {
    const { store } = stage()
    expect(await store.look(findNotify)).toEqual({})
    expect(await store.do(setNotify, { onFailure: http('f'), onPark: http('p') }, { actor })).toEqual({
      answer: 'updated',
      notify: { onFailure: http('f'), onPark: http('p') },
    })
    expect(await store.do(setNotify, { onPark: null }, { actor })).toMatchObject({ notify: { onFailure: http('f') } })
    expect(await store.do(setNotify, { onFailure: http('f'), onPark: null }, { actor })).toMatchObject({
      answer: 'unchanged',
    })
    expect(await store.look(findNotify)).toEqual({ onFailure: http('f') })
    expect(await store.look(listAudit, 'namespace default')).toMatchObject([
      { verb: 'store.notify', actor: 'tester', detail: { onPark: null } },
      { verb: 'store.notify', detail: { onFailure: http('f') } },
    ])
  })

  it('is said of a queue by its policy, whose version grows with it', async () => {
    const { store } = stage()
    const made = await store.do(setQueue, 'mail', { policy: { onFailure: http('f') }, actor })
    expect(made).toMatchObject({ answer: 'created', queue: { policyVersion: 1, policy: { onFailure: http('f') } } })
    const changed = await store.do(setQueue, 'mail', { policy: { onPark: http('p'), onFailure: null }, actor })
    expect(changed).toMatchObject({ answer: 'updated', queue: { policyVersion: 2, policy: { onPark: http('p') } } })
    expect(await store.do(setQueue, 'mail', { policy: { onPark: http('p') }, actor })).toMatchObject({
      answer: 'unchanged',
    })
    await store.do(setQueue, 'mail', { policy: { maxConcurrent: 7 }, actor })
    expect(await store.look(findQueue, 'mail')).toMatchObject({ policyVersion: 3, policy: { onPark: http('p') } })
    await store.do(setQueue, 'mail', { policy: { onPark: null }, actor })
    expect((await store.look(findQueue, 'mail'))?.policy).not.toHaveProperty('onPark')
    const details = (await store.look(listAudit, 'queue mail')).map(({ detail }) => detail)
    expect(details).toContainEqual({ policy: { onPark: http('p'), onFailure: null } })
  })

  it('makes their queue with a rate of its own, which people may change', async () => {
    const { store } = stage()
    await stage().put({ onFailure: { command: ['page'] } })
    const first = await store.look(findQueue, 'notices')
    expect(first?.policy).toMatchObject({ maxConcurrent: 5, rateLimit: { startsMax: 60, perMs: minute } })
    await store.do(setQueue, 'notices', { policy: { rateLimit: null, maxConcurrent: 1 }, actor })
    await stage().runAt(startAt + hour, broken)
    expect(await told(stage())).toMatchObject([{ target: { command: ['page'] } }])
    expect((await store.look(findQueue, 'notices'))?.policy).not.toHaveProperty('rateLimit')
  })

  it.each([
    ['a handler', { onFailure: { handler: 'h' } }],
    ['a text', { onFailure: 'https://example.org' }],
    ['what cannot be told', { onSuccess: http('s') }],
    ['what is too large', { onFailure: { http: { body: 'x'.repeat(300_000) } } }],
  ])('is refused whole where it is %s', async (_, notify) => {
    const bad = notify as never
    await expect(stage().store.do(setNotify, bad, { actor })).rejects.toMatchObject({ code: 'invalid' })
    expect(await stage().store.look(findNotify)).toEqual({})
  })
})
