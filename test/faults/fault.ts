import {
  accountKept,
  budgetKept,
  type Check,
  ceilingKept,
  effectsOnce,
  noTrouble,
  nothingLost,
  nothingStale,
  nothingStolen,
  recordedOnce,
} from './check.ts'
import type { Interruption } from './history.ts'
import type { DatabaseKind, House, Place } from './place.ts'
import type { World } from './world.ts'

/** One way in which things go wrong, always in the same parts. */
export interface Fault {
  readonly id: string
  readonly title: string
  readonly on: readonly DatabaseKind[]
  /** What recovery is counted from; a fault that takes nothing from anybody has none. */
  readonly recovery?: Interruption['kind']
  /** How often it is injected on one store before all is read and checked; long histories only slow the next start. */
  readonly timesPerRound: number
  /** Where the store has to be, if not in the usual place; a text says why that cannot be had here. */
  house?(place: Place): Promise<House | string>
  /** Whether schedules fire meanwhile; they do if nothing is said. */
  readonly hasSchedules?: false
  /** How late a start may be, where the fault itself makes all work late; if nothing is said, as late as in all other faults. */
  readonly epsilonMs?: number
  /** Starts the workers. */
  arrange(world: World): Promise<void>
  /** Does it that often, and answers how often it really was done. */
  inject(world: World, times: number): Promise<number>
  /** Comes to rest: whatever was done has been undone, and all that was begun has ended. */
  settle(world: World): Promise<void>
  /** What must hold, beside that every target is matched. */
  readonly expect: readonly Check[]
}

export const always: readonly Check[] = [
  nothingLost,
  recordedOnce,
  nothingStale,
  nothingStolen,
  effectsOnce,
  ceilingKept,
  accountKept,
  budgetKept,
  noTrouble,
]

/** What most faults do when they are over. */
export async function comeToRest(world: World): Promise<void> {
  await world.quiet()
  await world.stopWorkers()
}
