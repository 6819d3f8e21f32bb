import { randomUUID } from 'node:crypto'
import { pause } from '../../core/clock.ts'
import { BelfryError, isPassing } from '../../core/error.ts'
import type { Capabilities } from '../../core/queue/plan-leases.ts'
import { leasesOf } from '../../store/leases/lease.ts'
import type { Lease, LeaseAnswer, LeaseRequest } from '../../store/port.ts'
import { workAhead } from '../../store/reads/find-queue.ts'
import type { EngineContext } from '../engine-context.ts'
import { turnOfTheEventLoop } from '../loop.ts'
import { trustMs } from '../settings.ts'
import { DoubtfulClaims } from './doubtful-claims.ts'
import { fullPollMs, KnownQueues } from './known-queues.ts'

/** Runs that one step leases; the next step follows at once. */
const batchMax = 500
const askAgainMs = 200
const askLateMs = 1_000
/** However busy it is with its own runs, it looks at all the queues this often. */
const lookMsMax = 1_000

export interface LessorOptions {
  readonly context: EngineContext
  readonly slots: number | null
  /** Whether no other worker is at work on this store, as far as is known. */
  readonly isAlone: () => boolean
  /** How many of the held will have ended when what is leased now begins. */
  readonly leaving: () => number
  /** Resolves when the ends that are being written have been told of. */
  readonly endsTold: () => Promise<unknown>
  /** The queues it works for; `null` is all of them. */
  readonly queues: ReadonlySet<string> | null
  readonly workerId: () => string
  /** Whether it may begin anything: a worker that stops does not. */
  readonly isOpen: () => boolean
  readonly can: () => Capabilities
  readonly begin: (lease: Lease, trustedUntil: number) => void
}

/** What is known of a lease, also when only what it granted is. */
type Answer = Omit<LeaseAnswer, 'inFlight' | 'available' | 'keyed'> & { readonly keyed?: boolean }

/**
 * Leases what this worker can start at once, never more: what it holds, it executes.
 */
export class Lessor {
  readonly #options: LessorOptions
  readonly #known = new KnownQueues()
  readonly #doubtful: DoubtfulClaims
  /** Queues to be asked, in this order. */
  #asked = new Set<string>()
  /** Where it found work last. */
  #lastServed: string | null = null
  /** Of the queues whose rate is used up: how soon one of them may be asked again. */
  #restMs = Number.POSITIVE_INFINITY
  /** Only runs of its own have ended since the last tick, so nothing is known to have come that it has not seen. */
  #isForEnds = false
  /** Until when it need not look at all the queues again, by the monotonic clock, while only its own runs end. */
  #lookAt = Number.NEGATIVE_INFINITY

  constructor(options: LessorOptions) {
    this.#options = options
    this.#doubtful = new DoubtfulClaims(options.context.clock)
  }

  /** Something may be ready in these queues; or anywhere, also where there was no room. */
  ask(queues: Iterable<string> | 'any'): void {
    this.#lookAt = Number.NEGATIVE_INFINITY
    if (queues === 'any') this.#known.forgetFull()
    else this.#add(queues)
  }

