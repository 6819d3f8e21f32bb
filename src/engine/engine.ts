import { hostname } from 'node:os'
import type { Clock } from '../core/clock.ts'
import { BelfryError } from '../core/error.ts'
import type { Store } from '../store/port.ts'
import type { Events } from './events.ts'
import type { Executors } from './execute-run.ts'
import type { HaltOptions } from './halt.ts'
import type { EnginePart } from './part.ts'
import type { Coroner } from './reclaim-tick.ts'
import { type EngineSettings, settingsOf } from './settings.ts'
import { noSignal, type Signal } from './signals.ts'
import { type StartOptions, Worker } from './worker.ts'

export type { Executors } from './execute-run.ts'
export { type HaltOptions, haltReason } from './halt.ts'
export type { Coroner } from './reclaim-tick.ts'
export type { EngineSettings } from './settings.ts'
export type { StartOptions } from './worker.ts'

export interface EngineOptions {
  readonly store: Store
  readonly clock: Clock
  readonly executors: Executors
  readonly events: Events
  readonly coroner: Coroner
  readonly settings?: Partial<EngineSettings>
  readonly parts?: readonly EnginePart[]
  /** The worker's name for people. */
  readonly name?: string
  /** A stop of this process or machine, whatever the store says. */
  readonly halt?: HaltOptions
  /** For tests and the simulator. */
  readonly signal?: Signal
}

export const graceMsDefault = 25_000

/**
 * One worker at a time: fires due schedules, leases ready runs, executes them, and records how they ended. Each start makes a new
 * worker with its own id, so that it is not mistaken for one that died. Starts and stops run one after the other, in call order:
 * the last call counts.
 */
export class Engine {
  readonly #options: EngineOptions
  readonly #settings: EngineSettings
  #worker: Worker | null = null
  #isStopping = false
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: EngineOptions) {
    this.#options = options
    this.#settings = settingsOf(options.settings)
  }

  get workerId(): string | null {
    return this.#worker?.id ?? null
  }

  get isRunning(): boolean {
    return this.#worker !== null && !this.#isStopping
  }

  /** A running worker continues unchanged; it is not started with other options. */
  start(options: StartOptions = {}): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#worker === null) await this.#start(options)
      else refuseOther(this.#worker.options.start, options)
    })
  }

  /**
   * Stops leasing, lets runs finish within the grace period, then stops and releases the rest. Another call with a shorter grace
   * period shortens the first.
   */
  async stop({ graceMs: given }: { graceMs?: number } = {}): Promise<void> {
    const graceMs = given ?? graceMsDefault
    const isDefault = given === undefined
    if (!Number.isSafeInteger(graceMs) || graceMs < 0) {
      throw new BelfryError('invalid', `graceMs is ${graceMs}; it must be a whole number of ms, 0 or more.`)
    }
    if (this.#isStopping) this.#worker?.hurry(graceMs, { isDefault })
    return this.#inTurn(async () => {
      const worker = this.#worker
      if (worker === null) return
      this.#isStopping = true
      try {
        worker.hurry(graceMs, { isDefault })
        await worker.stop()
      } finally {
        this.#worker = null
        this.#isStopping = false
      }
    })
  }

  /** Tells the worker that it has more executors than when it started. */
  executorsChanged(): void {
    this.#worker?.executorsChanged()
  }

  /**
   * Executes everything due, and waits for runs (retries, delayed ones) that become due within `forMs`. Resolves when all of it
   * has ended.
   */
  async drain({ forMs = 0 }: { forMs?: number } = {}): Promise<void> {
    const isOwn = !this.isRunning
    if (isOwn) await this.start()
    try {
      await this.#worker?.workOff(forMs)
    } finally {
      if (isOwn) await this.stop({ graceMs: 0 })
    }
  }

  #inTurn(act: () => Promise<void>): Promise<void> {
    const done = this.#last.then(act)
    this.#last = done.catch(() => undefined)
    return done
  }

  async #start(options: StartOptions): Promise<void> {
    const { name = `${hostname()}-${process.pid}`, signal = noSignal } = this.#options
    const { signal: abort } = options
    abort?.throwIfAborted()
    const worker = new Worker({ ...this.#options, name, signal, settings: this.#settings, start: options })
    await worker.start()
    this.#worker = worker
    if (abort === undefined) return
    const stop = () => void this.stop().catch((error: Error) => this.#failed(error))
    abort.addEventListener('abort', stop, { once: true })
    worker.stopped.then(() => abort.removeEventListener('abort', stop))
    if (abort.aborted) stop()
  }

  #failed(error: Error): void {
    this.#options.events.tell('worker.failed', { loop: 'stop', error })
  }
}

function refuseOther(running: StartOptions, asked: StartOptions): void {
  const differs = (['slots', 'queues'] as const).filter((name) => {
    return asked[name] !== undefined && JSON.stringify(asked[name]) !== JSON.stringify(running[name])
  })
  if (differs.length === 0) return
  throw new BelfryError('conflict', `This worker runs already, with other ${differs.join(' and ')}.`, {
    hint: 'Stop it first, then start it with the new options.',
  })
}
