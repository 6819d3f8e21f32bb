import type { Clock } from '../../core/clock.ts'

export interface Rate {
  readonly perSecond: number
  /** The burst after a rest. */
  readonly burst: number
}

interface Bucket {
  left: number
  at: number
}

const callersMax = 10_000

/** Limits the requests of each caller. It forgets callers at rest, and under a flood of callers the oldest. */
export class RateLimit {
  readonly #rate: Rate
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #buckets = new Map<string, Bucket>()

  constructor(rate: Rate, clock: Pick<Clock, 'monotonic'>) {
    this.#rate = rate
    this.#clock = clock
  }

  /** Takes one token; returns 0, or the ms until there is one. */
  take(caller: string): number {
    const { perSecond } = this.#rate
    const bucket = this.#filled(caller)
    this.#buckets.delete(caller)
    this.#buckets.set(caller, bucket)
    if (this.#buckets.size > callersMax) this.#buckets.delete(this.#buckets.keys().next().value as string)
    if (bucket.left < 1) return Math.ceil(((1 - bucket.left) / perSecond) * 1_000)
    bucket.left -= 1
    return 0
  }

  /** Returns a token that need not have been taken. */
  giveBack(caller: string): void {
    const bucket = this.#filled(caller)
    bucket.left = Math.min(this.#rate.burst, bucket.left + 1)
    this.#buckets.set(caller, bucket)
  }

  #filled(caller: string): Bucket {
    const { perSecond, burst } = this.#rate
    const now = this.#clock.monotonic()
    const found = this.#buckets.get(caller)
    if (found === undefined) return { left: burst, at: now }
    const left = Math.min(burst, found.left + ((now - found.at) / 1_000) * perSecond)
    return { left, at: now }
  }
}
