import { setTimeout as sleep } from 'node:timers/promises'
import { placeBudget, settledSoFar } from '../budget-use.ts'
import { always, comeToRest, type Fault } from '../fault.ts'
import type { World } from '../world.ts'

const lookEveryMs = 100
/** So many may be missing before another is started. */
const missingMax = 2
const queue = 'work'
/** Its workers put nothing in themselves. */
const clientMs = 3_600_000

/** Many workers reserve of one budget; one is killed, and another started, each time so many more attempts were settled. */
export function oneBudget({ workers, perKill }: { readonly workers: number; readonly perKill: number }): Fault {
  return {
    id: 'F31',
    title: 'one budget among many workers, kill -9',
    on: ['sqlite', 'postgres'],
    timesPerRound: 40,
    hasSchedules: false,
    async arrange(world) {
      world.choice = { clientMs }
      await placeBudget(world.store, queue)
      await world.startMany(workers)
    },
    async inject(world, times) {
      for (let kills = 1; kills <= times; kills++) {
        await putIn(world, perKill)
        await settled(world, kills * perKill)
        const worker = world.pick()
        if (worker === undefined) return kills - 1
        await world.kill(worker)
        if (world.workers.size < workers - missingMax) await world.start()
      }
      return times
    },
    settle: comeToRest,
    expect: always,
  }
}

/** A few more than are waited for, so that some are at work when a worker is killed. */
async function putIn({ store }: World, count: number): Promise<void> {
  const target = { handler: 'work' }
  const runs = Array.from({ length: count + 10 }, (_, index) => ({
    queue,
    target,
    payload: { ms: index % 20, tokens: 0 },
  }))
  await store.enqueue(runs)
}

async function settled(world: World, count: number): Promise<void> {
  while ((await world.patiently(() => settledSoFar(world.store))) < count) await sleep(lookEveryMs)
}
