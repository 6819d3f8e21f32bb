import type { RateLimited } from '../src/core/run/expect.ts'
import type { Attempt, Ended, Execute } from '../src/targets/attempt.ts'
import type { Worker } from './worker.ts'
import { drawLimit } from './workload/accounts.ts'
import type { World } from './world.ts'

/** What a target is going to do, drawn when it begins. */
interface Plan {
  readonly takesMs: number
  readonly ends: 'well' | 'failing' | 'failing for good' | 'failing harmlessly' | 'asking for time' | 'throwing'
  /** How long it takes to stop when it is told to; absent: it does not listen. */
  readonly stopsInMs: number | undefined
  /** It comes to its end well when it is told to stop, instead of breaking off. */
  readonly endsWellWhenStopped: boolean
  readonly saysSomething: boolean
  /** The provider of its account refuses it. */
  readonly limit: RateLimited | undefined
}

function planOf(world: World, hasAccount: boolean): Plan {
  const { random, scenery, isCalm } = world
  if (isCalm)
    return {
      takesMs: random.between(0, 5),
      ends: 'well',
      stopsInMs: 1,
      endsWellWhenStopped: false,
      saysSomething: false,
      limit: undefined,
    }
  const { leaseMs } = scenery.settings
  const length = random.weighted(scenery.targetLengths)
  const takesMs = {
    instant: random.between(0, 5),
    short: random.between(5, 500),
    long: random.between(leaseMs / 2, 3 * leaseMs),
    endless: 100 * leaseMs,
  }[length]
  return {
    takesMs,
    ends: random.weighted({
      well: 12,
      failing: 3,
      'failing for good': 0.5,
      'failing harmlessly': 1,
      'asking for time': 0.5,
      throwing: 1,
    }),
    stopsInMs: random.chance(0.8) ? random.between(0, 60) : undefined,
    endsWellWhenStopped: random.chance(0.3),
    saysSomething: random.chance(0.1),
    limit: hasAccount ? drawLimit(world) : undefined,
  }
}

function endOf({ ends, limit }: Plan): Ended {
  if (limit !== undefined) return { facts: { error: 'refused', rateLimited: limit } }
  switch (ends) {
    case 'failing':
      return { facts: { error: 'it failed' } }
    case 'failing for good':
      return { facts: { error: 'it cannot succeed', retryable: false } }
    case 'failing harmlessly':
      return { facts: { error: 'it did nothing', retryable: true } }
    case 'asking for time':
      return { facts: { error: 'too early', retryAfterMs: 3_000 } }
    case 'throwing':
      throw new Error('thrown by the target')
    default:
      return { facts: {} }
  }
}

/** Targets whose work is to be seen: every beginning and every end is witnessed outside the store. */
export function targetOf(world: World, worker: Worker): Execute {
  return (attempt) => {
    const plan = planOf(world, attempt.account !== null)
    const execution = world.witness.began(worker, attempt)
    world.history.note(`${worker.name} begins ${attempt.runId}#${attempt.fence}, ${plan.takesMs} ms, ends ${plan.ends}`)
    if (plan.takesMs > world.scenery.settings.leaseMs) world.history.count('fault: target slower than its lease')
    if (plan.saysSomething) attempt.output('something\n')
    return new Promise((resolve, reject) => {
      const end = (words: string, isWell: boolean, come: () => Ended) => () => {
        if (execution.isOver) return
        world.note(worker, `${words} ${attempt.runId}#${attempt.fence}`)
        world.witness.ended(execution, isWell)
        settle(resolve, reject, come)
      }
      execution.finish = end('target ends', plan.ends === 'well' && plan.limit === undefined, () => endOf(plan))
      world.timeline.add(plan.takesMs, worker, 'target ends', execution.finish)
      onStop(attempt, () => {
        world.witness.stopped(execution, attempt.signal.reason)
        if (plan.stopsInMs === undefined) world.history.count('fault: target ignores the stop')
        else {
          const stops = end('target stops', plan.endsWellWhenStopped, () => stoppedEnd(plan))
          world.timeline.add(plan.stopsInMs, worker, 'target stops', stops)
        }
      })
    })
  }
}

function stoppedEnd({ endsWellWhenStopped }: Plan): Ended {
  return { facts: endsWellWhenStopped ? {} : { error: 'it was stopped' } }
}

function settle(resolve: (ended: Ended) => void, reject: (error: unknown) => void, come: () => Ended): void {
  try {
    resolve(come())
  } catch (error) {
    reject(error)
  }
}

function onStop({ signal }: Attempt, act: () => void): void {
  if (signal.aborted) act()
  else signal.addEventListener('abort', act, { once: true })
}
