import { BelfryError } from '../src/core/error.ts'
import { formatId, parseId } from '../src/core/id.ts'
import type { EngineEvents, EventName } from '../src/engine/events.ts'
import { turnOfTheEventLoop } from '../src/engine/loop.ts'
import type { Lease, LeaseAnswer, LeaseRequest, ReclaimRequest, Renewal, Store } from '../src/store/port.ts'
import type { WorkerView } from '../src/store/views.ts'
import type { Break } from './brittle-database.ts'
import { StoreClock } from './clock.ts'
import { type Call, isRead } from './faulty-store.ts'
import type { Ground } from './ground.ts'
import { History } from './history.ts'
import { Books } from './invariants/books.ts'
import { Breach } from './invariants/breach.ts'
import type { Deed } from './invariants/deed.ts'
import { Luck } from './luck.ts'
import { Process } from './process.ts'
import { Random } from './random.ts'
import { type Scenery, sceneryOf } from './scenery.ts'
import { seeAnswer, seeDeed } from './sights.ts'
import { Timeline } from './timeline.ts'
import { Wakes } from './wakes.ts'
import { Witness } from './witness.ts'
import { Worker, workerNumber } from './worker.ts'

/** Everybody has so many turns after each step; by then nothing is under way but what this world lets happen. */
const turnsAfterStep = 2
const wholeEvery = 50
const accountsEvery = 4
const admissionEvery = 8
/** A clock that was set further than this cannot be taken for a slow answer. */
const plainJumpMs = 4_500
const quickLookMs = 1_000

/**
 * One history: several workers on one store, people who use it, and everything that goes wrong. All luck comes from the
 * seed and all time from the timeline, so the same seed is the same history.
 */
export class World {
  readonly seed: number
  readonly random: Random
  readonly timeline: Timeline
  readonly history = new History()
  readonly scenery: Scenery
  readonly clock: StoreClock
  readonly store: Store
  readonly books: Books
  readonly luck: Luck
  readonly wakes: Wakes
  readonly witness: Witness
  readonly processes: Process[] = []
  readonly people: Process
  /** Whether work names accounts here. In the other worlds all is as it was before there were any. */
  readonly hasAccounts: boolean
  /** Whether there are calendars, budgets and stops of a part of the work here. */
  readonly hasAdmission: boolean
  /** From here on nothing goes wrong any more, and what was to be done is done. */
  isCalm = false
  readonly #ground: Ground
  readonly #unlisten: () => void
  #breach: Breach | null = null
  #workersMade = 0

  constructor(seed: number, ground: Ground) {
    this.seed = seed
    this.hasAccounts = seed % accountsEvery === accountsEvery - 2
    this.hasAdmission = seed % admissionEvery === 3
    this.random = new Random(seed)
    this.timeline = new Timeline(this.random)
    this.scenery = sceneryOf(this.random)
    this.clock = new StoreClock(this.timeline)
    this.#ground = ground
    this.store = ground.store(this.clock)
    this.books = new Books(ground.handle)
    this.luck = new Luck(this)
    this.wakes = new Wakes(this)
    this.witness = new Witness(this, this.books.runs)
    this.people = new Process(this, 'people')
    this.processes.push(this.people)
    this.#unlisten = this.store.listen((wake) => this.wakes.hear(wake))
  }

  get workers(): Worker[] {
    return this.processes.filter((process): process is Worker => process instanceof Worker && !process.isGone)
  }

  isWorker(process: Process): boolean {
    return process instanceof Worker
  }

