import { setTimeout as sleep } from 'node:timers/promises'
import { always, comeToRest, type Fault } from '../fault.ts'
import type { World } from '../world.ts'

const workers = 5
const afterAckMsMax = 25
/** Half of them die right after their first acknowledged write; the others live for a while, to die in other places. */
const acksMax = 20

/** A worker after another is killed in each of several places, so that some are always at work. */
async function killMany(world: World, times: number): Promise<number> {
  let left = times
  const oneAfterAnother = async () => {
    while (left > 0) {
      left--
      const armAtAck = world.random.next() < 0.5 ? 1 : world.random.whole(2, acksMax)
      const afterMs = world.random.between(0, afterAckMsMax)
      const worker = await world.start({ armAtAck })
      await worker.armed
      await sleep(afterMs)
      await world.kill(worker)
    }
  }
  await Promise.all(Array.from({ length: workers - 1 }, oneAfterAnother))
  return times
}

const parts = {
  on: ['sqlite', 'postgres'],
  recovery: 'kill',
  timesPerRound: 200,
  inject: killMany,
  async settle(world) {
    await world.startMany(2)
    await comeToRest(world)
  },
  expect: always,
} as const satisfies Partial<Fault>

export const kill: Fault = {
  ...parts,
  id: 'F1',
  title: 'kill -9, deaths provable',
  arrange: (world) => world.startMany(1),
}

/** Deaths cannot be seen from another machine, so that every lease has to expire. */
export const killElsewhere: Fault = {
  ...parts,
  id: 'F1r',
  title: 'kill -9, as on other machines',
  async arrange(world) {
    world.choice = { isBlind: true }
    await world.startMany(1)
  },
}
