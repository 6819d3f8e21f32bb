import { expect, it } from 'vitest'
import { formatDuration } from '../../../src/core/duration.ts'
import { defaultPolicy } from '../../../src/core/queue/policy.ts'
import { fieldsOf, helpOf } from '../../../src/doors/cli/parse/command-fields.ts'
import { queueOperations } from '../../../src/operations/queue/noun.ts'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { workAhead } from '../../../src/store/reads/find-queue.ts'
import { repair } from '../../../src/store/schedules/repair.ts'
import { actor } from '../../store/schedule-stage.ts'
import { errorOf } from '../desk.ts'
import { onEachTold } from '../explain/stage.ts'

const target = { handler: 'report' }

onEachTold('a queue that a schedule names', (told) => {
  it('says its ceiling in the answer where it is new, and only there', async () => {
    const { schedules } = told().verbs
    const created = await schedules.create('a', { every: '1h', target, queue: 'mail' })
    expect(created.queueCreated).toEqual({ name: 'mail', maxConcurrent: 1 })
    expect((await schedules.create('b', { every: '1h', target, queue: 'mail' })).queueCreated).toBeUndefined()
    const moved = await schedules.update('b', { queue: 'post' })
    expect(moved.queueCreated).toEqual({ name: 'post', maxConcurrent: 1 })
    expect((await schedules.create('c', { every: '1h', target })).queueCreated).toBeUndefined()
  })
})

it('the help of `queue set` tells every default that a new queue has', () => {
  const told = new Map(fieldsOf(queueOperations.set).map((field) => [field.name, helpOf(field)]))
  const { maxConcurrent, maxAttempts, leaseTtlMs, backoffBaseMs, backoffFactor, backoffCapMs } = defaultPolicy
  expect(told.get('maxConcurrent')).toContain(`Default: 1, and ${maxConcurrent} for the queue \`default\`.`)
  expect(told.get('maxAttempts')).toContain(`Default: ${maxAttempts}.`)
  expect(told.get('leaseTtl')).toContain(`Default: ${formatDuration(leaseTtlMs)}.`)
  expect(told.get('backoffBase')).toContain(`Default: ${formatDuration(backoffBaseMs)}.`)
  expect(told.get('backoffFactor')).toContain(`Default: ${backoffFactor}.`)
  expect(told.get('backoffCap')).toContain(`Default: ${formatDuration(backoffCapMs)}.`)
  for (const name of ['maxConcurrentPerKey', 'backoffSpread', 'rateLimit', 'onExhausted']) {
    expect(told.get(name), name).toMatch(/without it|when absent/i)
  }
  expect(told.get('retention')).toContain('Default: 7d completed, 30d failed, 90d history, 1000000 ended runs')
})

