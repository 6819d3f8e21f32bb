import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { listWorkers } from '../../../src/store/reads/list-workers.ts'
import { registerWorker } from '../../../src/store/workers/register-worker.ts'
import { lendSchema, returnSchema } from '../../lent-schema.ts'
import { postgresUrl } from '../../postgres.ts'
import { Desk, verbsAt } from '../desk.ts'

describe.each(['SQLite', 'PostgreSQL'])(
  'doctor and explain agree on which runs no worker can execute (%s)',
  (database) => {
    let desk: Desk
    let leave: () => Promise<void>
    const verbs = verbsAt(() => desk.context)

    beforeEach(async () => {
      const schema = database === 'PostgreSQL' ? lendSchema() : undefined
      desk = await Desk.open(schema === undefined ? {} : { url: postgresUrl(), schema })
      leave = async () => {
        await desk.store.close()
        if (schema !== undefined) await returnSchema(schema)
      }
    })
    afterEach(() => leave())

    const told = async () =>
      (await verbs.store.doctor({})).checks.find(({ check }) => check === 'no-worker')?.findings ?? []

    it('a run whose backoff is over is counted, and one that still waits is not', async () => {
      const { id } = await verbs.runs.enqueue({ target: { handler: 'report' } })
      for (const { runId, fence } of await desk.lease()) {
        await desk.store.settle([{ runId, fence, outcome: { kind: 'failed', reason: 'broken', retryable: true } }])
      }
      // Of the workers that are left none has the handler.
      await desk.store.beat(
        (await desk.store.look(listWorkers)).map((worker) => worker.id),
        { stopped: true },
      )
      await desk.store.do(registerWorker, { name: 'w', host: 'h', can: { kinds: ['http'] }, beatMs: 600_000 })
      expect((await verbs.runs.explain(id)).code).toBe('backoff')
      expect(await told()).toEqual([])
      desk.clock.advance(60_000)
      expect((await verbs.runs.explain(id)).code).toBe('no-worker')
      expect(await told()).toMatchObject([
        { state: 'wrong', subject: 'report', says: expect.stringContaining('1 run is ready') },
      ])
      await verbs.runs.enqueue({ target: { handler: 'report' } })
      expect(await told()).toMatchObject([{ subject: 'report', says: expect.stringContaining('2 runs are ready') }])
    })

    it.each([
      ['everything', 'namespace'],
      ['its queue', 'queue:mail'],
      ['its kind', 'kind:handler'],
      ['its kind and name', 'kind:handler/report'],
      ['its key', 'key:k'],
    ])('a run under a hold on %s waits for the end of the hold, and not for a worker', async (_, on) => {
      await desk.store.do(registerWorker, { name: 'w', host: 'h', can: { kinds: ['http'] }, beatMs: 600_000 })
      const waits = { target: { handler: 'report' }, queue: 'mail', concurrencyKey: 'k' }
      const ids = [
        await verbs.runs.enqueue(waits),
        await verbs.runs.enqueue({ ...waits, notBefore: new Date(desk.clock.now() + 1_000) }),
      ]
      desk.clock.advance(1_000)
      expect(await told()).toMatchObject([{ subject: 'report', says: expect.stringContaining('2 runs are ready') }])
      const hold = await verbs.holds.put({ on, reason: 'moved' })
      for (const { id } of ids) expect((await verbs.runs.explain(id)).code).toBe('held-by')
      expect(await told()).toEqual([])
      await verbs.holds.lift(hold.id)
      expect(await told()).toMatchObject([{ says: expect.stringContaining('2 runs are ready') }])
      await verbs.queues.pause('mail', { reason: 'moved' })
      expect(await told()).toEqual([])
    })
  },
)
