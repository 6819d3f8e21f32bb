import { parseDuration } from '../core/duration.ts'
import { BelfryError } from '../core/error.ts'
import type { TestClock } from './test-clock.ts'

/** The part of a `Belfry` that `drain` needs. */
export interface Drained {
  drain(): Promise<void>
  nextInstant(): Promise<number | null>
}

export interface DrainOptions {
  /** The clock that the `Belfry` was opened with. */
  readonly clock: TestClock
  /** How long time passes, such as `1d`. */
  readonly for: string
}

/** Stops a program whose time does not pass, such as a handler that makes new work for the same instant for ever. */
const stopsMax = 1_000_000

/**
 * Executes everything due and resolves when it has ended. With a clock, time then passes from each instant with an event to the
 * next, so that a month of schedules takes as long as its handlers.
 */
export async function drain(belfry: Drained, options?: DrainOptions): Promise<void> {
  await belfry.drain()
  if (options === undefined) return
  const { clock } = options
  const endsAt = clock.now() + parseDuration(options.for)
  for (let stops = 0; clock.now() < endsAt; stops++) {
    if (stops === stopsMax) {
      throw new BelfryError('failure', `Something was due at ${stopsMax} instants before the drain was over.`, {
        hint: 'Drain a shorter time, or find the schedule or handler that makes endless work.',
      })
    }
    const next = (await belfry.nextInstant()) ?? endsAt
    clock.advance(Math.max(1, Math.min(next, endsAt) - clock.now()))
    await belfry.drain()
  }
}
