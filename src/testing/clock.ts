import type { Clock } from '../core/clock.ts'

/** A clock that stands still until it is told to move. */
export class TestClock implements Clock {
  #now: number

  constructor(now: number = Date.UTC(2026, 0, 5, 9)) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  monotonic(): number {
    return this.#now
  }

  advance(ms: number): void {
    this.#now += ms
  }

  set(now: number): void {
    this.#now = now
  }
}
