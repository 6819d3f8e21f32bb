import { randomUUID } from 'node:crypto'
import { pause } from '../core/clock.ts'
import { BelfryError } from '../core/error.ts'
import type { Capabilities } from '../core/plan.ts'
import type { Lease, LeaseAnswer, LeaseRequest } from '../store/port.ts'
import type { EngineContext } from './context.ts'
import { isPassing } from './outage.ts'
import { trustMs } from './settings.ts'

/** Runs that one step leases; the next step follows at once. */
const batchMax = 500
const askAgainMs = 200

export interface LessorOptions {
  readonly context: EngineContext
  readonly slots: number | null
  /** The queues it works for; `null` is all of them. */
  readonly queues: ReadonlySet<string> | null
  readonly workerId: () => string
  readonly can: () => Capabilities
  readonly begin: (lease: Lease, trustedUntil: number) => void
}

/**
 * Leases what this worker can start at once, never more: what it holds, it executes. It asks the queues that it was told
 * about, and looks at all of them when it was told nothing in particular.
 */
export class Lessor {
  readonly #options: LessorOptions
  #asked = new Set<string>()
  #looksAround = true
  /** Queues at their ceiling when they were last asked: an end in one of them may let another worker go on. */
  readonly #full = new Set<string>()

  constructor(options: LessorOptions) {
    this.#options = options
  }

  /** Something may be ready: in these queues, or anywhere. */
  ask(queues?: Iterable<string>): void {
    if (queues === undefined) this.#looksAround = true
    else for (const queue of queues) if (this.#serves(queue)) this.#asked.add(queue)
  }

  wasFull(queue: string): boolean {
    return this.#full.has(queue)
  }

  async tick(): Promise<number> {
    const { context } = this.#options
    // Nothing was named, so time has woken us: somewhere a run's waiting is over.
    if (this.#asked.size === 0) this.#looksAround = true
    await this.#lookAround()
    let left = this.#asked
    this.#asked = new Set()
    for (const queue of left) {
      const room = this.#room()
      if (room === 0) break
      left.delete(queue)
      const share = Math.max(1, Math.ceil(room / (left.size + 1)))
      if (await this.#leaseFrom(queue, Math.min(share, batchMax))) this.#asked.add(queue)
    }
    // Those that found no room come first when there is some, before those that were served in this round.
    left = new Set([...left, ...this.#asked])
    this.#asked = left
    context.signal('lease.ticked')
    if (left.size > 0 && this.#room() > 0) return 0
    return this.#untilNextRun()
  }

  async #lookAround(): Promise<void> {
    if (!this.#looksAround) return
    this.#looksAround = false
    try {
      this.ask(await this.#options.context.store.read.queuesWithWork())
    } catch (error) {
      this.#looksAround = true
      throw error
    }
  }

  #serves(queue: string): boolean {
    return this.#options.queues?.has(queue) ?? true
  }

  #room(): number {
    const { slots, context } = this.#options
    return slots === null ? Number.POSITIVE_INFINITY : Math.max(0, slots - context.holdings.size)
  }

  /** Whether there may be more to get from this queue at once. */
  async #leaseFrom(queue: string, limit: number): Promise<boolean> {
    const { context, workerId, can, begin } = this.#options
    const { store, clock, settings, events } = context
    const claimId = randomUUID()
    const startedAt = clock.monotonic()
    const trustedUntil = startedAt + trustMs(settings)
    const request = { queue, workerId: workerId(), claimId, can: can(), limit, leaseMs: settings.leaseMs }
    let answer: Pick<LeaseAnswer, 'leases' | 'skipped' | 'full' | 'more'>
    try {
      answer = await store.lease(request)
    } catch (error) {
      this.#asked.add(queue)
      if (!(error instanceof BelfryError) || error.code !== 'commit-unknown') throw error
      answer = { leases: await this.#granted(request, trustedUntil), skipped: [], full: false, more: true }
    }
    if (answer.full) this.#full.add(queue)
    else this.#full.delete(queue)
    for (const { id, reason } of answer.skipped) {
      events.tell('run.skipped', {
        runId: id,
        fence: 0,
        queue,
        scheduleId: null,
        status: 'skipped',
        reason,
        durationMs: 0,
      })
    }
    for (const lease of answer.leases) begin(lease, trustedUntil)
    return answer.more || (answer.leases.length >= limit && !answer.full)
  }

  /** After a commit that broke off only the store knows what it granted. Beyond trust, the answer is of no use any more. */
  async #granted({ claimId }: LeaseRequest, trustedUntil: number): Promise<Lease[]> {
    const { store, clock } = this.#options.context
    while (clock.monotonic() < trustedUntil) {
      try {
        return await store.leasesOf(claimId)
      } catch (error) {
        if (!isPassing(error)) throw error
        await pause(clock, askAgainMs)
      }
    }
    return []
  }

  async #untilNextRun(): Promise<number> {
    const { store, settings } = this.#options.context
    const { now, runAt } = await store.read.nextInstants()
    // One whose waiting is over, and which was not leased, waits for room: the end of another run asks again.
    return runAt === null || runAt <= now ? settings.pollMs : Math.min(runAt - now, settings.pollMs)
  }
}
