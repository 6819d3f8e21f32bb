import { describe, expect, it } from 'vitest'
import { scheduleOperations } from '../../../src/operations/schedule/noun.ts'
import { atDesk, errorOf, problemsIn, startAt, verbsAt } from '../../operations/desk.ts'

const desk = atDesk()
const { schedules, queues, runs, store } = verbsAt(() => desk().context)
const url = 'https://example.org/hook'
const broken = { kind: 'failed', reason: 'it broke', retryable: false } as const

async function failAll(queue = 'default'): Promise<void> {
  for (const { runId, fence, scheduleId } of await desk().lease(queue)) {
    await desk().store.settle([{ runId, fence, scheduleId, outcome: broken }])
  }
}

describe('notify test', () => {
  const withFormat = (format: string) => ({ http: { url, format } }) as never

  it('sends a notification to each receiver that is configured, and none is remembered', async () => {
    await store.notify({ onFailure: { http: { url } }, onPark: withFormat('slack') })
    const { sent } = await store.notifyTest()
    expect(sent.map(({ event }) => event)).toEqual(['failure', 'park'])
    const leases = await desk().lease('notices')
    expect(leases.map(({ runId }) => runId)).toEqual(sent.map(({ run }) => run))
    expect(leases[1]).toMatchObject({
      source: 'notice',
      target: { http: { url, format: 'slack' } },
      payload: { event: 'park', test: true, schedule: null, output: null, reason: expect.stringMatching(/test/) },
    })
    expect((await store.notices()).told).toEqual([])
  })

  it('takes the nearest receiver of a schedule or a queue, as a real notification does', async () => {
    await store.notify({ onFailure: { http: { url: `${url}/namespace` } } })
    await queues.set('mail', { onFailure: { http: { url: `${url}/queue` } } })
    await schedules.create('s', { every: '1h', queue: 'mail', target: { handler: 'h' }, onOverdue: { http: { url } } })
    await store.notifyTest({ schedule: 's' })
    await store.notifyTest({ queue: 'mail', event: 'failure' })
    await store.notifyTest({ event: 'failure' })
    const targets = (await desk().lease('notices')).map(({ target }) => (target as { http: { url: string } }).http.url)
    expect(targets).toEqual([`${url}/queue`, url, `${url}/queue`, `${url}/namespace`])
  })

  it('says what is missing where nothing can be sent', async () => {
    expect(await errorOf(store.notifyTest())).toMatchObject({
      code: 'not-found',
      message: expect.stringMatching(/No notifications are configured/),
    })
    expect(await errorOf(store.notifyTest({ schedule: 'nobody' }))).toMatchObject({ code: 'not-found' })
    expect(await errorOf(store.notifyTest({ queue: 'nobody' }))).toMatchObject({ code: 'not-found' })
    await store.notify({ onFailure: { http: { url } } })
    expect(await errorOf(store.notifyTest({ event: 'park' }))).toMatchObject({
      message: expect.stringMatching(/No receiver is configured for park/),
    })
    expect(await problemsIn(store.notifyTest({ schedule: 'a', queue: 'b' }))).toMatchObject([{ field: 'queue' }])
  })

  it('says how to test the receivers of a schedule or a queue, where the namespace has none', async () => {
    const hintOf = async (test: { event?: 'failure' | 'park' } = {}) => (await errorOf(store.notifyTest(test))).hint
    expect(await hintOf()).toMatch(/is tested with: belfry notify test --schedule NAME$/)
    await queues.set('mail', { onPark: { http: { url } } })
    expect(await hintOf()).toMatch(/queue "mail" has its own: belfry notify test --queue mail$/)
    await schedules.create('my job', { every: '1h', target: { handler: 'h' }, onFailure: { http: { url } } })
    expect(await hintOf()).toMatch(/schedule "my job" has its own: belfry notify test --schedule 'my job'$/)
    expect(await hintOf({ event: 'park' })).toMatch(/--queue mail$/)
    expect((await store.notifyTest({ schedule: 'my job' })).sent).toHaveLength(1)
    // Whoever names one is told of that one only.
    expect((await errorOf(store.notifyTest({ schedule: 'my job', event: 'overdue' }))).hint).not.toContain(
      'notify test',
    )
  })

  it('does not answer for a queue that was deleted, as no real notification comes of it', async () => {
    await store.notify({ onFailure: { http: { url } } })
    await queues.set('mail', { onFailure: { http: { url } } })
    await queues.delete('mail')
    expect(await errorOf(store.notifyTest({ queue: 'mail' }))).toMatchObject({ code: 'not-found' })
    expect(await desk().lease('notices')).toEqual([])
  })

  it('a format that no receiver has, or beside a body, is refused; and one outside of notifications', async () => {
    expect(await problemsIn(store.notify({ onFailure: withFormat('telegram') }))).toMatchObject([
      { field: 'onFailure.http.format', expected: 'one of json, text, slack, teams, discord, ntfy' },
    ])
    const both = { http: { url, format: 'slack', body: 'x', method: 'GET' } } as never
    expect(await problemsIn(store.notify({ onFailure: both }))).toHaveLength(2)
    expect(await problemsIn(runs.enqueue({ target: withFormat('slack') }))).toMatchObject([
      { field: 'target.http.format', problem: 'is not known' },
    ])
  })
})

