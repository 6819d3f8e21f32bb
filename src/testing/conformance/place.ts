import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { defaultPolicy, type Policy } from '../../core/policy.ts'
import { type OpenOptions, openStore } from '../../store/open.ts'
import type { Lease, LeaseRequest, NewRun, Store } from '../../store/port.ts'
import { databaseOf } from '../../store/sql-store.ts'
import { all, both, type Row } from '../../store/statement.ts'
import { TestClock } from '../clock.ts'

/** A fresh, empty store of one kind, and the ways to reach it from outside. */
export interface Place {
  readonly url: string
  readonly options: OpenOptions
  /** Whether separate connections and processes can open it. */
  readonly isShared: boolean
  /**
   * Cuts the connection at the next commit of any store of this place, before the server has heard of the commit or
   * after it has done it; absent where there is no connection to cut.
   */
  cutNextCommit?(when: 'before' | 'after'): void
  dispose(): Promise<void>
}

/** One kind of store under test. */
export interface Subject {
  readonly name: string
  readonly dialect: 'sqlite' | 'postgres'
  fresh(): Promise<Place>
}

export interface Case {
  readonly name: string
  /** Why a kind of store cannot show this; the case is then reported as skipped, with the reason. */
  readonly skip?: (subject: Subject) => string | undefined
  run(stage: Stage): Promise<void>
}

export const worker = { name: 'conformance', host: 'here', can: { kinds: ['handler'] }, beatMs: 60_000 } as const
export const anyHandler = { kinds: ['handler'] } as const
export const actor = { name: 'conformance', door: 'test' } as const

/** What a case works with: stores on one fresh place, all with one clock unless it asks for the store's own. */
export class Stage {
  readonly place: Place
  readonly clock = new TestClock()
  readonly #opened: Store[] = []
  readonly #children: ChildProcess[] = []
  readonly #childModule: URL
  #shared: Promise<Store> | undefined
  #outside: Promise<Store> | undefined
  #statements = 0
  #claims = 0

  constructor(place: Place, childModule: URL) {
    this.place = place
    this.#childModule = childModule
  }

  /** Another connection to the place, with the stage's clock. A store that lives in one handle has only one. */
  open(options: OpenOptions = {}): Promise<Store> {
    return this.#open({ ...this.place.options, clock: this.clock, ...options })
  }

  /** The same, with the clock the store has by itself. */
  openWithOwnClock(): Promise<Store> {
    return this.#open(this.place.options)
  }

  async #open(options: OpenOptions): Promise<Store> {
    if (!this.place.isShared && this.#shared !== undefined) return this.#shared
    const opening = openStore(this.place.url, options)
    if (!this.place.isShared) this.#shared = opening
    const store = await opening
    this.#opened.push(store)
    return store
  }

  /** Runs a statement behind the stores' backs, to look or to sabotage. Tables are written `belfry.run`. */
  async sql(text: string): Promise<Row[]> {
    this.#outside ??= this.openWithOwnClock()
    const statement = both(`conformance ${++this.#statements}`, text)
    return databaseOf(await this.#outside).write(() => all(statement))
  }

  claimId(): string {
    return `claim-${process.pid}-${++this.#claims}`
  }

  async setPolicy(store: Store, policy: Partial<Policy>, queue = 'default'): Promise<void> {
    await store.setQueue(queue, { policy: { ...defaultPolicy, ...policy }, actor })
  }

  /** A worker of this store, and a short way to lease for it. */
  async lessor(store: Store, defaults: Partial<LeaseRequest> = {}) {
    const workerId = await store.registerWorker(worker)
    const lease = async (limit: number, request: Partial<LeaseRequest> = {}): Promise<Lease[]> => {
      const base = { queue: 'default', workerId, claimId: this.claimId(), can: anyHandler, limit, leaseMs: 30_000 }
      return (await store.lease({ ...base, ...defaults, ...request })).leases
    }
    return { workerId, lease }
  }

  /** Starts a process of its own that works on the place; `report` is what it sends last. */
  startChild(task: ChildTask): { child: ChildProcess; report: Promise<unknown>; ready: Promise<void> } {
    const { url, options } = this.place
    const child = fork(this.#childModule, [JSON.stringify({ url, options, ...task })], {
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.#children.push(child)
    let reported: unknown
    let markReady: () => void = () => undefined
    const ready = new Promise<void>((resolve) => {
      markReady = resolve
    })
    child.on('message', (message) => {
      if (message === 'ready') markReady()
      else reported = message
    })
    const report = once(child, 'exit').then(([code]) => {
      markReady()
      if (code !== 0) throw new Error(`The process for ${task.task} ended with code ${code}.`)
      return reported
    })
    // A child that a case kills on purpose has no report, and nobody may be waiting for one.
    report.catch(() => undefined)
    return { child, report, ready }
  }

  async dispose(): Promise<void> {
    for (const child of this.#children) if (child.exitCode === null) child.kill('SIGKILL')
    await Promise.allSettled(this.#opened.map((store) => store.close()))
    await this.place.dispose()
  }
}

/** What a child process is asked to do; see `child.ts`. */
export type ChildTask =
  | { readonly task: 'claim'; readonly claimers: number; readonly batchMax: number; readonly seed: number }
  | { readonly task: 'write'; readonly forMs: number }
  | { readonly task: 'migrate' }
  | { readonly task: 'lease-and-hold'; readonly limit: number; readonly leaseMs: number }

export function noop(extra: Partial<NewRun> = {}): NewRun {
  return { target: { handler: 'noop' }, ...extra }
}

export async function enqueueMany(store: Store, count: number, make: (index: number) => NewRun): Promise<string[]> {
  const ids: string[] = []
  for (let from = 0; from < count; from += 1_000) {
    const runs = Array.from({ length: Math.min(1_000, count - from) }, (_, index) => make(from + index))
    ids.push(...(await store.enqueue(runs)).map(({ id }) => id))
  }
  return ids
}

/** A small generator of numbers that look random and come again with the same seed. */
export function seeded(seed: number): (below: number) => number {
  let state = seed >>> 0 || 1
  return (below) => {
    state ^= state << 13
    state >>>= 0
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state % below
  }
}
