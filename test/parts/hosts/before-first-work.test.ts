import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lendSchema, returnSchema } from '../../lent-schema.ts'
import { Desk, errorOf, startAt, verbsAt } from '../../operations/desk.ts'
import { postgresUrl } from '../../postgres.ts'

describe.each(['sqlite', 'postgres'] as const)('a host that starts before the first work, on %s', (database) => {
  let desk: Desk
  let schema = ''
  const { sched, queues, runs } = verbsAt(() => desk.context)

  beforeEach(async () => {
    schema = database === 'postgres' ? lendSchema() : ''
    desk = await Desk.open(database === 'postgres' ? { url: postgresUrl(), schema } : {})
  })
  afterEach(async () => {
    await desk.store.close()
    if (database === 'postgres') await returnSchema(schema)
  })

  it.each([
    ['default', 5],
    ['mail', 1],
  ])('is given an empty plan of queue %s with its defaults, instead of "not found"', async (queue, maxConcurrent) => {
    const room = { maxConcurrent, inFlight: 0, available: maxConcurrent }
    const nothing = { leases: [], skipped: [], skippedByReason: [], reclaimable: [], wakeAt: null, isWhole: true }
    const now = startAt + 1_000
    expect(await sched.plan({ queue, now: new Date(now) })).toEqual({
      now,
      queue,
      exists: false,
      ...room,
      ...nothing,
    })
    expect(await queues.list()).toEqual([])
  })

  it('is handed out nothing, is told that there is no queue yet, and gets the first work when it comes', async () => {
    for (const queue of ['default', 'mail']) {
      expect(await sched.lease('builder', { queue })).toMatchObject({
        queue,
        leases: [],
        stopped: 'no-queue',
        more: false,
      })
    }
    expect(await queues.list()).toEqual([])
    const { id } = await runs.enqueue({ target: null, queue: 'mail' })
    const { leases, stopped } = await sched.lease('builder', { queue: 'mail' })
    expect(leases.map(({ runId }) => runId)).toEqual([id])
    expect(stopped).toBeNull()
    expect((await sched.plan({ queue: 'mail' })).exists).toBe(true)
  })

  it('is shown queue default with the defaults that it will be created with, and no other queue', async () => {
    const { policy, ...shown } = await queues.get('default')
    expect(shown).toEqual({ name: 'default', policyVersion: 0, paused: null, inFlight: 0, createdAt: null })
    await runs.enqueue({ target: null })
    const made = await queues.get('default')
    expect(made).toMatchObject({ policy, policyVersion: 1 })
    expect(made.createdAt).toBeGreaterThanOrEqual(startAt)
    expect((await errorOf(queues.get('mail'))).code).toBe('not-found')
  })

  it('is told that queue default is empty, in the form that its figures have later, and of no other queue', async () => {
    const before = await queues.stats('default')
    expect(before).toMatchObject({ inFlight: 0, inLine: { count: 0 }, oldestInLineAt: null, parkedByReason: [] })
    expect(await queues.list()).toEqual([])
    await queues.set('default', {})
    expect({ ...(await queues.stats('default')), now: before.now }).toEqual(before)
    expect((await errorOf(queues.stats('mail'))).code).toBe('not-found')
  })
})
