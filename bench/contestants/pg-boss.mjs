import PgBoss from 'pg-boss'
import { batch, payload, taskName } from '../work.mjs'

/**
 * pg-boss. Its `work` asks every half second at most, whatever is waiting, so throughput is measured with the `fetch` and
 * `complete` that it offers for loops of one's own, in batches; latency with `work`, as it is used.
 */
export async function open(place, setting) {
  const boss = new PgBoss({ connectionString: place.url, schedule: false })
  boss.on('error', (error) => console.error(error))
  await boss.start()
  await boss.createQueue(taskName)
  let isClosing = false
  const loop = async ({ began, ended }) => {
    while (!isClosing) {
      const jobs = await boss.fetch(taskName, { batchSize: batch })
      if (!jobs || jobs.length === 0) return
      for (const job of jobs) began(job)
      const ids = jobs.map(({ id }) => id)
      await boss.complete(taskName, ids)
      ended(ids.length)
    }
  }
  return {
    async fill(count) {
      for (let left = count; left > 0; left -= 1_000) {
        await boss.insert(Array.from({ length: Math.min(left, 1_000) }, () => ({ name: taskName, data: payload })))
      }
    },
    addOne: () => boss.send(taskName, payload),
    async start(heard) {
      if (setting.loops === undefined) {
        const work = async ([job]) => {
          await heard.began(job)
          // It completes the job when this has returned, and tells nobody; what comes after does not count.
          setTimeout(() => heard.ended(1), 20)
        }
        await boss.work(taskName, { pollingIntervalSeconds: 0.5, batchSize: 1 }, work)
      } else {
        for (let one = 0; one < setting.loops; one++) void loop(heard)
      }
    },
    settled: () => undefined,
    async close() {
      isClosing = true
      await boss.stop({ graceful: false, wait: true })
    },
  }
}
