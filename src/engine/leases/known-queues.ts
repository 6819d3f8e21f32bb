import type { LeaseAnswer } from '../../store/port.ts'

/**
 * A queue at its ceiling, with work in it, is looked at this often. A worker that ends a run in it wakes the others if it
 * knew that the queue was full, and it may have asked before it was.
 */
export const fullPollMs = 1_000

/** What a lessor remembers of the queues it has asked, to tell where it is worth asking again. */
export class KnownQueues {
  /** Those at their ceiling when they were last asked, and until when they need not be asked again. */
  readonly #fullUntil = new Map<string, number>()
  /** Those in which ends of runs matter for their keys. */
  readonly #keyed = new Set<string>()
  /** Those that are being asked. */
  readonly #underWay = new Set<string>()
  /** Those that were asked along with ends of their runs and have not answered since, and whether they were full before. */
  readonly #alongside = new Map<string, boolean>()

  get anyIsFull(): boolean {
    return this.#fullUntil.size > 0
  }

  isFull(queue: string): boolean {
    return this.#fullUntil.has(queue)
  }

  /** Also where ends have been written since, whose answer is not there yet. */
  wasFull(queue: string): boolean {
    return this.isFull(queue) || this.#alongside.get(queue) === true
  }

  /** Whether it may have room by this instant of the monotonic clock. */
  mayHaveRoom(queue: string, now: number): boolean {
    return now >= (this.#fullUntil.get(queue) ?? now)
  }

  /**
   * Whether something may wait in it for the end of a run. Where it was not full when it was last asked, work that came
   * since then has been announced; but a lease that is under way may have asked too early.
   */
  mayWaitForEnds(queue: string): boolean {
    return this.wasFull(queue) || this.#keyed.has(queue) || this.#underWay.has(queue)
  }

  /** There may be room again, wherever there was none. */
  forgetFull(): void {
    this.#fullUntil.clear()
  }

  /** It is asked at the same time as ends of its runs are written. */
  askedAlong(queue: string): void {
    this.#alongside.set(queue, this.isFull(queue))
  }

  isAskedAlong(queue: string): boolean {
    return this.#alongside.has(queue)
  }

  /** Its answer is being waited for. */
  async whileAsked<Answer>(queue: string, answer: Promise<Answer>): Promise<Answer> {
    this.#underWay.add(queue)
    try {
      return await answer
    } finally {
      this.#underWay.delete(queue)
      // Ends that share its commit are answered in the same turn of the event loop, a little sooner or later.
      if (this.#alongside.has(queue)) setImmediate(() => this.#alongside.delete(queue))
    }
  }

  /** What it answered, when it was asked at this instant; only an answer of its own tells of its keys. */
  answered(queue: string, { full, keyed }: Pick<LeaseAnswer, 'full'> & { keyed?: boolean }, askedAt: number): void {
    if (full) this.#fullUntil.set(queue, askedAt + fullPollMs)
    else this.#fullUntil.delete(queue)
    if (keyed === true) this.#keyed.add(queue)
    else if (keyed === false) this.#keyed.delete(queue)
  }
}
