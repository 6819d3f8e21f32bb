import { hostname } from 'node:os'
import type { Capabilities } from '../core/queue/plan-leases.ts'
import type { AttemptEnd, Lease, Wake } from '../store/port.ts'
import { workAhead } from '../store/reads/find-queue.ts'
import { ownIdentity } from '../store/workers/process-identity.ts'
import { registerWorker } from '../store/workers/register-worker.ts'
import { type Beginners, endBeforeStart } from './begin.ts'
import { ClockWatch } from './clock-watch.ts'
import { type Concluders, concludersFor, concludersOf, withLearned } from './conclude-run.ts'
import { Duties } from './duties.ts'
import type { EngineOptions } from './engine.ts'
import type { EngineContext } from './engine-context.ts'
import { execute, lanesOf, refreshed, releasedEnd, tellStarted } from './execute-run.ts'
import { Firer } from './firer.ts'
import { Halt } from './halt.ts'
import { type Holding, Holdings } from './leases/holdings.ts'
import { Lessor } from './leases/lessor.ts'
import { Loop, type Tick, turnOfTheEventLoop } from './loop.ts'
import { Outage } from './outage.ts'
import { reclaimTick } from './reclaim-tick.ts'
import { renewTick, stopTick, trustTick } from './renew-tick.ts'
import type { EngineSettings } from './settings.ts'
import { Settler } from './settler.ts'
import { atMost, Grace, longestGraceMs, seeOut } from './shutdown.ts'
import type { Signal } from './signals.ts'
import { WakeUpWatch } from './wake-up-watch.ts'

export interface StartOptions {
  /** How many runs this worker executes at once; absent: as many as the queues' ceilings allow. */
  readonly slots?: number
  /** The queues it works for; absent: all. */
  readonly queues?: readonly string[]
  /** Aborting it stops the worker as `stop` does. */
  readonly signal?: AbortSignal
}

export interface WorkerOptions extends EngineOptions {
  readonly name: string
  readonly signal: Signal
  readonly settings: EngineSettings
  readonly start: StartOptions
}

type LoopName = 'halt' | 'fire' | 'lease' | 'renew' | 'trust' | 'cancel' | 'reclaim' | 'duties' | 'beat' | 'hear'

/** How long the report of its stop may take. */
const goodbyeMsMax = 5_000

/** The loops of one worker, and which wakes which. Each loop reads the store at its own pace; wake-ups only make it tick sooner. */
export class Worker {
  readonly options: WorkerOptions
  readonly #context: EngineContext
  readonly #outage: Outage
  readonly #watch: ClockWatch
  readonly #lessor: Lessor
  readonly #settler: Settler
  readonly #duties: Duties
  readonly #hearing: WakeUpWatch
  readonly #grace: Grace
  readonly #patience: Grace
  readonly #beginners: Beginners
  readonly #concluders: Concluders
  readonly #halt: Halt
  readonly #loops: Readonly<Record<LoopName, Loop>>
  /** The ids of this worker's leases; the last one is its current id. */
  readonly #ids: string[] = []
  #isLeasing = true
  #isAlone = false
  #unlisten: () => void = () => undefined
  #hasStopped: () => void = () => undefined
  readonly stopped = new Promise<void>((resolve) => {
    this.#hasStopped = resolve
  })

