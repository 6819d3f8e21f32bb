import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isPassing } from '../../src/core/error.ts'
import { openStore } from '../../src/open-store.ts'
import type { Store } from '../../src/store/port.ts'
import { listSchedules } from '../../src/store/reads/find-schedule.ts'
import { listRuns } from '../../src/store/reads/list-runs.ts'
import { accountUse } from './account-use.ts'
import { budgetUse } from './budget-use.ts'
import { groupedBy } from './check.ts'
import type { Closure, HeldThen, Interruption, Sample, SchedulePromise } from './history.ts'
import type { House, Place } from './place.ts'
import type { Random } from './random.mjs'
import { type WorkerOptions, WorkerProcess } from './worker-process.ts'
import { Workload } from './workload.ts'

export const leaseMs = 1_000
export const renewMs = 300
const sampleEveryMs = 50
const lookEveryMs = 50
/** Of catching up: more than three missed instants are spread over 30 s. */
const quietMsMax = 90_000
const standbys = 2

export type WorkerChoice = Partial<
  Pick<
    WorkerOptions,
    'isBlind' | 'armAtAck' | 'graceMs' | 'clientMs' | 'busyShare' | 'longShare' | 'accountShare' | 'slots' | 'leaseMs'
  >
>

export interface WorldOptions {
  readonly place: Place
  readonly house: House
  readonly random: Random
  readonly hasSchedules: boolean
}

/** On a busy machine a fresh server may be so slow that the first try is given up. */
async function opened(open: () => Promise<Store>): Promise<Store> {
  for (let tries = 1; ; tries++) {
    try {
      return await open()
    } catch (error) {
      if (!isPassing(error) || tries === 5) throw error
    }
  }
}

const places = ['ready', 'held', 'leased'] as const

/** One round: a store, workers on it, what disturbs them, and what is seen of it. */
export class World {
  readonly place: Place
  readonly house: House
  readonly random: Random
  readonly store: Store
  readonly workload: Workload
  readonly witness: string
  readonly workers = new Set<WorkerProcess>()
  readonly interruptions: Interruption[] = []
  readonly closures: Closure[] = []
  readonly samples: Sample[] = []
  readonly troubles: string[] = []
  /** The most that used the account, whenever it was looked at. */
  accountSampled = 0
  /** The most by which the budget was passed, whenever it was looked at. */
  budgetOver = 0
  promises = new Map<string, SchedulePromise>()
  /** What workers that a fault starts are told, unless it says otherwise. */
  choice: WorkerChoice = {}
  readonly #standby: WorkerProcess[] = []
  #isSampling = true
  #sampling: Promise<void> = Promise.resolve()

  private constructor({ place, house, random }: WorldOptions, store: Store) {
    this.place = place
    this.house = house
    this.random = random
    this.store = store
    this.workload = new Workload(store)
    this.witness = join(house.folder, 'witness')
    writeFileSync(this.witness, '')
  }

  static async open(options: WorldOptions): Promise<World> {
    const { store, schema } = options.house
    const world = new World(options, await opened(() => openStore(store, { schema, connectionsMax: 4 })))
    await world.workload.place(options)
    world.#sampling = world.#sample()
    return world
  }

