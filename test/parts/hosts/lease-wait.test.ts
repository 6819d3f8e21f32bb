import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { LeaseWaits } from '../../../src/operations/lease/lease-waits.ts'
import type { OperationContext } from '../../../src/operations/operation-context.ts'
import { clockNow } from '../../../src/store/statement.ts'
import { lendSchema, returnSchema } from '../../lent-schema.ts'
import { Desk, errorOf, problemsIn, verbsAt } from '../../operations/desk.ts'
import { postgresUrl } from '../../postgres.ts'

/** Lets time pass by the desk's clock until something has come to its end, no faster than a server answers. */
async function settled<Answer>(desk: Desk, waiting: Promise<Answer>, stepMs = 100): Promise<Answer> {
  let isDone = false
  const note = () => {
    isDone = true
  }
  waiting.then(note, note)
  while (!isDone) {
    await new Promise((resolve) => setTimeout(resolve, 2))
    desk.clock.advance(stepMs)
  }
  return waiting
}

/**
 * Begins to wait, and comes back when every host has been answered for the first time: until then a host is served as it
 * asks, and who has waited longest is open.
 */
async function inLine<Waiting>(desk: Desk, begin: () => Waiting[]): Promise<Waiting[]> {
  const leases = desk.context.waits.beside(LeaseWaits)
  const wait = leases.wait.bind(leases)
  let answers = 0
  const counting = vi.spyOn(leases, 'wait').mockImplementation((wanted, { ask, ...rest }) => {
    return wait(wanted, { ...rest, ask: () => ask().finally(() => answers++) })
  })
  const waiting = begin()
  await expect.poll(() => answers).toBeGreaterThanOrEqual(waiting.length)
  counting.mockRestore()
  await rest(desk)
  return waiting
}

/** Lets what was answered be heard. */
async function rest(desk: Desk): Promise<void> {
  for (let answers = 0; answers < 20; answers++) await desk.store.look(clockNow)
}

