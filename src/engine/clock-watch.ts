/** How far wall and monotonic time may drift apart between two readings before it counts as a jump. */
const jumpMsMin = 1_000
const holdMsMax = 60_000

/** The store's clock, read at some instant between two readings of the monotonic clock. */
export interface Reading {
  readonly now: number
  readonly before: number
  readonly after: number
}

export interface ClockChange {
  /** How far the wall clock jumped since the last reading; 0 when it did not. */
  readonly jumpedMs: number
  /** How far the wall clock is behind its highest reading; while it is, nothing fires. */
  readonly behindMs: number
}

/**
 * Watches the store's clock for jumps: a person sets it, or the machine sleeps while the monotonic clock stands still. After a
 * jump it is unknown which leases have really expired, so nothing is reclaimed for the length of one lease. A clock that went
 * back repeats instants, so nothing fires until they have passed again or a minute is over.
 */
export class ClockWatch {
  readonly #leaseMs: number
  #last: Reading | null = null
  #highest: Pick<Reading, 'now' | 'after'> = { now: Number.NEGATIVE_INFINITY, after: Number.NEGATIVE_INFINITY }
  #behindSince: number | null = null
  #reclaimFrom = Number.NEGATIVE_INFINITY

  constructor({ leaseMs }: { leaseMs: number }) {
    this.#leaseMs = leaseMs
  }

  look(reading: Reading): ClockChange {
    const jumpedMs = this.#last === null ? 0 : jumpBetween(this.#last, reading)
    this.#last = reading
    if (jumpedMs !== 0) this.#reclaimFrom = reading.after + this.#leaseMs
    return { jumpedMs, behindMs: this.#behind(reading) }
  }

  mayReclaim(monotonic: number): boolean {
    return monotonic >= this.#reclaimFrom
  }

  #behind({ now, before, after }: Reading): number {
    const { now: highest, after: highestAfter } = this.#highest
    if (now < highest) {
      // The order of two overlapping readings is unknown, so the lower one proves nothing.
      if (before < highestAfter) return 0
      this.#behindSince ??= after
      if (after - this.#behindSince < holdMsMax) return highest - now
    }
    this.#highest = { now, after }
    this.#behindSince = null
    return 0
  }
}

/** The difference that a slow answer cannot explain. */
function jumpBetween(last: Reading, reading: Reading): number {
  const elapsed = reading.now - last.now
  const [least, most] = [reading.before - last.after, reading.after - last.before]
  if (elapsed < least - jumpMsMin) return Math.round(elapsed - least)
  if (elapsed > most + jumpMsMin) return Math.round(elapsed - most)
  return 0
}
