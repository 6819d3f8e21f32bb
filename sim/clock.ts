import type { Clock, Dials } from '../src/core/clock.ts'
import type { Random } from './random.ts'
import type { Owner, Timeline } from './timeline.ts'

/** Far from any change of offset, so that a calendar of minutes is the same arithmetic in every zone. */
const beginsAt = Date.UTC(2026, 6, 14, 9, 58, 30)

/** The wall clock by which the store lives. Time passes on it as everywhere, and somebody may set it, forwards or back. */
export class StoreClock implements Dials {
  readonly #timeline: Timeline
  #offset = beginsAt
  /** When it was last set forwards, by the time that really passes. */
  forwardAt = Number.NEGATIVE_INFINITY
  backAt = Number.NEGATIVE_INFINITY

  constructor(timeline: Timeline) {
    this.#timeline = timeline
  }

  now(): number {
    return this.#offset + this.#timeline.now
  }

  monotonic(): number {
    return this.#timeline.now
  }

  /** When it was last set, in whatever direction. */
  get setAt(): number {
    return Math.max(this.forwardAt, this.backAt)
  }

  jump(ms: number): void {
    this.#offset += ms
    if (ms > 0) this.forwardAt = this.#timeline.now
    else this.backAt = this.#timeline.now
  }
}

/** A busy process hears its alarms a little late. */
const alarmLateMsMax = 4

/**
 * The clocks of one process. Its wall clock is wrong by some constant and its monotonic clock began at some instant of
 * its own, so that whoever takes one for the other, or for the store's, is far off.
 */
export class ProcessClock implements Clock {
  readonly #timeline: Timeline
  readonly #random: Random
  readonly #owner: Owner
  readonly #wrongByMs: number
  readonly #beganAt: number

  constructor(timeline: Timeline, random: Random, owner: Owner) {
    this.#timeline = timeline
    this.#random = random
    this.#owner = owner
    this.#wrongByMs = beginsAt + random.between(-300_000, 300_000)
    this.#beganAt = random.between(0, 1_000_000)
  }

  now(): number {
    return this.#wrongByMs + this.#timeline.now
  }

  monotonic(): number {
    return this.#beganAt + this.#timeline.now
  }

  after(ms: number, act: () => void): () => void {
    const lateMs = this.#random.chance(0.2) ? this.#random.between(1, alarmLateMsMax) : 0
    const alarm = this.#timeline.add(ms + lateMs, this.#owner, 'alarm', act)
    return () => {
      alarm.isOff = true
    }
  }
}
