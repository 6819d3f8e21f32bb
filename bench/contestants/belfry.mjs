import { Belfry } from '../../dist/index.js'
import { ceiling, payload, taskName } from '../work.mjs'

/** Belfry through its public library, as a program would use it. */
export async function open(place) {
  const belfry = await Belfry.open({ store: place.store, log: false })
  await belfry.queues.set('default', { maxConcurrent: ceiling })
  const input = { target: { handler: taskName }, payload }
  return {
    async fill(count) {
      for (let left = count; left > 0; left -= 1_000) {
        await belfry.runs.enqueueMany(Array.from({ length: Math.min(left, 1_000) }, () => input))
      }
    },
    addOne: () => belfry.runs.enqueue(input),
    async start({ began, ended }) {
      belfry.handle(taskName, () => began())
      belfry.on('run.completed', () => ended(1))
      await belfry.start()
    },
    /** Stops working without letting go of the store, and goes on. */
    rest: () => belfry.stop(),
    again: () => belfry.start(),
    settled: () => undefined,
    close: () => belfry.close(),
  }
}
