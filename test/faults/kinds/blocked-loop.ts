import { setTimeout as sleep } from 'node:timers/promises'
import { always, comeToRest, type Fault } from '../fault.ts'
import { readWitness } from '../witness.ts'

/** A handler that computes for longer than its lease and lets nobody else in its process have a turn. */
export const blockedLoop: Fault = {
  id: 'F23',
  title: 'event loop blocked past the lease',
  on: ['sqlite', 'postgres'],
  timesPerRound: 20,
  async arrange(world) {
    world.choice = { busyShare: 0.04 }
    await world.startMany(5)
  },
  async inject(world, times) {
    // Whoever is blocked loses what else it holds, and says so when it has come to itself.
    for (;;) {
      await sleep(200)
      const lost = new Set(readWitness(world.witness).refusals.map(({ pid, at }) => `${pid} ${Math.round(at / 1_000)}`))
      if (lost.size >= times) return lost.size
    }
  },
  settle: comeToRest,
  expect: always,
}