  /** Lets the next thing happen. */
  async step(): Promise<void> {
    const happening = this.timeline.next()
    if (happening === null) throw new Error('Nothing is left to happen.')
    const { what, owner, act } = happening
    this.history.step(what, `+${this.timeline.now} ${owner?.name ?? ''} ${what}`)
    await act()
    for (let turn = 0; turn < turnsAfterStep; turn++) await turnOfTheEventLoop()
    this.witness.judge()
    if (this.history.steps % wholeEvery === 0) this.judgeWhole()
    if (this.#breach !== null) throw this.#breach
  }

  judgeWhole(): void {
    this.#judged(() => this.books.judgeWhole(this.clock.now()))
  }

  startWorker(options: { canAll: boolean }): Worker {
    const worker = new Worker(this, `w${++this.#workersMade}`, options)
    this.processes.push(worker)
    this.note(worker, options.canAll ? 'starts' : 'starts, and can do a part of the work')
    worker.start(this)
    return worker
  }

  /** The process is gone between two instructions. Somebody starts another one, sooner or later. */
  crash(process: Process, words: string, replacedAfterMs?: number): void {
    if (process.isGone) return
    this.history.count('fault: crash')
    this.note(process, `dies ${words}`)
    process.die()
    const afterMs = replacedAfterMs ?? this.random.waitMs(this.scenery.settings.leaseMs / 2)
    if (!this.isCalm) this.replace(afterMs)
  }

  replace(afterMs: number): void {
    this.timeline.add(afterMs, null, 'start', () => {
      if (this.isCalm || this.workers.length >= this.scenery.workersMax) return
      this.startWorker({ canAll: this.random.chance(0.7) })
    })
  }

  /** A worker that was told to stop has done so: its program ends. */
  stopped(worker: Worker): void {
    if (worker.isGone) return
    if (this.isCalm && !worker.isHampered) this.#demandNothingLeft(worker)
    worker.die()
    if (!this.isCalm) this.replace(this.random.waitMs(1_000))
  }

  /** I12, of a process: whoever has stopped has no alarm set and waits for no answer. */
  #demandNothingLeft(worker: Worker): void {
    const left = this.timeline.of(worker).filter(({ what }) => what === 'alarm')
    // An end that was written before it was known to be is read, to be told, beside everything else.
    // What the program around it takes in is no concern of the worker.
    const aside = ['read.findRun', 'read.listAttempts', 'enqueue']
    const calls = [...worker.calls].map(({ verb }) => verb).filter((verb) => !aside.includes(verb))
    const facts = () => ({ worker: worker.name, alarmsInMs: left.map(({ at }) => at - this.timeline.now), calls })
    const held = [...this.books.runs.records.values()].filter(({ places: [place] }) => {
      return place?.kind === 'lease' && this.witness.knows(worker, place.row)
    })
    this.demand(held.length === 0, 'a stopped worker has given back what it held', () => ({ ...facts(), held }))
    this.demand(left.length === 0 && calls.length === 0, 'I12 a stopped worker leaves nothing behind', facts)
  }

  isProvenDead(view: WorkerView): boolean {
    const id = workerNumber(view)
    return this.scenery.deathsAreSeen && this.processes.some((one) => one.isGone && one.workerIds.has(id))
  }

  note(process: Process, words: string): void {
    this.history.note(`${process.name} ${words}`)
  }

  /** Records a breach; the step that is under way is its last. */
  broke(breach: Breach): void {
    this.#breach ??= breach
  }

  demand(holds: boolean, invariant: string, facts: () => Readonly<Record<string, unknown>>): void {
    if (!holds) this.broke(new Breach(invariant, facts()))
  }

