import { setTimeout as sleep } from 'node:timers/promises'
import { reservationsSoFar } from '../account-use.ts'
import { always, comeToRest, type Fault } from '../fault.ts'
import { accountName } from '../workload.ts'
import type { World } from '../world.ts'

const lookEveryMs = 100
/** So many may be missing before another is started. */
const missingMax = 2
const target = { handler: 'work' }
/** Its workers put nothing in themselves: their store would fill faster than one account empties it. */
const clientMs = 3_600_000

/** Many workers race for the few slots of one account; one is killed, and another started, each time so many more have reserved one. */
export function oneAccount({ workers, perKill }: { readonly workers: number; readonly perKill: number }): Fault {
  return {
    id: 'F30',
    title: 'one account among many workers, kill -9',
    on: ['sqlite', 'postgres'],
    timesPerRound: 40,
    hasSchedules: false,
    async arrange(world) {
      world.choice = { clientMs }
      await world.startMany(workers)
    },
    async inject(world, times) {
      for (let kills = 1; kills <= times; kills++) {
        await putIn(world, perKill)
        await reservations(world, kills * perKill)
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
  const account = { options: { account: [accountName] } }
  const runs = Array.from({ length: count + 10 }, (_, index) => {
    return { ...account, queue: index % 2 === 0 ? 'work' : 'keyed', target, payload: { ms: index % 3 } }
  })
  await store.enqueue(runs)
}

async function reservations(world: World, count: number): Promise<void> {
  while ((await world.patiently(() => reservationsSoFar(world.store))) < count) await sleep(lookEveryMs)
}