describe.each(['sqlite', 'postgres'] as const)('sched lease --wait on %s', (database) => {
  let desk: Desk
  let schema = ''
  const { sched, runs, queues } = verbsAt(() => desk.context)

  beforeEach(async () => {
    schema = database === 'postgres' ? lendSchema() : ''
    desk = await Desk.open(database === 'postgres' ? { url: postgresUrl(), schema } : {})
  })
  afterEach(async () => {
    desk.context.waits.close()
    await desk.store.close()
    if (database === 'postgres') await returnSchema(schema)
  })

  it('is answered as soon as work comes, also into a queue that did not exist, and long before its time', async () => {
    const [waiting] = await inLine(desk, () => [sched.lease('builder', { queue: 'mail', wait: '50s' })])
    const { id } = await runs.enqueue({ target: null, queue: 'mail' })
    const startedAt = desk.clock.monotonic()
    const { leases } = await settled(desk, waiting as NonNullable<typeof waiting>)
    expect(leases.map(({ runId }) => runId)).toEqual([id])
    expect(desk.clock.monotonic() - startedAt).toBeLessThan(50_000)
  })

  it('is answered with nothing when its time is over, and leaves no host behind', async () => {
    expect(await settled(desk, sched.lease('builder', { wait: '50s' }), 10_000)).toMatchObject({ leases: [] })
    await runs.enqueue({ target: null })
    await rest(desk)
    desk.clock.advance(10_000)
    await rest(desk)
    expect((await sched.plan()).leases).toHaveLength(1)
  })

  it('is handed out a retry when its backoff ends, and a lease of another host when it expires', async () => {
    await queues.set('default', { maxConcurrent: 2, maxAttempts: 5, leaseTtl: '10s', backoffBase: '5s' })
    await runs.enqueueMany([{ target: null }, { target: null }])
    const [first, second] = (await sched.lease('a', { limit: 2 })).leases
    await sched.release({ lease: first?.lease ?? '', failed: true, reason: 'HTTP 503' })
    const retry = await settled(desk, sched.lease('b', { wait: '50s' }))
    expect(retry.leases.map(({ runId, attempts }) => [runId, attempts])).toEqual([[first?.runId, 1]])
    await sched.complete(retry.leases[0]?.lease ?? '')
    const expired = await settled(desk, sched.lease('b', { wait: '50s' }))
    expect(expired.leases.map(({ runId }) => runId)).toEqual([second?.runId])
    expect(expired.reclaimed.map(({ runId }) => runId)).toEqual([second?.runId])
  })

  it('hands out each run once, to the host that has waited longest, however many wait', async () => {
    await queues.set('default', { maxConcurrent: 5 })
    const waiting = await inLine(desk, () => ['a', 'b', 'c'].map((host) => sched.lease(host, { wait: '50s' })))
    const ids = (await runs.enqueueMany([{ target: null }, { target: null }])).map(({ id }) => id)
    const served = await settled(desk, Promise.all(waiting.slice(0, 2)))
    expect(served.map(({ leases }) => leases.map(({ runId }) => runId))).toEqual([[ids[0]], [ids[1]]])
    const { id } = await runs.enqueue({ target: null })
    expect((await settled(desk, waiting[2] as (typeof waiting)[0])).leases[0]?.runId).toBe(id)
  })

  it('ends with the reason of its signal, and what it was granted in that moment goes back', async () => {
    const gone = new AbortController()
    const reason = new Error('the client has gone')
    const waiting = sched.lease('builder', { wait: '50s', signal: gone.signal }).catch((error: unknown) => error)
    await rest(desk)
    gone.abort(reason)
    expect(await waiting).toBe(reason)
    const { id } = await runs.enqueue({ target: null })
    const leaving = new AbortController()
    const granted = sched.lease('builder', { wait: '50s', signal: leaving.signal }).catch((error: unknown) => error)
    leaving.abort(reason)
    expect(await granted).toBe(reason)
    expect(await runs.get(id)).toMatchObject({ status: 'ready', attempts: 0 })
  })

  it('ends as unavailable when Belfry closes', async () => {
    const waiting = errorOf(sched.lease('builder', { wait: '50s' }))
    await rest(desk)
    desk.context.waits.close()
    expect((await waiting).code).toBe('unavailable')
  })

  it('holds no database connection: more hosts wait than the store has connections, and others are answered', async () => {
    const waiting = await inLine(desk, () =>
      Array.from({ length: 50 }, (_, index) => sched.lease(`host ${index}`, { wait: '50s' })),
    )
    await queues.set('default', { maxConcurrent: 50 })
    await runs.enqueueMany(Array.from({ length: 50 }, () => ({ target: null })))
    const answers = await settled(desk, Promise.all(waiting))
    expect(new Set(answers.map(({ leases }) => leases[0]?.runId)).size).toBe(50)
  })
})

describe('a wait', () => {
  it('is refused above a minute, and beside its other form', async () => {
    const desk = await Desk.open()
    const { sched, runs } = verbsAt(() => desk.context)
    expect(await problemsIn(sched.lease('builder', { wait: '61s' }))).toMatchObject([
      { field: 'wait', expected: 'at most 1m' },
    ])
    expect(await problemsIn(runs.get('r-11', { waitMs: 60_001 }))).toMatchObject([{ field: 'waitMs' }])
    expect(await problemsIn(runs.get('r-11', { waitMs: 1, wait: '1s' }))).toMatchObject([{ field: 'wait' }])
    await desk.store.close()
  })

  it('is bounded in number: a caller that waits too often is refused, others and the library are not', async () => {
    const desk = await Desk.open()
    const as = (name: string, door: string): OperationContext => ({ ...desk.context, actor: { name, door } })
    const [ada, bob, library] = [as('ada', 'http'), as('bob', 'http'), as('program', 'library')]
    const leaseOf = (context: OperationContext) => verbsAt(() => context).sched.lease('h', { wait: '50s' })
    const held = Array.from({ length: 200 }, () => leaseOf(ada).catch((error: unknown) => error))
    const refused = await errorOf(leaseOf(ada))
    expect(refused).toMatchObject({ code: 'unavailable', details: { waitingOfCaller: 200, maxOfCaller: 200 } })
    const others = [leaseOf(bob), leaseOf(library)].map((waiting) => waiting.catch((error: unknown) => error))
    await rest(desk)
    desk.context.waits.close()
    await Promise.all([...held, ...others])
    // Every seat was given back.
    const again = leaseOf(ada).catch((error: unknown) => error)
    await rest(desk)
    desk.context.waits.close()
    expect(await again).toMatchObject({ message: expect.stringContaining('closed') })
    await desk.store.close()
  })
})
