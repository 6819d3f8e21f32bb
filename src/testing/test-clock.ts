import type { Clock } from '../core/clock.ts'
import { BelfryError } from '../core/error.ts'

interface Alarm {
  readonly at: number
  readonly act: () => void
}

/** A clock that stands still until it is advanced. Timers fire as it advances. */
export class TestClock implements Clock {
  #now: number
  #monotonic = 0
  readonly #alarms = new Set<Alarm>()

  constructor(now: number = Date.UTC(2026, 0, 5, 9)) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  monotonic(): number {
    return this.#monotonic
  }

  advance(ms: number): void {
    if (!(ms >= 0)) {
      throw new BelfryError('invalid', `Time cannot pass by ${ms} ms.`, {
        hint: 'Use set to turn the wall clock back.',
      })
    }
    const end = this.#monotonic + ms
    for (let alarm = this.#next(end); alarm !== undefined; alarm = this.#next(end)) {
      this.#pass(alarm.at - this.#monotonic)
      this.#alarms.delete(alarm)
      alarm.act()
    }
    this.#pass(end - this.#monotonic)
  }

  after(ms: number, act: () => void): () => void {
    const alarm = { at: this.#monotonic + Math.max(0, ms), act }
    this.#alarms.add(alarm)
    return () => this.#alarms.delete(alarm)
  }

  /** Sets the wall clock forwards or back; monotonic time does not pass. */
  set(now: number): void {
    this.#now = now
  }

  #pass(ms: number): void {
    this.#now += ms
    this.#monotonic += ms
  }

  /** Of several timers for one instant, the one that was set first. */
  #next(end: number): Alarm | undefined {
    let first: Alarm | undefined
    for (const alarm of this.#alarms) if (alarm.at <= end && (first === undefined || alarm.at < first.at)) first = alarm
    return first
  }
}