describe('who is told', () => {
  it('is said of a schedule, a queue and the namespace in the same words, paths resolved and requests with a method', async () => {
    const given = {
      onFailure: { http: { url, headers: { authorization: { secret: 'HOOK' } } } },
      onPark: { http: { url, method: 'GET' } },
      onRecover: { command: ['./bin/well', '--loud'] as [string, string], cwd: 'here' },
      onOverdue: { command: 'page overdue' },
    }
    const stored = {
      onFailure: { http: { url, headers: { authorization: { secret: 'HOOK' } }, method: 'POST' } },
      onPark: { http: { url, method: 'GET' } },
      onRecover: { command: ['/srv/app/here/bin/well', '--loud'], cwd: '/srv/app/here' },
      onOverdue: { command: 'page overdue' },
    }
    const { schedule } = await schedules.create('s', { every: '1h', target: { handler: 'h' }, ...given })
    expect(schedule).toMatchObject(stored)
    expect(schedule).not.toHaveProperty('notify')
    expect((await queues.set('mail', given)).queue.policy).toMatchObject(stored)
    expect(await store.notify(given)).toEqual({ answer: 'updated', notify: stored })
    expect(await store.notices()).toEqual({ notify: stored, told: [], next: null })
  })

  it('is changed field by field, told as what changed, and taken away by null', async () => {
    await schedules.create('s', { every: '1h', target: { handler: 'h' }, onFailure: { http: { url } } })
    const added = await schedules.update('s', { onPark: { command: ['page'] } })
    expect(added.changed).toEqual(['onPark'])
    expect(added.schedule).toMatchObject({ onFailure: { http: { url } }, onPark: { command: ['page'] } })
    const removed = await schedules.update('s', { onFailure: null })
    expect(removed).toMatchObject({ changed: ['onFailure'], was: { onFailure: { http: { url } } } })
    expect(removed.schedule).not.toHaveProperty('onFailure')
    expect(removed.schedule.onPark).toEqual({ command: ['page'] })
    expect((await schedules.put('s', { every: '1h', target: { handler: 'h' } })).changed).toEqual(['onPark'])
  })

  it('stands in the words of a schedule', async () => {
    const told = { onFailure: { http: { url } }, onOverdue: { command: ['page', 'me'] as [string, string] } }
    const { inWords } = await schedules.create('s', { every: '1h', target: { handler: 'h' }, ...told })
    expect(inWords).toContain(`On a failure POST ${url}, when overdue runs page me.`)
  })

  it.each([
    [{ handler: 'h' }, 'onFailure', /code of one program/],
    [null, 'onFailure', /is null/],
    ['https://example.org', 'onFailure', /is "https:/],
    [{}, 'onFailure', /is empty/],
    [{ htp: {} }, 'onFailure.htp', /is not a kind of target/],
    [{ http: {} }, 'onFailure.http.url', /./],
    [{ command: [] }, 'onFailure.command', /empty list/],
    [{ prompt: {} }, 'onFailure.prompt', /not a kind of target/],
    [{ http: { url }, command: ['x'] }, 'onFailure', /has command and http/],
    [{ http: { url, body: 'x'.repeat(300_000) } }, 'onFailure', /has \d+ bytes as JSON/],
  ])('%j is refused, with the field that is wrong', async (onFailure, field, problem) => {
    const bad = { onFailure: onFailure as never }
    const found = await problemsIn(schedules.create('s', { every: '1h', target: { handler: 'h' }, ...bad }))
    expect(found).toMatchObject([{ field, problem: expect.stringMatching(problem) }])
    for (const { expected } of found) expect(expected).not.toContain('handler')
    if (onFailure === null) return
    expect(await problemsIn(queues.set('mail', bad))).toMatchObject([{ field }])
    expect(await problemsIn(store.notify(bad))).toMatchObject([{ field }])
  })

  it('may not start programs by the hand of somebody who may only operate', async () => {
    await schedules.create('s', { every: '1h', target: { handler: 'h' }, onRecover: { command: ['page'] } })
    const operator = { ...desk().context, scope: 'operate' } as const
    const { update, put } = scheduleOperations
    expect((await errorOf(update.call(operator, { name: 's', priority: 3 }))).code).toBe('not-allowed')
    expect((await errorOf(put.call(operator, { name: 's', every: '2h' }))).code).toBe('not-allowed')
  })
})

describe('what was told', () => {
  it('is listed with what was held back, and a notice says itself of what it tells', async () => {
    await store.notify({ onFailure: { http: { url } }, onPark: { http: { url } } })
    await schedules.create('nightly', { every: '1h', startNow: true, target: { handler: 'h' } })
    await desk().store.fireDue({ limit: 10 })
    await failAll()
    for (let count = 0; count < 3; count++) {
      await runs.enqueue({ target: { handler: 'h' } })
      await failAll()
    }
    const { told } = await store.notices({ limit: 10 })
    expect(told.toSorted((a, b) => (a.event < b.event ? -1 : 1))).toEqual([
      { event: 'failure', schedule: 'nightly', queue: null, about: null, at: startAt, suppressed: 0, isOpen: true },
      { event: 'park', schedule: null, queue: 'default', about: null, at: startAt, suppressed: 2, isOpen: false },
    ])
    const { runs: notices } = await runs.list({ queue: 'notices', status: 'ready' })
    expect(notices.map(({ source }) => source)).toEqual(['notice', 'notice'])
    const sentences = await Promise.all(notices.map(async ({ id }) => (await runs.explain(id)).planned.sentence))
    expect(sentences[0]).toMatch(/^It notifies a receiver of a failure of schedule nightly \(run r-\w+\)\.$/)
    expect(sentences[1]).toMatch(/^It notifies a receiver of a parked run in queue default \(run r-\w+\)\.$/)
  })

  it('goes through a queue whose ceiling is told to whoever makes it by hand', async () => {
    const made = await runs.enqueue({ queue: 'notices', target: { handler: 'h' } })
    expect(made).toMatchObject({ queueCreated: { name: 'notices', maxConcurrent: 5 } })
    expect((await queues.get('notices')).policy?.maxConcurrent).toBe(5)
  })
})
