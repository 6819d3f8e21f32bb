import type { LeaseAnswer } from '../../store/port.ts'

/**
 * How often a full queue with waiting work is checked. A worker that ends a run in it wakes the others if it knew that the queue
 * was full, but it may have leased before the queue filled up.
 */
export const fullPollMs = 1_000

/** What a lessor remembers of its queues, to decide where another lease is worthwhile. */
export class KnownQueues {
  /** Queues that were full at the last lease, and until when they need not be asked again. */
  readonly #fullUntil = new Map<string, number>()
  /** Queues in which the end of a run may free a slot of its key. */
  readonly #keyed = new Set<string>()
  /** Queues with a lease in flight. */
  readonly #underWay = new Set<string>()
  /** Queues leased from together with ends of their runs and without an answer since, and whether they were full before. */
  readonly #alongside = new Map<string, boolean>()

  get anyIsFull(): boolean {
    return this.#fullUntil.size > 0
  }

  isFull(queue: string): boolean {
    return this.#fullUntil.has(queue)
  }

  /** True also where ends were sent since then and their answer has not arrived. */
  wasFull(queue: string): boolean {
    return this.isFull(queue) || this.#alongside.get(queue) === true
  }

  /** Whether the queue may have a free slot at this instant of the monotonic clock. */
  mayHaveRoom(queue: string, now: number): boolean {
    return now >= (this.#fullUntil.get(queue) ?? now)
  }

  /**
   * Whether work in the queue may be waiting for the end of a run. If the queue was not full at the last lease, later work was
   * announced; but a lease in flight may have been too early to see it.
   */
  mayWaitForEnds(queue: string): boolean {
    return this.wasFull(queue) || this.#keyed.has(queue) || this.#underWay.has(queue)
  }

  /** Any full queue may have a free slot again. */
  forgetFull(): void {
    this.#fullUntil.clear()
  }

  /** Marks that a lease from the queue is sent together with ends of its runs. */
  askedAlong(queue: string): void {
    this.#alongside.set(queue, this.isFull(queue))
  }

  isAskedAlong(queue: string): boolean {
    return this.#alongside.has(queue)
  }

  /** Marks the queue while its lease is in flight. */
  async whileAsked<Answer>(queue: string, answer: Promise<Answer>): Promise<Answer> {
    this.#underWay.add(queue)
    try {
      return await answer
    } finally {
      this.#underWay.delete(queue)
      // Ends that share the commit of the lease are answered in the same turn of the event loop, just before
      // or after it.
      if (this.#alongside.has(queue)) setImmediate(() => this.#alongside.delete(queue))
    }
  }

  /** Records the answer of a lease sent at this instant; only a full answer says something about its keys. */
  answered(queue: string, { full, keyed }: Pick<LeaseAnswer, 'full'> & { keyed?: boolean }, askedAt: number): void {
    if (full) this.#fullUntil.set(queue, askedAt + fullPollMs)
    else this.#fullUntil.delete(queue)
    if (keyed === true) this.#keyed.add(queue)
    else if (keyed === false) this.#keyed.delete(queue)
  }
}
