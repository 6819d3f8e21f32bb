import { setTimeout as sleep } from 'node:timers/promises'
import { always, comeToRest, type Fault } from '../fault.ts'

/** Nothing goes wrong: what the figures of the others are to be compared with. */
export const calm: Fault = {
  id: 'F0',
  title: 'nothing at all',
  on: ['sqlite', 'postgres'],
  timesPerRound: 20,
  arrange: (world) => world.startMany(5),
  async inject(_world, times) {
    await sleep(times * 500)
    return times
  },
  settle: comeToRest,
  expect: always,
}
