import { type Breach, breach } from './check.ts'
import type { Fault } from './fault.ts'
import type { History } from './history.ts'
import type { Place } from './place.ts'
import type { Random } from './random.mjs'
import { historyOf } from './record.ts'
import { type Recovery, recoveries } from './recovery.ts'
import { everyTargetMatched, firstStarts } from './targets.ts'
import { World } from './world.ts'

/** What one round came to. */
export interface RoundResult {
  readonly injected: number
  readonly runs: number
  readonly effects: number
  /** Times a worker learned that a lease was no longer its own: what the fence was there for. */
  readonly refusals: number
  readonly acks: number
  readonly breaches: readonly Breach[]
  readonly latenessMs: readonly number[]
  readonly recoveries: readonly Recovery[]
  /** How long each process that was stopped inside a write kept everybody out. */
  readonly closedMs: readonly number[]
}

export interface RoundOptions {
  readonly place: Place
  readonly random: Random
  readonly times: number
  readonly epsilonMs: number
}

/** Plays one fault on a store of its own and judges what came of it; a text says why it cannot be played here. */
export async function playRound(fault: Fault, options: RoundOptions): Promise<RoundResult | string> {
  const { place, random, times, epsilonMs } = options
  const house = await (fault.house ?? ((on: Place) => on.house()))(place)
  if (typeof house === 'string') return house
  const world = await World.open({ place, house, random, hasSchedules: fault.hasSchedules ?? true })
  try {
    await fault.arrange(world)
    const injected = await fault.inject(world, times)
    await fault.settle(world)
    return judged(fault, { injected, epsilonMs, history: await historyOf(world) })
  } catch (error) {
    // A store that cannot even be read any more is the worst that can have come of it.
    return { ...nothing, breaches: [breach('trouble', `the round broke off: ${(error as Error).stack}`)] }
  } finally {
    await world.close()
  }
}

interface Played {
  readonly injected: number
  readonly epsilonMs: number
  readonly history: History
}

const nothing = { injected: 0, runs: 0, effects: 0, refusals: 0, acks: 0, latenessMs: [], recoveries: [], closedMs: [] }

function judged(fault: Fault, { injected, epsilonMs, history }: Played): RoundResult {
  const checks = [...fault.expect, everyTargetMatched({ epsilonMs: fault.epsilonMs ?? epsilonMs })]
  const breaches = checks.flatMap((check) => check(history))
  return {
    injected,
    breaches,
    runs: history.runs.length,
    effects: history.witnessed.starts.length,
    refusals: history.witnessed.refusals.length,
    acks: history.witnessed.acks.length,
    latenessMs: latenessOf(history),
    recoveries: fault.recovery === undefined ? [] : recoveries(history, fault.recovery),
    closedMs: history.closures.map(({ from, to }) => to - from),
  }
}

function latenessOf(history: History): number[] {
  const starts = firstStarts(history)
  return history.runs.flatMap(({ id, occurrenceAt }) => {
    const at = starts.get(id)
    return at === undefined || occurrenceAt === null ? [] : [at - occurrenceAt]
  })
}
