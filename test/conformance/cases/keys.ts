import assert from 'node:assert/strict'
import type { Lease, Store } from '../../../src/store/port.ts'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { cancelRun } from '../../../src/store/runs/cancel-run.ts'
import { actor, type Case, enqueueMany, noop } from '../place.ts'

const blockedMax = 100_000

export const keys: Case[] = [
  {
    name: 'law 3: a full key lets no second run through, and 100,000 runs of it in front do not hide the run behind them',
    async run(stage) {
      const store = await stage.open()
      await stage.setPolicy(store, { maxConcurrent: 10, maxConcurrentPerKey: 1 })
      await enqueueMany(store, blockedMax, () => noop({ concurrencyKey: 'full' }))
      const [behind] = await enqueueMany(store, 1, () => noop())
      const { lease } = await stage.lessor(store)

      const first = await lease(5)
      assert.equal(first.length, 2)
      assert.ok(first.some(({ runId }) => runId === behind))
      assert.deepEqual(await lease(5), [])
      const [row] = await stage.sql('select count(*) as in_line from belfry.ready')
      assert.ok(Number(row?.in_line) <= 1, `${row?.in_line} runs of a full key stand in line`)
    },
  },
  {
    name: 'the end of a run lets the best-ranked run of its key through, in the same step',
    async run(stage) {
      const store = await stage.open()
      await stage.setPolicy(store, { maxConcurrent: 10, maxConcurrentPerKey: 1 })
      const { lease } = await stage.lessor(store)
      const runs = [50, 90, 10, 70].map((priority) => noop({ concurrencyKey: 'k', priority }))
      const ids = (await store.enqueue(runs)).map(({ id }) => id)
      const order: string[] = []
      for (let turn = 0; turn < ids.length; turn++) {
        const [leased, ...others] = await lease(10)
        assert.ok(leased !== undefined, 'nobody was let through')
        assert.deepEqual(others, [])
        order.push(leased.runId)
        await succeed(store, [leased])
      }
      assert.deepEqual(order, [ids[2], ids[0], ids[3], ids[1]])
    },
  },
  {
    name: 'a run of a key that nobody here can execute does not keep the next one of the key waiting',
    async run(stage) {
      const store = await stage.open()
      await stage.setPolicy(store, { maxConcurrent: 10, maxConcurrentPerKey: 1 })
      await store.enqueue([{ target: { handler: 'elsewhere' }, concurrencyKey: 'k', priority: 1 }])
      const [mine] = await store.enqueue([noop({ concurrencyKey: 'k', priority: 2 })])
      const { lease } = await stage.lessor(store, { can: { kinds: [], handlers: ['noop'] } })
      assert.deepEqual(
        (await lease(10)).map(({ runId }) => runId),
        [mine?.id],
      )
    },
  },
  {
    name: 'raising or removing the limit of keys lets the waiting runs through at once; lowering it revokes nothing',
    async run(stage) {
      const store = await stage.open()
      await stage.setPolicy(store, { maxConcurrent: 100, maxConcurrentPerKey: 1 })
      await enqueueMany(store, 20, (index) => noop({ concurrencyKey: `k${index % 2}` }))
      const { lease } = await stage.lessor(store)
      assert.equal((await lease(100)).length, 2)
      await store.do(setQueue, 'default', { policy: { maxConcurrentPerKey: 3 }, actor })
      assert.equal((await lease(100)).length, 4)
      await store.do(setQueue, 'default', { policy: { maxConcurrentPerKey: 1 }, actor })
      assert.deepEqual(await lease(100), [])
      const [row] = await stage.sql('select count(*) as in_flight from belfry.lease')
      assert.equal(Number(row?.in_flight), 6)
    },
  },
  {
    name: 'runs of a key that leave the line by cancel, pause or backoff make room for the next one of the key',
    async run(stage) {
      const store = await stage.open()
      await stage.setPolicy(store, { maxConcurrent: 10, maxConcurrentPerKey: 1, backoffBaseMs: 60_000 })
      const { lease } = await stage.lessor(store)
      const ids = (await store.enqueue([1, 2, 3].map(() => noop({ concurrencyKey: 'k' })))).map(({ id }) => id)
      await store.do(cancelRun, ids[0] as string, 'not wanted')
      const [second] = await lease(10)
      assert.equal(second?.runId, ids[1])
      await store.settle([{ ...(second as Lease), outcome: { kind: 'failed', reason: 'once' } }])
      const [third] = await lease(10)
      assert.equal(third?.runId, ids[2], 'a run in backoff kept its key')
    },
  },
]

async function succeed(store: Store, leases: readonly Lease[]): Promise<void> {
  await store.settle(leases.map(({ runId, fence }) => ({ runId, fence, outcome: { kind: 'success' } })))
}