onEachTold('queue delete', (told) => {
  const queues = () => told().verbs.queues
  const listed = async () => (await queues().list()).map(({ name }) => name)
  const refusal = async (name: string) => {
    const { code, message, details } = await errorOf(queues().delete(name))
    return { code, message, details }
  }

  it('of an empty queue frees its name at once, and whoever names it again finds a new one', async () => {
    const { verbs } = told()
    await queues().set('mail', { maxConcurrent: 7 })
    await queues().pause('mail')
    expect(await queues().delete('mail')).toEqual({ name: 'mail', deleted: true })
    expect(await listed()).toEqual([])
    expect((await errorOf(queues().get('mail'))).code).toBe('not-found')
    expect((await errorOf(queues().delete('mail'))).code).toBe('not-found')
    expect(await verbs.runs.enqueue({ queue: 'mail', target })).toMatchObject({
      queueCreated: { name: 'mail', maxConcurrent: 1 },
    })
    expect(await queues().get('mail')).toMatchObject({ policy: { maxConcurrent: 1 }, paused: null, policyVersion: 2 })
    expect((await queues().versions('mail')).map(({ version }) => version)).toEqual([2, 1])
  })

  it('of a queue that is set again makes it with the defaults, and not with what it had', async () => {
    await queues().set('mail', { maxConcurrent: 7, maxAttempts: 9 })
    await queues().delete('mail')
    expect(await queues().set('mail', { maxConcurrent: 2, ifVersion: 0 })).toMatchObject({
      answer: 'created',
      queue: { policy: { maxConcurrent: 2, maxAttempts: 3 } },
    })
  })

  it('leaves ended runs as they were, and a retry of one makes the queue again', async () => {
    const { verbs, stage } = told()
    const { id } = await verbs.runs.enqueue({ queue: 'mail', target })
    for (const lease of await stage.lease(1, 'mail')) await stage.end(lease)
    await queues().delete('mail')
    expect(await verbs.runs.get(id)).toMatchObject({ queue: 'mail', status: 'completed' })
    expect((await verbs.runs.list({ queue: 'mail', status: 'completed' })).runs).toHaveLength(1)
    await verbs.runs.retry(id)
    expect(await listed()).toEqual(['mail'])
    expect(await stage.lease(1, 'mail')).toHaveLength(1)
  })

  it('is refused with every reason: live runs, parked runs, schedules and routines that name it', async () => {
    const { verbs, stage } = told()
    await verbs.runs.enqueue({ queue: 'mail', target })
    const [lease] = await stage.lease(1, 'mail')
    if (lease !== undefined) await stage.fail(lease)
    await verbs.runs.enqueue({ queue: 'mail', target })
    await verbs.runs.enqueue({ queue: 'mail', target, notBefore: '2099-01-01T00:00Z' })
    await verbs.schedules.create('report', { every: '1h', target, queue: 'mail' })
    await verbs.routines.create('push', { run: { queue: 'mail', target } })
    const { code, message } = await refusal('mail')
    expect(code).toBe('conflict')
    expect(message).toBe(
      'Queue "mail" is in use: 2 runs in it have not ended; 1 run in it is parked; schedule "report" names it; routine "push" names it.',
    )
    expect(await listed()).toContain('mail')
  })

  it('is refused for the queues that Belfry itself uses', async () => {
    await queues().set('default', { maxConcurrent: 2 })
    for (const name of ['default', 'notices']) expect((await refusal(name)).code).toBe('conflict')
    expect(await queues().get('default')).toMatchObject({ policy: { maxConcurrent: 2 } })
  })

  it('is refused where a file looks after the queue', async () => {
    await told().verbs.config.apply({ source: 'ops', queues: { mail: {} } })
    expect((await refusal('mail')).message).toContain('The config file of source ops manages queue mail')
  })

  it('loses no run that arrives in the same moment: it is leased, and repair shows its queue again', async () => {
    const { stage } = told()
    await told().enqueue({ queue: 'mail' })
    await stage.sql("update belfry.queue set deleted_at = 1 where name = 'mail'")
    expect((await stage.store.look(workAhead)).queues).toEqual(['mail'])
    expect(await stage.store.do(repair, { limit: 10 })).toMatchObject([{ what: 'queue', subject: 'mail' }])
    expect(await listed()).toEqual(['mail'])
    expect(await stage.lease(1, 'mail')).toHaveLength(1)
    expect(await stage.store.do(repair, { limit: 10 })).toEqual([])
  })

  it('leaves a row behind only until retention has removed the last run that names it', async () => {
    const { stage } = told()
    const policy = { retention: { completedMs: 0, failedMs: 0, ledgerMs: 0 } }
    await stage.store.do(setQueue, 'mail', { policy, actor })
    await told().enqueue({ queue: 'mail' })
    for (const lease of await stage.lease(1, 'mail')) await stage.end(lease)
    await queues().delete('mail')
    await stage.store.prune({ limit: 1_000 })
    expect(await stage.sql("select id from belfry.queue where name = 'mail'")).toHaveLength(1)
    stage.pass(2 * 86_400_000)
    await stage.store.prune({ limit: 1_000 })
    await stage.store.prune({ limit: 1_000 })
    expect(await stage.sql("select id from belfry.queue where name = 'mail'")).toEqual([])
    expect(await stage.sql('select version from belfry.queue_version')).toEqual([])
  })
})
