import type { Clock } from '../../core/clock.ts'
import { leasesOf } from '../../store/leases/lease.ts'
import type { Lease, Store } from '../../store/port.ts'

/** A server executes a statement up to its timeout, even when its client is gone. */
const doubtMs = 60_000
const askAgainMs = 1_000

/**
 * Claims whose commit has an unknown result, and which the store did not know when asked. A server that still waits for the
 * queue's lock may grant them later, to a live worker that does not know it; the runs would stand still until the lease expires,
 * and count as lost. So the store is asked again for a while.
 */
export class DoubtfulClaims {
  readonly #clock: Clock
  readonly #until = new Map<string, number>()
  #askAt = Number.NEGATIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(claimId: string): void {
    const now = this.#clock.monotonic()
    this.#until.set(claimId, now + doubtMs)
    this.#askAt = Math.max(this.#askAt, now + askAgainMs)
  }

  /** How long until the next check. */
  get waitMs(): number {
    if (this.#until.size === 0) return Number.POSITIVE_INFINITY
    return Math.max(0, this.#askAt - this.#clock.monotonic())
  }

  /** Reports leases that have been granted since, each once. */
  async tellGranted(store: Pick<Store, 'look'>, tell: (lease: Lease) => void): Promise<void> {
    if (this.waitMs > 0) return
    const now = this.#clock.monotonic()
    this.#askAt = now + askAgainMs
    for (const [claimId, until] of this.#until) {
      const leases = await store.look(leasesOf, claimId)
      if (leases.length > 0 || now >= until) this.#until.delete(claimId)
      for (const lease of leases) tell(lease)
    }
  }
}
