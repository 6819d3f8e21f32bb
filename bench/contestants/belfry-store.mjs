import { openStore } from '../../dist/open-store.js'
import { setQueue } from '../../dist/store/queues/set-queue.js'
import { registerWorker } from '../../dist/store/workers/register-worker.js'
import { ceiling, payload, taskName } from '../work.mjs'

export const actor = { name: 'bench', door: 'bench' }
export const can = { kinds: [], handlers: [taskName] }
const leaseMs = 30_000

/** The few calls of Belfry's store that its engine makes on the way of a run. */
export async function openPort(place, queue = 'default') {
  const store = await openStore(place.store)
  await store.do(setQueue, queue, { policy: { maxConcurrent: ceiling }, actor })
  const workerId = await store.do(registerWorker, { name: 'bench', host: 'bench', can, beatMs: 60_000 })
  let claims = 0
  return {
    store,
    enqueue: (count, more = {}) =>
      store.enqueue(Array.from({ length: count }, () => ({ queue, target: { handler: taskName }, payload, ...more }))),
    async lease(limit, from = queue) {
      const claimId = `${process.pid}-${++claims}`
      return (await store.lease({ queue: from, workerId, claimId, can, limit, leaseMs })).leases
    },
    settle: (leases) =>
      store.settle(leases.map(({ runId, fence }) => ({ runId, fence, outcome: { kind: 'success' } }))),
    close: () => store.close(),
  }
}

/** Belfry's store in a bare loop, without its engine: what is left to the engine is the difference to the whole. */
export async function open(place, setting) {
  const port = await openPort(place)
  let working = Promise.resolve()
  const loop = async ({ began, ended }) => {
    for (;;) {
      const leases = await port.lease(setting.batch)
      if (leases.length === 0) return
      for (const lease of leases) began(lease)
      await port.settle(leases)
      ended(leases.length)
    }
  }
  return {
    async fill(count) {
      for (let left = count; left > 0; left -= 1_000) await port.enqueue(Math.min(left, 1_000))
    },
    async start(heard) {
      working = Promise.all(Array.from({ length: setting.connections }, () => loop(heard)))
    },
    settled: () => undefined,
    async close() {
      await working
      await port.close()
    },
  }
}
