import { Queue, Worker } from 'bullmq'
import { payload, taskName } from '../work.mjs'

/** BullMQ on a Redis with an append-only file; completed jobs are kept, which is its default. */
export async function open(place, setting) {
  const connection = { host: '127.0.0.1', port: place.port, maxRetriesPerRequest: null }
  const queue = new Queue(taskName, { connection })
  await queue.waitUntilReady()
  let worker
  return {
    async fill(count) {
      for (let left = count; left > 0; left -= 1_000) {
        const jobs = Array.from({ length: Math.min(left, 1_000) }, () => ({ name: taskName, data: payload }))
        await queue.addBulk(jobs)
      }
    },
    addOne: () => queue.add(taskName, payload),
    async start({ began, ended }) {
      worker = new Worker(taskName, async () => began(), { connection, concurrency: setting.concurrency })
      worker.on('completed', () => ended(1))
      worker.on('error', (error) => console.error(error))
      await worker.waitUntilReady()
    },
    settled: () => undefined,
    async close() {
      await worker?.close(true)
      await queue.close()
    },
  }
}
