import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { defaultPolicy, type Policy } from '../../src/core/queue/policy.ts'
import type { OpenOptions } from '../../src/open-store.ts'
import { parts } from '../../src/parts.ts'
import { openStore } from '../../src/store/open-sql-store.ts'
import type { StorePart } from '../../src/store/part.ts'
import type { Lease, LeaseRequest, NewRun, Store } from '../../src/store/port.ts'
import { setQueue } from '../../src/store/queues/set-queue.ts'
import { databaseOf } from '../../src/store/sql-store.ts'
import { all, both, type Row } from '../../src/store/statement.ts'
import { registerWorker } from '../../src/store/workers/register-worker.ts'
import { TestClock } from '../../src/testing/test-clock.ts'

/** A fresh, empty store of one kind, and the ways to reach it from outside. */
export interface Place {
  readonly url: string
  readonly options: OpenOptions
  /** A way to it that can break off; absent where there is no connection to cut. */
  readonly fragile?: FragileWay
  /** Begins a transaction past the store, with the driver alone; absent where nobody else can open the place. */
  transaction?(): Promise<OwnTransaction>
  dispose(): Promise<void>
}

/** Another way to the same place, slower than the direct one, through something that can cut it. */
export interface FragileWay {
  readonly url: string
  /** Cuts the connection at its next commit, before the server has heard of the commit or after it has done it. */
  cutNextCommit(when: 'before' | 'after'): void
}

/** A transaction of the caller's own, which it ends itself. */
export interface OwnTransaction {
  /** What the driver calls it: a `pg` client, or a SQLite handle. */
  readonly handle: unknown
  commit(): Promise<void>
  rollBack(): Promise<void>
}

/** One kind of store under test. */
export interface Subject {
  readonly name: string
  readonly dialect: 'sqlite' | 'postgres'
  /** Whether separate connections and processes can open a place of it. */
  readonly isShared: boolean
  fresh(): Promise<Place>
}

export interface Case {
  readonly name: string
  /** Why a kind of store cannot show this; the case is then reported as skipped, with the reason. */
  readonly skip?: (subject: Subject) => string | undefined
  run(stage: Stage): Promise<void>
}

/** The reason to skip what takes several connections or processes. */
export function cannotShare({ isShared }: Subject): string | undefined {
  return isShared ? undefined : 'it lives in one handle of one process'
}

export const worker = { name: 'conformance', host: 'here', can: { kinds: ['handler'] }, beatMs: 60_000 } as const
export const anyHandler = { kinds: ['handler'] } as const
export const actor = { name: 'conformance', door: 'test' } as const

/** What a case works with: stores on one fresh place, all with one clock unless it asks for the store's own. */
export class Stage {
  readonly subject: Subject
  readonly place: Place
  readonly clock = new TestClock()
  readonly #opened: Store[] = []
  readonly #children: ChildProcess[] = []
  readonly #others: Stage[] = []
  readonly #begun = new Set<OwnTransaction>()
  readonly #childModule: URL
  #shared: Promise<Store> | undefined
  #outside: Promise<Store> | undefined
  #statements = 0
  #claims = 0

  constructor(subject: Subject, place: Place, childModule: URL) {
    this.subject = subject
    this.place = place
    this.#childModule = childModule
  }