  /** Something may be ready, and it is unknown where: most likely where the last work was, so that is asked before the look. */
  guess(): void {
    if (this.#lastServed !== null) this.ask([this.#lastServed])
  }

  /** Whether a run that comes into this queue could begin at once, and nothing else is to be asked first. */
  isFreeFor(queue: string): boolean {
    return this.#asked.size === 0 && this.#room() > 0 && this.#serves(queue) && !this.#known.isFull(queue)
  }

  /**
   * Asks at the same time as the ends of runs in these queues are written, so that one commit does for both; answers
   * whether there is anything to ask.
   */
  askAlong(queues: Iterable<string>): boolean {
    const asked = [...queues].filter((queue) => this.#needsRoom(queue))
    this.#isForEnds = true
    this.#add(asked)
    for (const queue of asked) this.#known.askedAlong(queue)
    return asked.length > 0
  }

  /**
   * Asks where runs have ended, and answers whether there is anything to ask. A lease that was asked for along with their
   * ends, and is under way, comes after them.
   */
  askAfter(queues: Iterable<string>): boolean {
    const waiting = [...queues].filter((queue) => this.#needsRoom(queue))
    const rest = waiting.filter((queue) => this.#asked.has(queue) || !this.#known.isAskedAlong(queue))
    this.#isForEnds = true
    this.#add(rest)
    return rest.length > 0
  }

  /** Whether anything may wait in this queue for the end of a run: what other workers do with it is not announced. */
  #needsRoom(queue: string): boolean {
    const { slots, isAlone } = this.#options
    if (slots !== null || !isAlone()) return true
    return this.#known.mayWaitForEnds(queue) || this.#asked.has(queue)
  }

  #add(queues: Iterable<string>): void {
    for (const queue of queues) if (this.#serves(queue)) this.#asked.add(queue)
  }

  /** Whether an end in this queue may let another worker go on. */
  wasFull(queue: string): boolean {
    return this.#known.wasFull(queue)
  }

  /**
   * First the queues that were announced, because work waits in them; then a look at all the others, unless it is here
   * for the ends of its own runs and has looked lately. Where slots are few the announced ones would take them all,
   * time and again, so that a look which is overdue comes first. What is looked at is asked after the look, so that no run whose
   * waiting ends meanwhile falls between the two.
   */
  async tick(): Promise<number> {
    const { settings } = this.#options.context
    const isForEnds = this.#isForEnds
    this.#isForEnds = false
    this.#restMs = Number.POSITIVE_INFINITY
    await this.#giveBackDoubtful()
    const isOverdue = isForEnds && this.#options.slots !== null && this.#msToLook() <= 0 && this.#room() > 0
    if (!isOverdue) await this.#leaseAsked()
    if (this.#room() === 0) return this.#told(settings.pollMs)
    const hasLooked = isForEnds && this.#msToLook() > 0
    const waitMs = hasLooked ? this.#msToLook() : await this.#look()
    const goesOn = this.#asked.size > 0 && this.#room() > 0
    if (goesOn) this.#isForEnds ||= hasLooked
    return this.#told(goesOn ? 0 : Math.min(waitMs, this.#restMs))
  }

  #msToLook(): number {
    return this.#lookAt - this.#options.context.clock.monotonic()
  }

  /** Looks at all the queues and asks where something is; answers how long there will be nothing else to see. */
  async #look(): Promise<number> {
    const { store, clock, settings } = this.#options.context
    // Whoever asks from here on wants another look.
    this.#lookAt = Number.POSITIVE_INFINITY
    try {
      const {
        now,
        queues,
        nextAt,
        holdEndsAt = Number.POSITIVE_INFINITY,
      } = await store.look(workAhead, this.#options.can())
      const monotonic = clock.monotonic()
      this.#add(queues.filter((queue) => this.#known.mayHaveRoom(queue, monotonic)))
      await this.#leaseAsked()
      const nextMs = Math.min(nextAt ?? Number.POSITIVE_INFINITY, holdEndsAt) - now
      this.#lookAt = Math.min(this.#lookAt, monotonic + Math.min(nextMs, lookMsMax))
      return Math.min(nextMs, this.#known.anyIsFull ? fullPollMs : settings.pollMs)
    } catch (error) {
      this.#lookAt = Number.NEGATIVE_INFINITY
      throw error
    }
  }

  #told(waitMs: number): number {
    this.#options.context.signal('lease.ticked')
    return Math.min(waitMs, this.#doubtful.waitMs)
  }

  /** Leases whose grant was in doubt go back untouched: it is unknown for how long they can be trusted. */
  #giveBackDoubtful(): Promise<void> {
    const { context, begin } = this.#options
    return this.#doubtful.tellGranted(context.store, (lease) => begin(lease, Number.NEGATIVE_INFINITY))
  }

  /** Each gets its share of the room. One whose runs cannot be leased does not hold up the others. */
  async #leaseAsked(): Promise<void> {
    const failures: unknown[] = []
    const asked = this.#asked
    this.#asked = new Set()
    for (const queue of asked) {
      const room = this.#room()
      if (room === 0) break
      asked.delete(queue)
      const share = Math.ceil(room / (asked.size + 1))
      try {
        if (await this.#leaseFrom(queue, Math.min(share, batchMax))) this.#asked.add(queue)
      } catch (error) {
        failures.push(error)
        if (isPassing(error)) break
      }
    }
    // Those that found no room come first when there is some, before those that were served in this round.
    this.#asked = new Set([...asked, ...this.#asked])
    if (failures.length > 0) throw failures[0]
  }

  #serves(queue: string): boolean {
    return this.#options.queues?.has(queue) ?? true
  }

  #room(): number {
    const { slots, context, leaving, isOpen } = this.#options
    if (!isOpen()) return 0
    return slots === null ? Number.POSITIVE_INFINITY : Math.max(0, slots - context.holdings.size + leaving())
  }

  /** Whether there may be more to get from this queue at once. */
  async #leaseFrom(queue: string, limit: number): Promise<boolean> {
    const { context, workerId, can, begin } = this.#options
    const { clock, settings } = context
    const claimId = randomUUID()
    const startedAt = clock.monotonic()
    const trustedUntil = startedAt + trustMs(settings)
    const request = { queue, workerId: workerId(), claimId, can: can(), limit, leaseMs: settings.leaseMs }
    const answer = await this.#known.whileAsked(queue, this.#answerTo(request, trustedUntil))
    this.#known.answered(queue, answer, startedAt)
    if (answer.restMs !== undefined) this.#restMs = Math.min(this.#restMs, answer.restMs)
    this.#tellEnds(queue, answer)
    // Ends came before what they made room for, so their events go out first, unless their answer stays away.
    if (this.#known.isAskedAlong(queue)) await Promise.race([this.#options.endsTold(), turnOfTheEventLoop()])
    if (answer.leases.length > 0) this.#lastServed = queue
    for (const lease of answer.leases) begin(lease, trustedUntil)
    return answer.more || (answer.leases.length >= limit && !answer.full && answer.restMs === undefined)
  }

  async #answerTo(request: LeaseRequest, trustedUntil: number): Promise<Answer> {
    try {
      return await this.#options.context.store.lease(request)
    } catch (error) {
      if (!(error instanceof BelfryError) || error.code !== 'commit-unknown') throw error
      const leases = await this.#granted(request, trustedUntil)
      if (leases.length === 0) {
        if (!this.#options.context.store.keepsOrder) this.#doubtful.add(request.claimId)
        throw error
      }
      return { leases, skipped: [], broken: [], full: false, more: true }
    }
  }

  /** Not every run that was met could be leased; some ended there and then. */
  #tellEnds(queue: string, { skipped, broken }: Pick<LeaseAnswer, 'skipped' | 'broken'>): void {
    const { events } = this.#options.context
    const ended = { queue, durationMs: 0 }
    for (const one of skipped) {
      events.tell('run.skipped', { ...ended, ...one, fence: 0, status: 'skipped' })
    }
    for (const one of broken) events.tell('run.parked', { ...ended, ...one, status: 'parked' })
  }

  /**
   * After a commit that broke off only the store knows what it granted. What comes to light when it can no longer be
   * trusted is given back: by a clock that was set back it would not expire for as long, though its holder lives.
   */
  async #granted({ claimId }: LeaseRequest, trustedUntil: number): Promise<Lease[]> {
    const { context, isOpen } = this.#options
    const { store, clock } = context
    while (clock.monotonic() < trustedUntil || isOpen()) {
      try {
        return await store.look(leasesOf, claimId)
      } catch (error) {
        if (!isPassing(error)) throw error
        await pause(clock, clock.monotonic() < trustedUntil ? askAgainMs : askLateMs)
      }
    }
    return []
  }
}
