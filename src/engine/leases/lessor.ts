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
import { Caution } from './caution.ts'
import { DoubtfulClaims } from './doubtful-claims.ts'
import { fullPollMs, KnownQueues } from './known-queues.ts'

/** Runs that one step leases; the next step follows at once. */
const batchMax = 500
const askAgainMs = 200
const askLateMs = 1_000
/** The longest time between two checks of all queues, however busy the worker is with its own runs. */
const lookMsMax = 1_000

export interface LessorOptions {
  readonly context: EngineContext
  readonly slots: number | null
  /** Whether no other worker is known to work on this store. */
  readonly isAlone: () => boolean
  /** How many of the held runs will have ended when newly leased runs begin. */
  readonly leaving: () => number
  /** Resolves when the ends being written have been reported. */
  readonly endsTold: () => Promise<unknown>
  /** The queues it works for; `null` is all of them. */
  readonly queues: ReadonlySet<string> | null
  readonly workerId: () => string
  /** Whether the worker may begin anything: a stopping worker may not. */
  readonly isOpen: () => boolean
  readonly can: () => Capabilities
  readonly begin: (lease: Lease, trustedUntil: number) => void
}

/** The answer of a lease, also when only its grants are known. */
type Answer = Omit<LeaseAnswer, 'inFlight' | 'available' | 'keyed'> & { readonly keyed?: boolean }

/** Leases what this worker can start at once, never more: it executes everything that it holds. */
export class Lessor {
  readonly #options: LessorOptions
  readonly #known = new KnownQueues()
  readonly #doubtful: DoubtfulClaims
  readonly #caution = new Caution()
  /** Queues to lease from, in this order. */
  #asked = new Set<string>()
  /** The queue of the last found work. */
  #lastServed: string | null = null
  /** The shortest wait among the queues that have used up their rate limit. */
  #restMs = Number.POSITIVE_INFINITY
  /** Only its own runs have ended since the last tick, so no new work is known. */
  #isForEnds = false
  /** Until when all queues need not be checked again while only this worker's runs end, by the monotonic clock. */
  #lookAt = Number.NEGATIVE_INFINITY

  constructor(options: LessorOptions) {
    this.#options = options
    this.#doubtful = new DoubtfulClaims(options.context.clock)
  }

  /** These queues may have ready runs; with `any`, all queues, full ones too. */
  ask(queues: Iterable<string> | 'any'): void {
    this.#lookAt = Number.NEGATIVE_INFINITY
    if (queues === 'any') this.#known.forgetFull()
    else this.#add(queues)
  }

  /** Some queue may have a ready run: most likely the last one with work, so that is tried before the check of all. */
  guess(): void {
    if (this.#lastServed !== null) this.ask([this.#lastServed])
  }

  /** Whether a run that is enqueued in this queue could start at once, without asking another queue first. */
  isFreeFor(queue: string): boolean {
    return this.#asked.size === 0 && this.#room() > 0 && this.#serves(queue) && !this.#known.isFull(queue)
  }

  /**
   * Leases at the same time as ends of runs in these queues are written, so that one commit serves both. Returns whether there is
   * anything to lease.
   */
  askAlong(queues: Iterable<string>): boolean {
    const asked = [...queues].filter((queue) => this.#needsRoom(queue))
    this.#isForEnds = true
    this.#add(asked)
    for (const queue of asked) this.#known.askedAlong(queue)
    return asked.length > 0
  }

  /**
   * Leases where runs have ended. Returns whether there is anything to lease. A lease in flight that was sent together with
   * those ends already sees them.
   */
  askAfter(queues: Iterable<string>): boolean {
    const waiting = [...queues].filter((queue) => this.#needsRoom(queue))
    const rest = waiting.filter((queue) => this.#asked.has(queue) || !this.#known.isAskedAlong(queue))
    this.#isForEnds = true
    this.#add(rest)
    return rest.length > 0
  }

  /** Parts are asked whether a leased run may start. */
  asked(queue: string): void {
    this.#caution.asked(queue)
  }

  /** The parts have answered. Returns whether there is anything to lease. */
  answered(queue: string, answer: { readonly isDeferred: boolean }): boolean {
    if (!this.#caution.answered(queue, answer)) return false
    this.ask([queue])
    return true
  }

  /** Whether work may wait in this queue for the end of a run: changes by other workers are not announced. */
  #needsRoom(queue: string): boolean {
    const { slots, isAlone } = this.#options
    if (slots !== null || !isAlone()) return true
    return this.#known.mayWaitForEnds(queue) || this.#asked.has(queue)
  }

  #add(queues: Iterable<string>): void {
    for (const queue of queues) if (this.#serves(queue)) this.#asked.add(queue)
  }

  /** Whether an end in this queue may let another worker continue. */
  wasFull(queue: string): boolean {
    return this.#known.wasFull(queue)
  }

  /**
   * First the announced queues, because work waits in them; then a check of all others, unless only its own runs ended and the
   * last check is recent. With few slots the announced queues would take all of them every time, so an overdue check comes first.
   * The leases follow the check, so that a run whose wait ends meanwhile is not missed.
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

  /** Checks all queues and marks those with work. Returns for how long no new work can appear by time alone. */
  async #look(): Promise<number> {
    const { store, clock, settings } = this.#options.context
    // A call to `ask` from here on requires another check.
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

  /**
   * Leases whose grant was in doubt are released before anything starts: it is unknown how long they can be trusted.
   */
  #giveBackDoubtful(): Promise<void> {
    const { context, begin } = this.#options
    return this.#doubtful.tellGranted(context.store, (lease) => begin(lease, Number.NEGATIVE_INFINITY))
  }

  /** Each queue gets its share of the free slots. A queue that fails does not block the others. */
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
    // Queues that found no free slot come first next time, before those served in this round.
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

  /** Whether the queue may have more runs at once. */
  async #leaseFrom(queue: string, free: number): Promise<boolean> {
    const limit = this.#caution.atMost(queue, free)
    if (limit === 0) return false
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
    // Ends happened before the leases that they made room for, so their events are emitted first, unless their
    // answer is late.
    if (this.#known.isAskedAlong(queue)) await Promise.race([this.#options.endsTold(), turnOfTheEventLoop()])
    if (answer.leases.length > 0) this.#lastServed = queue
    for (const lease of answer.leases) begin(lease, trustedUntil)
    const more = answer.more || (answer.leases.length >= limit && !answer.full && answer.restMs === undefined)
    return more && this.#caution.goesOn(queue)
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

  /** Some runs ended instead of being leased. */
  #tellEnds(queue: string, { skipped, broken }: Pick<LeaseAnswer, 'skipped' | 'broken'>): void {
    const { events } = this.#options.context
    const ended = { queue, durationMs: 0 }
    for (const one of skipped) {
      events.tell('run.skipped', { ...ended, ...one, fence: 0, status: 'skipped' })
    }
    for (const one of broken) events.tell('run.parked', { ...ended, ...one, status: 'parked' })
  }

  /**
   * After a commit with an unknown result only the store knows what it granted. Leases that are found too late to be trusted are
   * released: after the clock was set back they would not expire for a long time, although their worker lives.
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
