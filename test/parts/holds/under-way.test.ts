import { expect, it, onTestFinished } from 'vitest'
import { openStore } from '../../../src/open-store.ts'
import { leaseInStep } from '../../../src/store/leases/lease.ts'
import { run } from '../../../src/store/statement.ts'
import type { StoreContext } from '../../../src/store/store-context.ts'
import { registerWorker } from '../../../src/store/workers/register-worker.ts'
import { openGate } from '../../gate.ts'
import { lendSchema, returnSchema } from '../../lent-schema.ts'
import { Desk, verbsAt } from '../../operations/desk.ts'
import { postgresUrl } from '../../postgres.ts'

// SQLite has one writer at a time: no lease is under way when a hold is written.
it.each(['stop', 'put'] as const)(
  'hold %s answers after the leases that were under way when the hold was written, and every later lease sees it (PostgreSQL)',
  async (verb) => {
    const place = { url: postgresUrl(), schema: lendSchema() }
    const desk = await Desk.open(place)
    const other = await openStore(place.url, { schema: place.schema, clock: desk.clock })
    const gate = await openGate()
    onTestFinished(async () => {
      await gate.open()
      await Promise.all([desk.store.close(), other.close()])
      await returnSchema(place.schema)
    })
    const { holds, runs } = verbsAt(() => desk.context)
    await runs.enqueueMany([{ target: { handler: 'a' } }, { target: { handler: 'a' } }])
    const can = { kinds: ['handler'] }
    const workerId = await other.do(registerWorker, { name: 'w', host: 'h', can, beatMs: 60_000 })
    const request = { queue: 'default', workerId, claimId: 'under way', can, limit: 1 }
    const leasing = other.do(function* slowly(context: StoreContext) {
      const answer = yield* leaseInStep(context, request)
      yield* run(gate.waitsAt)
      return answer
    })
    let leaser: number | undefined
    while (leaser === undefined) leaser = await gate.waiterOf(gate.pid)

    let isAnswered = false
    const holding = (verb === 'stop' ? holds.stop({}) : holds.put({ on: 'kind:handler', reason: 'why' })).finally(
      () => {
        isAnswered = true
      },
    )
    while (!isAnswered && (await gate.waiterOf(leaser)) === undefined);
    expect(isAnswered, 'it was answered while a lease was under way that has not seen the hold').toBe(false)
    await gate.open()
    expect((await leasing).leases).toHaveLength(1)
    expect(await holding).toMatchObject(verb === 'stop' ? { atWork: 1 } : { inForce: true })
    expect(await desk.lease()).toEqual([])
  },
)