  /** A second fresh place of the same kind, which is gone when this one is. */
  async another(): Promise<Stage> {
    const other = new Stage(this.subject, await this.subject.fresh(), this.#childModule)
    this.#others.push(other)
    return other
  }

  /** Several connections to the place, with the stage's clock. */
  openMany(count: number): Promise<Store[]> {
    return Promise.all(Array.from({ length: count }, () => this.open()))
  }

  /** Another connection to the place, with the stage's clock. A store that lives in one handle has only one. */
  open(options: OpenOptions = {}): Promise<Store> {
    return this.#open({ ...this.place.options, clock: this.clock, ...options })
  }

  /** The same for a program with one more part. */
  openWith(part: StorePart): Promise<Store> {
    return this.#open({ ...this.place.options, clock: this.clock }, this.place.url, [...parts, part])
  }

  /** The same, with the clock the store has by itself. */
  openWithOwnClock(): Promise<Store> {
    return this.#open(this.place.options)
  }

  /** A connection that the place can cut. */
  openFragile(): Promise<Store> {
    return this.#open({ ...this.place.options, clock: this.clock }, this.place.fragile?.url)
  }

  async #open(options: OpenOptions, url = this.place.url, brought: readonly StorePart[] = parts): Promise<Store> {
    if (!this.subject.isShared && this.#shared !== undefined) return this.#shared
    const opening = openStore(url, { ...options, parts: brought })
    if (!this.subject.isShared) this.#shared = opening
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

  /** Begins a transaction of a caller's own. One that a case leaves open would keep the place from being removed. */
  async begin(): Promise<OwnTransaction> {
    if (this.place.transaction === undefined)
      throw new Error('A place that can be shared lets others begin transactions.')
    const own = await this.place.transaction()
    const end = async (how: () => Promise<void>) => {
      this.#begun.delete(own)
      await how()
    }
    this.#begun.add(own)
    return { handle: own.handle, commit: () => end(own.commit), rollBack: () => end(own.rollBack) }
  }

  claimId(): string {
    return `claim-${process.pid}-${++this.#claims}`
  }

  async setPolicy(store: Store, policy: Partial<Policy>, queue = 'default'): Promise<void> {
    await store.do(setQueue, queue, { policy: { ...defaultPolicy, ...policy }, actor })
  }

  /** A worker of this store, and a short way to lease for it. */
  async lessor(store: Store, defaults: Partial<LeaseRequest> = {}) {
    const workerId = await store.do(registerWorker, worker)
    const lease = async (limit: number, request: Partial<LeaseRequest> = {}): Promise<Lease[]> => {
      const base = { queue: 'default', workerId, claimId: this.claimId(), can: anyHandler, limit, leaseMs: 30_000 }
      return (await store.lease({ ...base, ...defaults, ...request })).leases
    }
    return { workerId, lease }
  }

  /** Starts a process of its own that works on the place. */
  startChild(task: ChildTask): Child {
    const { url, options } = this.place
    const child = fork(this.#childModule, [JSON.stringify({ url, options, ...task })], {
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.#children.push(child)
    const heard: unknown[] = []
    const ready = once(child, 'message').then(() => undefined)
    const gone = once(child, 'exit').then(([code]) => code as number | null)
    const said = new Promise((resolve, reject) => {
      child.on('message', (message) => {
        if (message === 'ready') return
        heard.push(message)
        resolve(message)
      })
      gone.then(() => reject(new Error(`The process for ${task.task} ended before it had said anything.`)))
    })
    const report = gone.then((code) => {
      if (code !== 0) throw new Error(`The process for ${task.task} ended with code ${code}.`)
      return heard.at(-1)
    })
    // A child that a case kills on purpose has no report, and nobody may be waiting for one.
    for (const unheard of [said, report]) unheard.catch(() => undefined)
    const kill = async () => {
      child.kill('SIGKILL')
      await gone
    }
    return {
      heard,
      ready: Promise.race([ready, gone.then(() => undefined)]),
      said,
      report,
      gone,
      kill,
      goOn: () => child.send('go on'),
    }
  }

  async dispose(): Promise<void> {
    for (const child of this.#children) if (child.exitCode === null) child.kill('SIGKILL')
    await Promise.all(this.#others.map((other) => other.dispose()))
    await Promise.allSettled([...this.#begun].map((own) => own.rollBack()))
    await Promise.allSettled(this.#opened.map((store) => store.close()))
    await this.place.dispose()
  }
}

/** A process that a case has started. */
export interface Child {
  /** All it has said so far, but that it was ready. */
  readonly heard: readonly unknown[]
  /** It has opened the place, or has ended. */
  readonly ready: Promise<void>
  /** The first thing it says after that. */
  readonly said: Promise<unknown>
  /** The last thing it said, once it has ended well. */
  readonly report: Promise<unknown>
  /** Its exit code; `null` when a signal ended it. */
  readonly gone: Promise<number | null>
  kill(): Promise<void>
  /** Lets one that waits for the others begin. */
  goOn(): void
}

/** What a child process is asked to do; see `child.ts`. */
export type ChildTask = { readonly dieAt?: number } & (
  | { readonly task: 'claim'; readonly claimers: number; readonly batchMax: number; readonly seed: number }
  | { readonly task: 'write'; readonly forMs: number }
  | { readonly task: 'migrate' }
  | { readonly task: 'enqueue'; readonly runs: number }
  | { readonly task: 'lease-and-hold'; readonly limit: number; readonly leaseMs: number; readonly fires?: boolean }
  | { readonly task: 'announce-claims'; readonly seed: number }
)

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
