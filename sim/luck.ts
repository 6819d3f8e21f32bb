import type { Fate } from './faulty-store.ts'
import { isRead } from './faulty-store.ts'
import type { Process } from './process.ts'
import type { World } from './world.ts'

/** A program enqueues seldom while its worker sleeps, so what it enqueues is hit more often. */
const enqueuedByWorkerTimes = 6

/** Draws what becomes of each call. */
export class Luck {
  readonly #world: World
  /** Until then the store answers nobody. */
  awayUntil = 0

  constructor(world: World) {
    this.#world = world
  }

  /** The store answers again. That it was away until now is remembered: only from here on could anything be written. */
  comeBack(): void {
    this.awayUntil = Math.min(this.awayUntil, this.#world.timeline.now)
  }

  fateOf(process: Process, verb: string): Fate {
    const { random, timeline, isCalm } = this.#world
    const end = isCalm ? 'fine' : this.#endOf(process, verb)
    const isSlow = !isCalm && random.chance(this.#world.scenery.callFaults.slow / 1_000)
    const isPrompt = random.chance(isRead(verb) ? 0.9 : 0.6)
    const fate = { thereMs: random.between(0, 2), backMs: random.between(0, 3), isPrompt, isSlow, end }
    if (!isCalm && this.awayUntil > timeline.now) return { ...fate, isSlow: false, end: 'refused' }
    return isSlow ? { ...fate, ...this.#slow(), isPrompt: false } : fate
  }

  /** Slow on its way there, or back: past trust and past the lease as well. */
  #slow(): Pick<Fate, 'thereMs' | 'backMs'> {
    const { random, scenery, history } = this.#world
    history.count('fault: slow call')
    const { leaseMs } = scenery.settings
    const ms = random.chance(0.5) ? random.between(20, leaseMs / 2) : random.between(leaseMs / 2, 2 * leaseMs)
    return random.chance(0.5) ? { thereMs: ms, backMs: 1 } : { thereMs: 1, backMs: ms }
  }

  #endOf(process: Process, verb: string): Fate['end'] {
    const { random, scenery } = this.#world
    const isWorker = this.#world.isWorker(process)
    const times = isWorker && verb === 'enqueue' ? enqueuedByWorkerTimes : 1
    const { refused } = scenery.callFaults
    const unknown = scenery.callFaults.unknown * times
    const dies = scenery.callFaults.dies * times
    const drawn = random.next() * 1_000
    if (drawn < refused) return 'refused'
    // A read has nothing to commit: it answers, or it does not.
    if (drawn < refused + unknown)
      return isRead(verb) ? 'refused' : random.chance(0.6) ? 'unknown-done' : 'unknown-undone'
    if (drawn >= refused + unknown + dies || !isWorker) return 'fine'
    return random.chance(0.5) ? 'dies-before' : 'dies-after'
  }
}
