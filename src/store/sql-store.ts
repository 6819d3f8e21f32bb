import { BelfryError, isPassing } from '../core/error.ts'
import { auditedStore } from './audit/audited.ts'
import type { Database } from './database-port.ts'
import type { StoreCondition } from './health-views.ts'
import { lease } from './leases/lease.ts'
import type { Leased } from './leases/lease-at-once.ts'
import { setApart } from './leases/lease-unfit.ts'
import { reclaim } from './leases/reclaim.ts'
import { renew } from './leases/renew.ts'
import { mayBePlain, settle, settlePlain, settleTogether } from './leases/settle.ts'
import { Listeners } from './news.ts'
import type {
  AttemptEnd,
  AuditEntry,
  Enqueued,
  EnqueueOptions,
  LeaseAnswer,
  LeaseRequest,
  NewRun,
  Settled,
  Store,
  Wake,
} from './port.ts'
import { prune } from './prune/prune.ts'
import { tableCondition } from './reads/health/table-condition.ts'
import { rehearsalOf } from './rehearsal.ts'
import { appendOutput } from './runs/append-output.ts'
import { enqueue } from './runs/enqueue.ts'
import { enqueueLone, isLone, isTaken, type LoneAnswer, LoneRun } from './runs/lone-run.ts'
import { fireDue } from './schedules/fire-due.ts'
import type { Step } from './statement.ts'
import type { StoreContext } from './store-context.ts'
import type { Read, Verb } from './verb.ts'
import { type News, noting, queuesOf, wakingOthers } from './wake.ts'
import { beat } from './workers/register-worker.ts'

type Steps<Args extends unknown[], Result> = (context: StoreContext, ...args: Args) => Step<Result>
type Method<Name extends keyof Store> = Store[Name]

const databases = new WeakMap<Store, Database>()

/** The database behind a store, for tests that must bypass the port. */
export function databaseOf(store: Store): Database {
  const database = databases.get(store)
  if (database === undefined) throw new Error('That store was not opened by openStore.')
  return database
}

/** The port over a database: each method is one verb in one transaction. */
export class SqlStore implements Store {
  readonly #database: Database
  readonly #context: StoreContext
  readonly #listeners = new Listeners()
  /** The latest lone run. */
  #loneRun: LoneRun | null = null
  #stopListening: (() => void) | undefined
  #isClosed = false

  constructor(database: Database, context: Omit<StoreContext, 'policies'>) {
    this.#database = database
    this.#context = { ...context, policies: database.keepsOrder === true ? null : new Map() }
    databases.set(this, database)
  }

  get place(): string {
    return this.#database.place
  }

  get namespace(): string {
    return this.#context.namespace
  }

  get keepsOrder(): boolean {
    return this.#database.keepsOrder === true
  }

  enqueue(runs: readonly NewRun[], { transaction }: EnqueueOptions = {}) {
    if (transaction === undefined) {
      return isLone(runs) && this.#listeners.awaitArrivals ? this.#enqueueLone(runs) : this.#enqueue(runs)
    }
    const lent = { ...this.#context, isLent: true }
    return this.#database.within(transaction, () => wakingOthers(enqueue(lent, runs)))
  }

  #enqueue(runs: readonly NewRun[]): Promise<Enqueued[]> {
    return this.#written(enqueue, [runs], (answers) => ({ queues: queuesOf(runs, answers) }))
  }

