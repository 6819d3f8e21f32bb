import { it } from 'vitest'
import { oneAccount } from './kinds/account.ts'
import { oneBudget } from './kinds/budget.ts'
import { storm } from './kinds/storm.ts'
import { manyTasks } from './kinds/tasks.ts'
import { openPlace } from './place.ts'
import { Random } from './random.mjs'
import { playRound } from './round.ts'

/** The short form of `npm run faults`. */
const kills = 15

const seed = Number(process.env.BELFRY_FAULTS_SEED ?? Date.now() % 1_000_000)

/** Only a test that has failed already, or a machine that is very busy with others, takes as long as this. */
const timeout = 300_000

// How long anything took says more about the machine than about the engine, so nobody is late here.
const epsilonMs = Number.POSITIVE_INFINITY

it.concurrent.for(['sqlite', 'postgres'] as const)(
  `workers that are killed, paused and told to stop lose, double and pass nothing on %s (seed ${seed})`,
  { timeout },
  async (kind, { expect }) => {
    const place = await openPlace(kind)
    try {
      const round = await playRound(storm, { place, random: new Random(seed), times: kills, epsilonMs })
      if (typeof round === 'string') throw new Error(round)
      expect(round.breaches).toEqual([])
      expect(round.injected).toBe(kills)
      expect(round.acks).toBeGreaterThanOrEqual(kills)
      // Whoever was paused past its lease was told so: the fence had something to refuse.
      expect(round.refusals).toBeGreaterThan(0)
    } finally {
      await place.close()
    }
  },
)

it.concurrent.for(['sqlite', 'postgres'] as const)(
  `workers that race for one account, a third of them killed, never pass its ceiling and leave nothing reserved on %s (seed ${seed})`,
  { timeout },
  async (kind, { expect }) => {
    const place = await openPlace(kind)
    try {
      const race = oneAccount({ workers: 8, perKill: 60 })
      const round = await playRound(race, { place, random: new Random(seed), times: 3, epsilonMs })
      if (typeof round === 'string') throw new Error(round)
      expect(round.breaches).toEqual([])
      expect(round.injected).toBe(3)
      expect(round.effects).toBeGreaterThan(150)
    } finally {
      await place.close()
    }
  },
)

it.concurrent.for(['sqlite', 'postgres'] as const)(
  `workers that race for one budget, a third of them killed, never pass it and leave nothing reserved on %s (seed ${seed})`,
  { timeout },
  async (kind, { expect }) => {
    const place = await openPlace(kind)
    try {
      const race = oneBudget({ workers: 8, perKill: 60 })
      const round = await playRound(race, { place, random: new Random(seed), times: 3, epsilonMs })
      if (typeof round === 'string') throw new Error(round)
      expect(round.breaches).toEqual([])
      expect(round.injected).toBe(3)
      expect(round.effects).toBeGreaterThan(150)
    } finally {
      await place.close()
    }
  },
)

it.concurrent.for(['sqlite', 'postgres'] as const)(
  `the 50 tasks of a project have one end for each occurrence, while their workers are killed on %s (seed ${seed})`,
  { timeout },
  async (kind, { expect }) => {
    const place = await openPlace(kind)
    try {
      const round = await playRound(manyTasks, { place, random: new Random(seed), times: 6, epsilonMs })
      if (typeof round === 'string') throw new Error(round)
      expect(round.breaches).toEqual([])
      expect(round.injected).toBe(6)
      expect(round.effects).toBeGreaterThan(50)
    } finally {
      await place.close()
    }
  },
)
