import { setTimeout as sleep } from 'node:timers/promises'
import type { NewRun, Store } from '../../src/store/port.ts'
import { always, comeToRest, type Fault } from './fault.ts'
import type { World } from './world.ts'

const lookEveryMs = 100
/** So many may be missing before another is started. */
const missingMax = 2
/** Its workers put nothing in themselves: their store would fill faster than what they race for lets it empty. */
const clientMs = 3_600_000
/** Few, so that many workers race without most of their leases being refused for want of room. */
const slots = 2

export interface RaceSize {
  readonly workers: number
  readonly perKill: number
}

/** What many workers race for. */
interface Prize extends Pick<Fault, 'id' | 'title'> {
  /** Makes it, where the workload has none. */
  place?(store: Store): Promise<void>
  run(index: number): NewRun
  /** How many had a share of it so far. */
  soFar(store: Store): Promise<number>
}

/** Many workers race for one thing; one is killed, and another started, each time so many more had a share of it. */
export function raceFor({ id, title, place, run, soFar }: Prize, { workers, perKill }: RaceSize): Fault {
  const reached = async (world: World, count: number) => {
    while ((await world.patiently(() => soFar(world.store))) < count) await sleep(lookEveryMs)
  }
  return {
    id,
    title,
    on: ['sqlite', 'postgres'],
    timesPerRound: 40,
    hasSchedules: false,
    async arrange(world) {
      world.choice = { clientMs, slots }
      await place?.(world.store)
      await world.startMany(workers)
    },
    async inject(world, times) {
      for (let kills = 1; kills <= times; kills++) {
        // A few more than are waited for, so that some are at work when a worker is killed.
        await world.store.enqueue(Array.from({ length: perKill + 10 }, (_, index) => run(index)))
        await reached(world, kills * perKill)
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
