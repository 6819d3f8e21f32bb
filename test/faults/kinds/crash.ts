import { setTimeout as sleep } from 'node:timers/promises'
import { always, comeToRest, type Fault } from '../fault.ts'
import type { World } from '../world.ts'

const awayMsMax = 1_500

/** Works for a while, crashes, stays away for a while, and comes back. */
export async function crashOnce(world: World, awayMs: number): Promise<void> {
  const { cluster } = world.place
  if (cluster === null) throw new Error('There is no server to be stopped.')
  await sleep(world.random.between(500, 2_500))
  // Asked afterwards, it would tell of those who have taken them back already.
  const held = await world.heldBy(null)
  await cluster.stopAtOnce()
  await sleep(world.random.between(0, awayMs))
  await cluster.startAgain()
  world.interruptions.push({ kind: 'outage', at: Date.now(), workerId: null, held })
}

/** The server goes down without taking leave of anybody, stays away for a while, and recovers from its log. */
export const crash: Fault = {
  id: 'F7',
  title: 'PostgreSQL stopped at once',
  on: ['postgres'],
  recovery: 'outage',
  timesPerRound: 10,
  arrange: (world) => world.startMany(4),
  async inject(world, times) {
    for (let done = 0; done < times; done++) await crashOnce(world, awayMsMax)
    return times
  },
  settle: comeToRest,
  expect: always,
}
