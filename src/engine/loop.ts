import type { Clock } from '../core/clock.ts'

/** Returns in how many ms to tick again: 0 is at once, `null` only when woken. */
export type Tick = () => Promise<number | null>

export interface LoopOptions {
  readonly name: string
  readonly clock: Clock
  readonly tick: Tick
  /** Called with what a tick threw, and how often in a row; returns in how many ms to try again. */
  readonly failed: (loop: string, error: unknown, inARow: number) => number
}

/**
 * Ticks, one at a time: awaits a tick, then sleeps until the instant it returned or until the loop is woken. A wake-up carries no
 * data: a lost one costs time and a doubled one costs a tick. A wake-up during a tick is not lost, because its cause may have
 * come after that tick read the store.
 */
export class Loop {
  readonly #options: LoopOptions
  #isWoken = false
  #failures = 0
  #interrupt: (() => void) | null = null
  #running: Promise<void> | null = null
  #isStopping = false

  constructor(options: LoopOptions) {
    this.#options = options
  }

  /** Whether no tick is running and none was requested. */
  get isAsleep(): boolean {
    return this.#running === null || (this.#interrupt !== null && !this.#isWoken)
  }

  start(): void {
    if (this.#running !== null) return
    this.#isStopping = false
    this.#isWoken = false
    this.#running = this.#run()
  }

  wake(): void {
    this.#isWoken = true
    this.#interrupt?.()
  }

  /** Resolves when the running tick has ended; no further tick follows. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#interrupt?.()
    await this.#running
    this.#running = null
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      this.#isWoken = false
      const waitMs = await this.#tick()
      if (this.#isStopping) return
      if (waitMs === 0 || this.#isWoken) await turnOfTheEventLoop()
      else await this.#sleep(waitMs)
    }
  }

  async #tick(): Promise<number | null> {
    try {
      const waitMs = await this.#options.tick()
      this.#failures = 0
      return waitMs
    } catch (error) {
      return this.#options.failed(this.#options.name, error, ++this.#failures)
    }
  }

  async #sleep(ms: number | null): Promise<void> {
    const { clock } = this.#options
    await new Promise<void>((resolve) => {
      const cancel = ms === null ? () => undefined : clock.after(ms, resolve)
      this.#interrupt = () => {
        cancel()
        resolve()
      }
    })
    this.#interrupt = null
  }
}

/** Lets timers, sockets and other work run. */
export function turnOfTheEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