  async #enqueueLone(runs: readonly [NewRun]): Promise<Enqueued[]> {
    const lone = new LoneRun(runs[0])
    this.#loneRun = lone
    this.#listeners.tellComing(lone.queue)
    const alone = (request: LeaseRequest) => this.#lease(request)
    const joined = (leased: Leased) => (request: LeaseRequest) => this.#withoutUnread(request, leased)
    let done: LoneAnswer
    try {
      done = await this.#written(enqueueLone, [runs, { lone, waitsForAnswers: !this.keepsOrder }], (tried) => {
        return isTaken(tried) ? aboutLease(tried.leased) : { queues: queuesOf(runs, tried.answers ?? []) }
      })
    } catch (error) {
      // The enqueue may have failed before it began; a lease that joined it after that would never be
      // answered.
      lone.begin()
      // In these cases it is unknown what was written, or nothing can be written. Otherwise one of the two failed, and
      // each is repeated alone.
      const concernsBoth = !lone.isJoined || this.#concernsAll(error)
      lone.answer(concernsBoth ? () => Promise.reject(error) : alone)
      if (concernsBoth) throw error
      return this.#enqueue(runs)
    }
    lone.answer(done.leased === null ? alone : joined(done.leased))
    return done.answers ?? this.#enqueue(runs)
  }

  async settle(ends: readonly AttemptEnd[]): Promise<Settled[]> {
    if (!this.keepsOrder) return this.#settleApart(ends)
    try {
      return await this.do(settleTogether, ends)
    } catch (error) {
      if (this.#concernsAll(error)) throw error
      return this.#settleApart(ends)
    }
  }

  async #settleApart(ends: readonly AttemptEnd[]): Promise<Settled[]> {
    const answers = await this.#settlePlain(ends.filter(mayBePlain))
    const rest = ends.filter((end) => !answers.has(end))
    try {
      if (rest.length > 0) await this.#settleOrHalve(rest, answers)
    } catch (error) {
      throw answers.size > 0 && isPassing(error) ? partlyWritten(error) : error
    }
    return ends.map((end) => answers.get(end) as Settled)
  }

  /** Ends that cannot be settled plainly, or that fail, are left to the general step. */
  async #settlePlain(ends: readonly AttemptEnd[]): Promise<Map<AttemptEnd, Settled>> {
    if (ends.length === 0) return new Map()
    try {
      return await this.do(settlePlain, ends)
    } catch (error) {
      if (this.#concernsAll(error)) throw error
      return new Map()
    }
  }

  lease: Method<'lease'> = (request) => this.#loneRun?.join(request) ?? this.#lease(request)

  async #lease(request: LeaseRequest): Promise<LeaseAnswer> {
    return this.#withoutUnread(request, await this.#written(lease, [request], aboutLease))
  }

  /**
   * Parks runs that were leased before they were read, and are unreadable. The readable runs of the same lease are unaffected. If
   * parking fails, the lease of the unreadable run expires, and the next worker finds it again.
   */
  async #withoutUnread(request: LeaseRequest, { unread, ...answer }: Leased): Promise<LeaseAnswer> {
    if (unread === undefined) return answer
    const broken = await this.do(setApart, request.claimId, unread).catch(() => [])
    return { ...answer, broken, more: true }
  }

  do<Args extends unknown[], Result>(verb: Verb<Args, Result>, ...args: Args): Promise<Result> {
    return this.#written(verb, args, (result) => verb.wakes?.(result, args) ?? {})
  }

  look<Args extends unknown[], Result>(read: Read<Args, Result>, ...args: Args): Promise<Result> {
    const step = () => read(this.#context, ...args)
    return read.seesCommits === true ? this.#database.write(step) : this.#database.read(step)
  }

  async condition(): Promise<StoreCondition> {
    return { database: await this.#database.condition(), ...(await this.look(tableCondition)) }
  }

  damage(): Promise<string | null> {
    return this.#database.damage()
  }

  renew: Method<'renew'> = (leases, leaseMs) => this.do(renew, leases, leaseMs)
  reclaim: Method<'reclaim'> = (request) => this.do(reclaim, request)
  appendOutput: Method<'appendOutput'> = (name, chunk) => this.do(appendOutput, name, chunk)
  fireDue: Method<'fireDue'> = (request) => this.do(fireDue, request)
  beat: Method<'beat'> = (workerIds, options) => this.do(beat, workerIds, options)
  prune: Method<'prune'> = async (request) => {
    const pruned = await this.do(prune, request)
    if (pruned.next === null) await this.#database.trimLog()
    return pruned
  }

  listen(heard: (wake: Wake) => void, coming?: (queue: string) => void): () => void {
    const listener = { heard, coming }
    this.#listeners.add(listener)
    if (!this.#isClosed) {
      this.#stopListening ??= this.#database.listen((what) => this.#listeners.tell({ from: 'elsewhere', what }))
    }
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.isEmpty) this.#stopHearing()
    }
  }

  #stopHearing(): void {
    this.#stopListening?.()
    this.#stopListening = undefined
  }

  hears(): boolean {
    return this.#database.hears()
  }

  wakeOthers(): void {
    this.#database.wakeOthers(['work'])
  }

  audited(entry: AuditEntry): Store {
    return auditedStore(this, entry, (verb, args, about = () => ({})) => this.#written(verb, args, about))
  }

  rehearsal(): Store {
    return rehearsalOf(this, this.#database, this.#context)
  }

  close(): Promise<void> {
    this.#isClosed = true
    this.#stopHearing()
    return this.#database.close()
  }

  /** Writes, then wakes sleeping workers for what may start sooner, unless `about` returns null. */
  async #written<Args extends unknown[], Result>(
    verb: Steps<Args, Result>,
    args: Args,
    about: (result: Result) => Pick<Wake, 'queues'> | null,
  ): Promise<Result> {
    let news: News = new Set()
    const result = await this.#database.write(() => {
      // A step that conflicted with another is repeated from its beginning.
      news = new Set()
      return noting(verb(this.#context, ...args), news)
    })
    const told = news.size === 0 ? null : about(result)
    if (told === null) return result
    for (const what of news) this.#listeners.tell({ from: 'here', what, ...told })
    this.#database.wakeOthers(news)
    return result
  }

  /** The database did not answer, or its answer is unknown; a retry with fewer rows would not help. */
  #concernsAll(error: unknown): boolean {
    return isPassing(error) || this.#isClosed
  }

  /** A failed batch is halved, so that one row that cannot be written does not stop the others. */
  async #settleOrHalve(ends: readonly AttemptEnd[], answers: Map<AttemptEnd, Settled>): Promise<void> {
    try {
      const settled = await this.do(settle, ends)
      for (const [index, end] of ends.entries()) answers.set(end, settled[index] as Settled)
    } catch (error) {
      if (this.#concernsAll(error)) throw error
      const [end] = ends
      if (end === undefined) throw error
      if (ends.length === 1) {
        answers.set(end, { runId: end.runId, fence: end.fence, answer: 'refused', error: error as Error })
        return
      }
      const half = Math.ceil(ends.length / 2)
      await this.#settleOrHalve(ends.slice(0, half), answers)
      await this.#settleOrHalve(ends.slice(half), answers)
    }
  }
}

/** Part of the batch was committed, so the error must not read as if nothing had happened. */
function partlyWritten(cause: BelfryError): BelfryError {
  return new BelfryError('commit-unknown', `A part of it was written before this error: ${cause.message}`, { cause })
}

/**
 * New runs in line need no wake-up, because the lease takes them itself; only the ends of runs that it did
 * not lease may let others start.
 */
function aboutLease(leased: LeaseAnswer | null): Pick<Wake, 'queues'> | null {
  return leased !== null && leased.skipped.length + leased.broken.length > 0 ? {} : null
}
