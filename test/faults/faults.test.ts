import { it } from 'vitest'
import type { Fault } from './fault.ts'
import { oneAccount } from './kinds/account.ts'
import { oneBudget } from './kinds/budget.ts'
import { storm } from './kinds/storm.ts'
import { manyTasks } from './kinds/tasks.ts'
import { openPlace } from './place.ts'
import { Random } from './random.mjs'
import { playRound, type RoundResult } from './round.ts'

/** The short form of `npm run faults`. */
const kills = 15

const seed = Number(process.env.BELFRY_FAULTS_SEED ?? Date.now() % 1_000_000)

/** Only a test that has failed already, or a machine that is very busy with others, takes as long as this. */
const timeout = 300_000

// How long anything took says more about the machine than about the engine, so nobody is late here.
const epsilonMs = Number.POSITIVE_INFINITY

const databases = ['sqlite', 'postgres'] as const

/** Plays a fault some times on a database of its own. */
async function played(fault: Fault, kind: (typeof databases)[number], times: number): Promise<RoundResult> {
  const place = await openPlace(kind)
  try {
    const round = await playRound(fault, { place, random: new Random(seed), times, epsilonMs })
    if (typeof round === 'string') throw new Error(round)
    return round
  } finally {
    await place.close()
  }
}

it.concurrent.for(databases)(
  `workers that are killed, paused and told to stop lose, double and pass nothing on %s (seed ${seed})`,
  { timeout },
  async (kind, { expect }) => {
    const round = await played(storm, kind, kills)
    expect(round.breaches).toEqual([])
    expect(round.injected).toBe(kills)
    expect(round.acks).toBeGreaterThanOrEqual(kills)
    // A worker that was paused past its lease was told so: the fence had something to refuse.
    expect(round.refusals).toBeGreaterThan(0)
  },
)

const size = { workers: 5, perKill: 60 }
const others = [
  {
    sentence:
      'workers that race for one account, a third of them killed, never pass its ceiling and leave nothing reserved',
    fault: oneAccount(size),
    times: 2,
    effects: 100,
  },
  {
    sentence: 'workers that race for one budget, a third of them killed, never pass it and leave nothing reserved',
    fault: oneBudget(size),
    times: 2,
    effects: 100,
  },
  {
    sentence: 'the 50 tasks of a project have one end for each occurrence, while their workers are killed',
    fault: manyTasks,
    times: 4,
    effects: 50,
  },
]

for (const { sentence, fault, times, effects } of others) {
  it.concurrent.for(databases)(`${sentence} on %s (seed ${seed})`, { timeout }, async (kind, { expect }) => {
    const round = await played(fault, kind, times)
    expect(round.breaches).toEqual([])
    expect(round.injected).toBe(times)
    expect(round.effects).toBeGreaterThan(effects)
  })
}
