const batchMax = 500

/**
 * A worker leases up to its free slots. If a part then defers most of these runs, because an account has room for only one, the
 * others were leased in vain, and would be again a second later. So after a deferral the worker leases one run at a time from that
 * queue, and one more after each run that started.
 */
export class Caution {
  /** How many leased runs parts are being asked about, by queue. */
  readonly #asked = new Map<string, number>()
  readonly #most = new Map<string, number>()

  /** How many runs to lease, of a number that could be leased. */
  atMost(queue: string, count: number): number {
    const most = this.#most.get(queue)
    return most === undefined ? count : Math.max(0, Math.min(count, most - this.#askedOf(queue)))
  }

  asked(queue: string): void {
    this.#asked.set(queue, this.#askedOf(queue) + 1)
  }

  /** Returns whether more may be leased than before. */
  answered(queue: string, { isDeferred }: { readonly isDeferred: boolean }): boolean {
    this.#asked.set(queue, this.#askedOf(queue) - 1)
    if (isDeferred) this.#most.set(queue, 1)
    else this.#trust(queue, (most) => most + 1)
    return this.#most.has(queue) && this.atMost(queue, 1) > 0
  }

  /** Runs were leased under caution: whether to go on without an answer, because no part is asked about them. */
  goesOn(queue: string): boolean {
    if (!this.#most.has(queue)) return true
    if (this.#askedOf(queue) > 0) return false
    this.#trust(queue, (most) => most * 2)
    return true
  }

  #askedOf(queue: string): number {
    return this.#asked.get(queue) ?? 0
  }

  #trust(queue: string, grown: (most: number) => number): void {
    const most = grown(this.#most.get(queue) ?? batchMax)
    if (most < batchMax) this.#most.set(queue, most)
    else this.#most.delete(queue)
  }
}
