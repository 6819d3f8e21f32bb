import Database from 'better-sqlite3'
import { better, defineQueue, defineWorker } from 'plainjob'
import { payload, taskName } from '../work.mjs'

const quiet = { error: console.error, warn: console.warn, info: () => undefined, debug: () => undefined }

/** plainjob as its README shows it; it sets `synchronous = NORMAL` itself, so FULL is set after it for equal durability. */
export async function open(place) {
  const database = new Database(place.file)
  const queue = defineQueue({ connection: better(database), logger: quiet })
  database.pragma('synchronous = FULL')
  let worker
  let working
  return {
    async fill(count) {
      for (let left = count; left > 0; left -= 1_000) {
        queue.addMany(
          taskName,
          Array.from({ length: Math.min(left, 1_000) }, () => payload),
        )
      }
    },
    addOne: () => queue.add(taskName, payload),
    async start({ began, ended }) {
      worker = defineWorker(taskName, began, { queue, logger: quiet, onCompleted: () => ended(1) })
      working = worker.start()
    },
    settled: () => undefined,
    async close() {
      await worker?.stop()
      await working
      queue.close()
    },
  }
}
