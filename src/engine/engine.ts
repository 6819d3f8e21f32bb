import { hostname } from 'node:os'
import type { Clock } from '../core/clock.ts'
import { BelfryError } from '../core/error.ts'
import type { Store } from '../store/port.ts'
import type { Events } from './events.ts'
import type { Executors } from './execute.ts'
import type { Coroner } from './reclaim.ts'
import { type EngineSettings, settingsOf } from './settings.ts'
import { noSignal, type Signal } from './signals.ts'
import { type StartOptions, Worker } from './worker.ts'

export type { Executors } from './execute.ts'
export type { Coroner } from './reclaim.ts'
export type { EngineSettings } from './settings.ts'
export type { StartOptions } from './worker.ts'

export interface EngineOptions {
  readonly store: Store
  readonly clock: Clock
  readonly executors: Executors
  readonly events: Events
  readonly coroner: Coroner
  readonly settings?: Partial<EngineSettings>
  /** Names the worker for people. */
  readonly name?: string
  /** For tests and the simulator. */
  readonly signal?: Signal
}

export const graceMsDefault = 25_000

/**
 * One worker at a time: fires what is due, leases what is ready, executes it, and writes down how it ended. Each start
 * makes a new worker with an id of its own, so that nobody takes it for one that died.
 */
export class Engine {
  readonly #options: EngineOptions
  readonly #settings: EngineSettings
  #worker: Worker | null = null
  #starting: Promise<void> | null = null
  #stopping: Promise<void> | null = null

  constructor(options: EngineOptions) {
    this.#options = options
    this.#settings = settingsOf(options.settings)
  }

  get workerId(): string | null {
    return this.#worker?.id ?? null
  }

  get isRunning(): boolean {
    return this.#worker !== null && this.#stopping === null
  }

  /** Idempotent: a second call answers when the first has. */
  async start(options: StartOptions = {}): Promise<void> {
    await this.#stopping
    this.#starting ??= this.#start(options).catch((error: unknown) => {
      this.#starting = null
      throw error
    })
    return this.#starting
  }

  /**
   * Stops leasing, lets what runs come to its end within the grace, then stops that too and gives it back. Another call
   * with a shorter grace hurries the first.
   */
  async stop({ graceMs = graceMsDefault }: { graceMs?: number } = {}): Promise<void> {
    if (!Number.isSafeInteger(graceMs) || graceMs < 0) {
      throw new BelfryError('invalid', `graceMs is ${graceMs}; it must be a whole number of ms, 0 or more.`)
    }
    // A start that is under way comes to its end first; if it fails, there is nothing to stop.
    await this.#starting?.catch(() => undefined)
    if (this.#worker === null) return
    this.#worker.hurry(graceMs)
    this.#stopping ??= this.#worker.stop().finally(() => {
      this.#worker = null
      this.#starting = null
      this.#stopping = null
    })
    return this.#stopping
  }

  /** Tells the worker that it can do more than when it started. */
  executorsChanged(): void {
    this.#worker?.executorsChanged()
  }

  /** Does all that is due at this instant and answers when all of it has ended: for tests, with a clock that stands. */
  async drain(): Promise<void> {
    const isOwn = !this.isRunning
    if (isOwn) await this.start()
    try {
      await this.#worker?.quiet()
    } finally {
      if (isOwn) await this.stop({ graceMs: 0 })
    }
  }

  async #start(options: StartOptions): Promise<void> {
    const { name = `${hostname()}-${process.pid}`, signal = noSignal } = this.#options
    options.signal?.throwIfAborted()
    const worker = new Worker({ ...this.#options, name, signal, settings: this.#settings, start: options })
    await worker.start()
    this.#worker = worker
    const { signal: abort } = options
    if (abort === undefined) return
    const stop = () =>
      void this.stop().catch((error: Error) => this.#options.events.tell('worker.failed', { loop: 'stop', error }))
    if (abort.aborted) stop()
    else abort.addEventListener('abort', stop, { once: true })
  }
}
