import type { Clock } from '../../core/clock.ts'

export interface Rate {
  readonly perSecond: number
  /** How many may come at once after a rest. */
  readonly burst: number
}

interface Bucket {
  left: number
  at: number
}

const callersMax = 10_000

/** Lets each caller ask so often and no more. It forgets whoever has rested, and under a flood of callers whoever came first. */
export class RateLimit {
  readonly #rate: Rate
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #buckets = new Map<string, Bucket>()

  constructor(rate: Rate, clock: Pick<Clock, 'monotonic'>) {
    this.#rate = rate
    this.#clock = clock
  }

  /** Takes one; answers in how many ms there will be another where there is none, and else 0. */
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

  /** Gives one back that need not have been taken. */
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
