import type { Clock } from '../core/clock.ts'
import { BelfryError } from '../core/error.ts'

/** A clock that stands still until it is told to move. */
export class TestClock implements Clock {
  #now: number
  #monotonic = 0

  constructor(now: number = Date.UTC(2026, 0, 5, 9)) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  monotonic(): number {
    return this.#monotonic
  }

  /** Time passes. */
  advance(ms: number): void {
    if (!(ms >= 0)) {
      throw new BelfryError('invalid', `Time cannot pass by ${ms} ms.`, {
        hint: 'Use set to turn the wall clock back.',
      })
    }
    this.#now += ms
    this.#monotonic += ms
  }

  /** Somebody sets the wall clock, forwards or back; no time passes by that. */
  set(now: number): void {
    this.#now = now
  }
}
