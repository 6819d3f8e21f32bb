import { monitorEventLoopDelay } from 'node:perf_hooks'
import { type OpenOptions, openStore } from '../../store/open.ts'
import type { Store } from '../../store/port.ts'
import { claimAll } from './claim-all.ts'
import { type ChildTask, noop, worker } from './place.ts'

/** A process of its own for the cases that need real ones. It is told what to do by its one argument. */
const given = JSON.parse(process.argv[2] ?? '{}') as ChildTask & { url: string; options: OpenOptions }

process.send?.(await perform())
process.disconnect()

async function perform(): Promise<unknown> {
  const store = await openStore(given.url, given.options)
  process.send?.('ready')
  switch (given.task) {
    case 'migrate':
      await store.close()
      return 'migrated'
    case 'claim': {
      const workerId = await store.registerWorker(worker)
      const { claimers, batchMax, seed } = given
      const claims = await claimAll({
        stores: [store],
        claimers,
        batchMax,
        seed,
        workerId,
        prefix: String(process.pid),
      })
      await store.close()
      return claims
    }
    case 'write':
      return writeFor(store, given.forMs)
    case 'lease-and-hold': {
      const workerId = await store.registerWorker(worker)
      const { limit, leaseMs } = given
      const claimId = `held-${process.pid}`
      const { leases } = await store.lease({ queue: 'default', workerId, claimId, can: worker.can, limit, leaseMs })
      process.send?.(leases)
      // It is killed while it holds them.
      return new Promise(() => setInterval(() => undefined, 1_000))
    }
  }
}

/** Writes without a pause and says how long the loop was ever blocked. */
async function writeFor(store: Store, forMs: number): Promise<unknown> {
  const workerId = await store.registerWorker(worker)
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const endsAt = performance.now() + forMs
  let steps = 0
  for (; performance.now() < endsAt; steps++) {
    await store.enqueue(Array.from({ length: 20 }, () => noop()))
    const claimId = `write-${process.pid}-${steps}`
    const { leases } = await store.lease({
      queue: 'default',
      workerId,
      claimId,
      can: worker.can,
      limit: 20,
      leaseMs: 30_000,
    })
    await store.settle(leases.map(({ runId, fence }) => ({ runId, fence, outcome: { kind: 'success' } })))
    await new Promise((resolve) => setImmediate(resolve))
  }
  delay.disable()
  await store.close()
  return { steps, p99Ms: delay.percentile(99) / 1e6, maxMs: delay.max / 1e6 }
}