  /** Starts a worker and answers when it works. The next one is made ready meanwhile. */
  async start(choice: WorkerChoice = {}): Promise<WorkerProcess> {
    const worker = this.#standby.shift() ?? new WorkerProcess()
    while (this.#standby.length < standbys) this.#standby.push(new WorkerProcess())
    this.workers.add(worker)
    void worker.exited.then((code) => {
      this.workers.delete(worker)
      if (!worker.isExpectedToEnd) this.troubles.push(`a worker ended by itself with ${code}`)
    })
    await worker.go({
      store: this.house.store,
      schema: this.house.schema,
      witness: this.witness,
      connectionsMax: 4,
      leaseMs,
      renewMs,
      slots: 6,
      isBlind: false,
      armAtAck: 0,
      graceMs: 1_000,
      clientMs: 100,
      busyShare: 0,
      longShare: 0.04,
      accountShare: 0,
      seed: this.random.whole(1, 2 ** 31),
      ...this.choice,
      ...choice,
    })
    return worker
  }

  async startMany(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.start()))
  }

  pick(isFit: (worker: WorkerProcess) => boolean = () => true): WorkerProcess | undefined {
    return this.random.pick([...this.workers].filter((worker) => worker.workerId !== '' && isFit(worker)))
  }

  /** Kills a worker at once, and notes what it held. */
  async kill(worker: WorkerProcess): Promise<void> {
    const at = Date.now()
    await worker.kill()
    const { workerId } = worker
    this.interruptions.push({ kind: 'kill', at, workerId, held: await this.heldBy(workerId) })
  }

  /** The leases of a worker; of all workers without one. */
  async heldBy(workerId: string | null): Promise<HeldThen[]> {
    const { runs } = await this.patiently(() => this.store.look(listRuns, { status: 'leased', limit: 1_000 }))
    return runs.flatMap(({ id, fence, lease }) => {
      if (lease === null || (workerId !== null && lease.workerId !== workerId)) return []
      return [{ runId: id, fence, expiresAt: lease.expiresAt }]
    })
  }

  /** Asks the store until it answers: whatever was done to it, it must come back. */
  async patiently<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    for (const patience = Date.now() + quietMsMax; ; await sleep(lookEveryMs)) {
      try {
        return await ask()
      } catch (error) {
        if (!isPassing(error) || Date.now() > patience) throw error
      }
    }
  }

  /** No more work is put in, schedules end, and all that was begun comes to its end. */
  async quiet(): Promise<void> {
    for (const worker of this.workers) worker.quiet()
    this.promises = await this.patiently(() => this.workload.end())
    for (const patience = Date.now() + quietMsMax; !(await this.#isQuiet()); await sleep(lookEveryMs)) {
      if (Date.now() < patience) continue
      this.troubles.push(`the store did not come to rest within ${quietMsMax / 1_000} s`)
      return
    }
  }

  /** Ends the workers, which must go cleanly and leave nothing leased. */
  async stopWorkers(): Promise<void> {
    this.#isSampling = false
    await this.#sampling
    for (const worker of this.#standby) await worker.kill()
    const codes = await Promise.all([...this.workers].map((worker) => worker.end()))
    for (const code of codes) if (code !== 0) this.troubles.push(`a worker that was asked to end did so with ${code}`)
  }

  async close(): Promise<void> {
    this.#isSampling = false
    await Promise.all([...this.workers, ...this.#standby].map((worker) => worker.kill()))
    await this.#sampling
    await this.store.close()
    await this.house.close()
  }

  async #isQuiet(): Promise<boolean> {
    return this.patiently(async () => {
      // A run may move between two looks, so that each place is looked at again after the others.
      for (const status of [...places, ...places, ...places]) {
        const { runs, next } = await this.store.look(listRuns, { status, limit: 1 })
        if (runs.length > 0 || next !== null) return false
      }
      const schedules = await this.store.look(listSchedules, { limit: 100 })
      return schedules.every(({ nextRunAt, waitsFor }) => nextRunAt === null && waitsFor === null)
    })
  }

  async #sample(): Promise<void> {
    for (; this.#isSampling; await sleep(sampleEveryMs)) {
      try {
        // One list is one look: all that it holds was leased at the same instant.
        const { runs } = await this.store.look(listRuns, { status: 'leased', limit: 1_000 })
        this.accountSampled = Math.max(this.accountSampled, await accountUse(this.store))
        this.budgetOver = Math.max(this.budgetOver, (await budgetUse(this.store))?.over ?? 0)
        const at = Date.now()
        for (const [queue, inQueue] of groupedBy(runs, (run) => run.queue)) {
          this.samples.push({ queue, key: null, inFlight: inQueue.length, at })
          for (const [key, ofKey] of groupedBy(inQueue, (run) => run.concurrencyKey)) {
            if (key !== null) this.samples.push({ queue, key, inFlight: ofKey.length, at })
          }
        }
      } catch (error) {
        // It is looked at as often as it answers; while it is away nothing can be granted.
        if (!isPassing(error)) this.troubles.push(`the store could not be looked at: ${String(error)}`)
      }
    }
  }
}