  #judged(act: () => void): void {
    try {
      act()
    } catch (error) {
      if (!(error instanceof Breach)) throw error
      this.broke(error)
    }
  }

  /** Breaks the transaction that the next call writes in. */
  breakNext(how: Break | null): void {
    this.#ground.database.breakNext(how)
  }

  /** A call has taken effect in the store, whatever its caller will hear of it. */
  tookEffect(call: Call, came: { readonly value: unknown } | { readonly error: unknown }): void {
    const { verb, args, process, madeAt } = call
    if ('error' in came) this.#refused(call, came.error)
    else seeAnswer(this.history, call, came.value)
    if (isRead(verb)) return
    if (verb === 'registerWorker' && 'value' in came)
      process.workerIds.add(parseId('worker', came.value as string) ?? 0)
    if (verb === 'lease') this.witness.claimed(args[0] as LeaseRequest, madeAt)
    const changes = this.#ground.changes.take()
    if (changes.length === 0) return
    this.wakes.changed(process)
    const deed = { verb, args, by: process, now: this.clock.now(), at: this.timeline.now, changes }
    seeDeed(this.history, deed)
    if (verb === 'reclaim') this.#takenBack(deed)
    this.#judged(() => this.books.apply(deed))
  }

  /** It has heard what time it is. What it asked before the clock was set may have been answered from before. */
  #looked(process: Process, madeAt: number): void {
    const isPlain = madeAt > this.clock.setAt && Math.abs(process.unseenJumpMs ?? 0) > plainJumpMs
    if (isPlain) process.jumpSeenAt = this.timeline.now
    // After an answer that took long a process does not know so well what time it was, and may miss what came next.
    process.unseenJumpMs = this.timeline.now - madeAt > quickLookMs ? null : 0
  }

  /** Whoever sees the clock jump knows of nothing that has certainly expired, for the length of a lease. */
  #demandPatience({ name, jumpSeenAt }: Process): void {
    const isPatient = this.timeline.now >= jumpSeenAt + this.scenery.settings.leaseMs
    const facts = () => ({ process: name, jumpSeenAt, now: this.timeline.now })
    this.demand(isPatient, 'after a jump of the clock nothing is taken back for one lease', facts)
  }

  #takenBack({ args, changes, now, by }: Deed): void {
    if ((args[0] as ReclaimRequest).expired === false) return
    for (const { table, before } of changes) {
      if (table !== 'lease' || before === null || before.expires_at > now) continue
      const holder = this.processes.find(({ workerIds }) => workerIds.has(before.worker_id))
      if (holder !== undefined) this.witness.expired(holder, before)
      this.#demandPatience(by as Process)
    }
  }

  /** What the store refuses it refuses in words; anything else is a defect of its own. */
  #refused({ verb, process }: Call, error: unknown): void {
    const isWords = error instanceof BelfryError
    const facts = () => ({ verb, by: process.name, error: (error as Error).stack ?? String(error) })
    this.demand(isWords, 'the store refuses in words', facts)
    this.note(process, `${verb} is refused: ${(error as Error).message}`)
    this.history.count(`refused ${verb}`)
  }

  /** A process hears the answer to its call. */
  answered({ verb, process, madeAt }: Call, value: unknown): void {
    if (verb === 'read.nextInstants') this.#looked(process, madeAt)
    if (verb === 'lease') this.witness.granted(process, (value as LeaseAnswer).leases)
    if (verb === 'read.leasesOf') this.witness.granted(process, value as Lease[])
    if (verb === 'renew') this.witness.renewed(process, value as Renewal[], madeAt)
  }

  /** By a clock that was set back a hold on a key is still ahead, though runs stand behind its gate; then the repair lets them go. */
  mendsSetClock({ what }: EngineEvents['store.repaired']): boolean {
    const { schedules, holds } = this.books
    return what === 'key-gate' && !schedules.isClockSteady && holds.isKeyAhead(this.clock.now())
  }

  /** What a worker has itself brought to its end is never told as lost. */
  lossTold(worker: Worker, { runId, fence, because }: EngineEvents['run.lease-lost']): void {
    const outcome = this.books.runs.byText(runId)?.outcomes.get(fence)
    const isLost = because === 'not-renewed' || outcome === undefined || outcome === 'lost'
    this.demand(isLost, 'what is told as lost was lost', () => ({ by: worker.name, runId, fence, outcome }))
  }

  /** Nobody gives up asking how a run has ended while that can still be asked. */
  forgottenTold(worker: Worker, { runId, fence }: EngineEvents['run.forgotten']): void {
    const run = this.books.runs.byText(runId)
    this.demand(run?.isPruned === true, 'what is told as forgotten is gone', () => ({ by: worker.name, fence, run }))
  }

  /** What a worker tells of an end is what is recorded of it. */
  endTold(worker: Worker, name: EventName, { runId, fence }: EngineEvents['run.completed']): void {
    const run = this.books.runs.byText(runId)
    const isKnown = run?.outcomes.has(fence) === true && (name === 'run.parked' || `run.${run.ended}` === name)
    this.demand(isKnown, 'what is told of an end is what is recorded', () => ({ by: worker.name, name, fence, run }))
  }

  /** The ids of runs that people may speak of: the newest ones. */
  knownRuns(most: number): string[] {
    return [...this.books.runs.records.keys()].slice(-most).map((id) => formatId('run', id))
  }

  leave(): void {
    this.isCalm = true
    for (const process of this.processes) process.die()
    this.#unlisten()
  }
}