  constructor(options: WorkerOptions) {
    const { store, clock, events, signal, settings, start, executors } = options
    this.options = options
    const { parts = [] } = options
    this.#beginners = parts.flatMap(({ name, begins, concerns }) =>
      begins === undefined ? [] : [{ name, begins, concerns }],
    )
    this.#concluders = concludersOf(parts)
    this.#context = { store, clock, events, signal, settings, holdings: new Holdings(), executors }
    this.#halt = new Halt({ ...options.halt, changed: (reason) => this.#halted(reason) })
    this.#outage = new Outage(this.#context)
    this.#watch = new ClockWatch(settings)
    const workerId = () => this.id
    this.#lessor = new Lessor({
      context: this.#context,
      slots: start.slots ?? null,
      queues: start.queues === undefined ? null : new Set(start.queues),
      isAlone: () => this.#isAlone,
      leaving: () => (store.keepsOrder && this.#isAlone ? this.#settler.inWriting : 0),
      endsTold: () => this.#settler.underWay,
      workerId,
      isOpen: () => this.#mayBegin,
      can: () => this.#can(),
      begin: (lease, trustedUntil) => this.#begin(lease, trustedUntil),
    })
    this.#settler = new Settler(this.#context, {
      failed: (...told) => this.#outage.failed(...told),
      writing: (queues) => this.#ending(queues),
      settled: (queues) => this.#settled(queues),
    })
    this.#duties = new Duties({
      context: this.#context,
      workerId,
      duties: parts.flatMap(({ duties = [] }) => duties),
      lookAgain: () => this.#loops.fire.wake(),
    })
    this.#hearing = new WakeUpWatch(this.#context, () => this.#heard({ from: 'elsewhere', what: 'anything' }))
    this.#grace = new Grace(clock)
    this.#patience = new Grace(clock)
    this.#loops = this.#makeLoops()
  }

  get id(): string {
    return this.#ids.at(-1) ?? ''
  }

  /** Whether it may fire and lease: it is not stopping, and neither its process nor its machine is stopped. */
  get #mayBegin(): boolean {
    return this.#isLeasing && this.#halt.reason === null
  }

  async start(): Promise<void> {
    const { store, events } = this.#context
    const { start } = this.options
    await this.#halt.begin()
    await this.#register()
    await this.#recover()
    this.#unlisten = store.listen(
      (wake) => this.#heard(wake),
      (queue) => this.#coming(queue),
    )
    this.#settler.start()
    for (const loop of Object.values(this.#loops)) loop.start()
    events.tell('worker.started', { workerId: this.id, slots: start.slots ?? null })
    if (this.#halt.reason !== null) this.#halted(this.#halt.reason)
  }

  /** A worker that fails to start reports its stop, because it is registered by now. */
  async #recover(): Promise<void> {
    try {
      for (const { recovers } of this.options.parts ?? []) await recovers?.(this.#context, this.id)
    } catch (error) {
      await this.#sayStopped()
      throw error
    }
  }

  /** Running attempts have at most this many ms from now to end; by default some kinds get longer. */
  hurry(graceMs: number, { isDefault = false } = {}): void {
    this.#grace.atMost(graceMs)
    if (!isDefault) this.#patience.atMost(graceMs)
  }

  async stop(): Promise<void> {
    const { events, holdings, clock } = this.#context
    const [grace, patience, workerId] = [this.#grace, this.#patience, this.id]
    const longestMs = longestGraceMs(grace, patience, holdings.all())
    events.tell('worker.stopping', { workerId, running: holdings.size, graceMs: longestMs })
    this.#isLeasing = false
    const { fire, lease, reclaim, duties, hear } = this.#loops
    const nothingNew = Promise.all([fire, lease, reclaim, duties, hear].map((loop) => loop.stop()))
    const waiting = (running: number, graceMs: number) => events.tell('worker.waiting', { workerId, running, graceMs })
    const forced = await seeOut(this.#context, { grace, patience, waiting }, nothingNew)
    this.#unlisten()
    const rest = [nothingNew, this.#settler.stop(), ...Object.values(this.#loops).map((loop) => loop.stop())]
    const saidSo = Promise.all(rest).then(() => this.#sayStopped())
    await atMost(clock, goodbyeMsMax, saidSo)
    events.tell('worker.stopped', { workerId, forced })
    this.#hasStopped()
  }

  executorsChanged(): void {
    this.#loops.lease.wake()
    this.#loops.beat.wake()
  }

  /** Resolves when nothing is due, nothing runs, and nothing waits to be written. */
  async quiet(): Promise<void> {
    const { fire, lease, reclaim } = this.#loops
    const loops = [fire, lease, reclaim]
    for (const loop of loops) loop.wake()
    do {
      await this.#context.holdings.empty()
      await turnOfTheEventLoop()
    } while (this.#context.holdings.size > 0 || !this.#settler.isIdle || loops.some((loop) => !loop.isAsleep))
  }

  /**
   * Resolves when everything due has ended, and no run of the queues becomes due within `forMs` of the call. It sleeps until the
   * next such run; a schedule that becomes due meanwhile fires, but is not waited for.
   */
  async workOff(forMs: number): Promise<void> {
    const { store, clock } = this.#context
    const endsAt = clock.monotonic() + forMs
    await this.quiet()
    while (this.#isLeasing) {
      const { now, nextAt } = await store.look(workAhead, this.#can())
      if (nextAt === null || clock.monotonic() + nextAt - now > endsAt) return
      await atMost(clock, nextAt - now, this.stopped)
      await this.quiet()
    }
  }

  #makeLoops(): Readonly<Record<LoopName, Loop>> {
    const context = this.#context
    const workerId = () => this.id
    const jumped = () => this.#loops.renew.wake()
    const met = (others: number) => {
      this.#isAlone = others === 0
    }
    const reclaiming = { context, watch: this.#watch, coroner: this.options.coroner, workerId, jumped, met }
    const firer = new Firer({ context, watch: this.#watch, jumped })
    const beginning = async (by: Firer | Lessor) => (this.#mayBegin ? this.#hearing.atMost(await by.tick()) : null)
    return {
      halt: this.#loop('halt', () => this.#halt.tick()),
      fire: this.#loop('fire', () => beginning(firer)),
      lease: this.#loop('lease', () => beginning(this.#lessor)),
      renew: this.#loop('renew', () => renewTick(context)),
      trust: this.#loop('trust', async () => trustTick(context)),
      cancel: this.#loop('cancel', () => stopTick(context, this.#ids)),
      reclaim: this.#loop('reclaim', () => reclaimTick(reclaiming)),
      duties: this.#loop('duties', () => this.#duties.tick()),
      beat: this.#loop('beat', () => this.#beat()),
      hear: this.#loop('hear', () => this.#hearing.tick(() => this.executorsChanged())),
    }
  }

  #loop(name: LoopName, tick: Tick): Loop {
    const { clock } = this.#context
    return new Loop({
      name,
      clock,
      failed: (...told) => this.#outage.failed(...told),
      tick: async () => {
        const waitMs = await tick()
        this.#outage.answered(name)
        return waitMs
      },
    })
  }

  #halted(reason: string | null): void {
    const { events } = this.#context
    if (reason === null) events.tell('worker.resumed', { workerId: this.id })
    else events.tell('worker.halted', { workerId: this.id, reason })
    for (const loop of [this.#loops.fire, this.#loops.lease, this.#loops.beat]) loop.wake()
  }

  #heard({ what, queues }: Wake): void {
    const { fire, lease, cancel } = this.#loops
    if (what !== 'cancels') this.#hearing.heard()
    if (what === 'schedules' || what === 'anything') fire.wake()
    if (what === 'cancels' || what === 'anything') cancel.wake()
    if (what === 'cancels') return
    this.#lessor.ask(queues ?? 'any')
    // The guess may be wrong. With several workers, all would guess at once and each would lock the queue.
    if (queues === undefined && this.#isAlone) this.#lessor.guess()
    lease.wake()
  }

  /** An idle lessor leases at once; a busy one checks again when the enqueue is announced. */
  #coming(queue: string): void {
    const { lease } = this.#loops
    if (!lease.isAsleep || !this.#lessor.isFreeFor(queue)) return
    this.#lessor.ask([queue])
    lease.wake()
  }

  #can(): Capabilities {
    return lanesOf(this.options.executors)
  }

  /** What other processes know of this worker, including its queues: runs of other queues wait for other workers. A halted one executes nothing. */
  #offer(): Capabilities {
    const { queues } = this.options.start
    const can = this.#halt.reason === null ? this.#can() : { kinds: [] }
    return { ...can, ...(queues === undefined ? {} : { queues }) }
  }

  async #register(): Promise<void> {
    const { store, settings } = this.#context
    const { name, start } = this.options
    const identity = ownIdentity()
    const id = await store.do(registerWorker, {
      name,
      host: hostname(),
      can: this.#offer(),
      beatMs: settings.beatMs,
      halted: this.#halt.reason,
      ...(start.slots === undefined ? {} : { slots: start.slots }),
      ...(identity === null ? {} : { process: identity }),
    })
    this.#ids.push(id)
  }

  /** A worker that slept so long that the store forgot it registers again. */
  async #beat(): Promise<number> {
    const { store, settings } = this.#context
    if (await refreshed(this.options.executors)) this.#loops.lease.wake()
    const { unknown } = await store.beat([this.id], { can: this.#offer(), halted: this.#halt.reason })
    if (unknown.length > 0) await this.#register()
    return settings.beatMs
  }

  #begin(lease: Lease, trustedUntil: number): void {
    const { holdings, clock, settings } = this.#context
    const holding = holdings.add(lease, trustedUntil, settings.leaseMs)
    const startedAt = clock.monotonic()
    // If the answer took long, the trust loop may sleep past the instant until which the lease is trusted.
    if (trustedUntil - startedAt < settings.renewMs) this.#loops.trust.wake()
    const end = this.#carryOut(holding, startedAt)
    if (end instanceof Promise) end.then((later) => this.#ended(holding, later, startedAt))
    else this.#ended(holding, end, startedAt)
  }

  #ended(holding: Holding, end: AttemptEnd, startedAt: number): void {
    const { clock, holdings, signal } = this.#context
    // A run released before it began is over as well: there is nothing to stop.
    if (!holding.isOver) holdings.over(holding)
    signal('run.ended', holding.lease.runId)
    const written = holding.isWatched && end.isWatched !== true ? { ...end, isWatched: true } : end
    this.#settler.add({ holding, end: written, durationMs: Math.round(clock.monotonic() - startedAt) })
  }

  /** Never rejects: an error here is an end of the run. */
  #carryOut(holding: Holding, now: number): AttemptEnd | Promise<AttemptEnd> {
    const { lease } = holding
    if (!this.#mayExecute(holding, now)) return releasedEnd(lease)
    try {
      const isAsked = this.#beginners.some(({ concerns }) => concerns?.(lease) !== false)
      const end = isAsked ? this.#askThenExecute(holding) : this.#execute(holding)
      return end instanceof Promise ? end.catch((error) => this.#defect(lease, error)) : end
    } catch (error) {
      return this.#defect(lease, error)
    }
  }

  /** Not once the worker is stopped, nor when an answer took so long that another worker may have the run by now: nothing has begun, so the run is released untouched. */
  #mayExecute({ trustedUntil }: Holding, now: number): boolean {
    return this.#mayBegin && now < trustedUntil
  }

  #execute(holding: Holding): AttemptEnd | Promise<AttemptEnd> {
    tellStarted(this.#context, holding.lease)
    const asked = concludersFor(holding.lease, this.#concluders)
    const conclude = asked.length === 0 ? null : (end: AttemptEnd) => withLearned(this.#context, holding, asked, end)
    const end = execute(this.#context, holding, conclude)
    // The run was leased for the default length; the length of its kind applies from the next renewal on.
    if (holding.leaseMs > this.#context.settings.leaseMs && !holding.isOver) this.#loops.renew.wake()
    return end
  }

  async #askThenExecute(holding: Holding): Promise<AttemptEnd> {
    const { queue } = holding.lease
    this.#lessor.asked(queue)
    const end = await endBeforeStart(this.#context, holding, this.#beginners)
    if (this.#lessor.answered(queue, { isDeferred: end?.outcome.kind === 'deferred' })) this.#loops.lease.wake()
    if (end !== null) return end
    return this.#mayExecute(holding, this.#context.clock.monotonic())
      ? this.#execute(holding)
      : releasedEnd(holding.lease)
  }

  #defect({ runId, fence, scheduleId }: Lease, error: unknown): AttemptEnd {
    this.#context.events.tell('worker.failed', { loop: 'execute', error: error as Error })
    return { runId, fence, scheduleId, outcome: { kind: 'unknown', reason: `Belfry failed: ${String(error)}` } }
  }

  /**
   * These ends will free slots, and where the store keeps the order, a lease sent now comes after them. Only a worker that is
   * alone does this: otherwise the other workers would never find a free slot in a full queue.
   */
  #ending(queues: ReadonlySet<string>): void {
    if (!this.#isLeasing || !this.#isAlone || !this.#context.store.keepsOrder) return
    if (this.#lessor.askAlong(queues)) this.#loops.lease.wake()
  }

  /** Slots are free again: for this worker at once, and for others if they had found none. */
  #settled(queues: ReadonlySet<string>): void {
    this.#outage.answered('settle')
    if ([...queues].some((queue) => this.#lessor.wasFull(queue))) this.#context.store.wakeOthers()
    if (this.#isLeasing && this.#lessor.askAfter(queues)) this.#loops.lease.wake()
  }

  async #sayStopped(): Promise<void> {
    try {
      await this.#context.store.beat([this.id], { stopped: true })
    } catch (error) {
      // Otherwise other workers notice the missing heartbeats, only later.
      this.#context.events.tell('store.unavailable', { doing: 'stop', error: error as Error })
    }
  }
}
