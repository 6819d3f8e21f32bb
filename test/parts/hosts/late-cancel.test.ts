import { describe, expect, it, onTestFinished } from 'vitest'
import { lendSchema, returnSchema } from '../../lent-schema.ts'
import { Desk, verbsAt } from '../../operations/desk.ts'
import { postgresUrl } from '../../postgres.ts'

/** An outside host that holds the lease of a run for which a cancel was requested. */
async function cancelRequested(place: 'memory' | 'postgres') {
  const schema = place === 'postgres' ? lendSchema() : undefined
  const desk = await Desk.open(schema === undefined ? {} : { url: postgresUrl(), schema })
  onTestFinished(async () => {
    await desk.store.close()
    if (schema !== undefined) await returnSchema(schema)
  })
  const { sched, runs } = verbsAt(() => desk.context)
  const { id } = await runs.enqueue({ target: null, repeatable: false })
  const [held] = (await sched.lease('builder')).leases
  const lease = held?.lease ?? expect.unreachable('nothing was handed out')
  await runs.cancel(id, { reason: 'not needed' })
  return { desk, sched, runs, id, lease }
}

describe.each(['memory', 'postgres'] as const)('a host that completes after a cancel request (%s)', (place) => {
  it('has its success recorded, marked late-cancel, though every renewal told it of the request', async () => {
    const { desk, sched, runs, id, lease } = await cancelRequested(place)
    expect((await sched.renew(lease)).cancelRequestedAt).toBe(desk.clock.now())
    expect(await sched.complete(lease, { result: 1 })).toMatchObject({ status: 'completed', reason: 'late-cancel' })
    expect(await runs.get(id)).toMatchObject({ status: 'completed', end: { reason: 'late-cancel' } })
  })

  it('has its success recorded though its lease had expired, as long as nothing has reclaimed it', async () => {
    const { desk, sched, runs, id, lease } = await cancelRequested(place)
    desk.clock.advance(301_000)
    expect(await sched.complete(lease)).toMatchObject({ status: 'completed', reason: 'late-cancel' })
    expect(await runs.get(id)).toMatchObject({ status: 'completed', end: { reason: 'late-cancel' } })
  })
})
