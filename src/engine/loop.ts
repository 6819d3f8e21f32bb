import type { Clock } from '../core/clock.ts'

/** Answers in how many ms it wants to look again: 0 is at once, `null` only when it is woken. */
export type Tick = () => Promise<number | null>

export interface LoopOptions {
  readonly name: string
  readonly clock: Clock
  readonly tick: Tick
  /** Told what a tick threw, and how often in a row; answers in how many ms to try again. */
  readonly failed: (loop: string, error: unknown, inARow: number) => number
}

/**
 * Ticks, one at a time: await a tick, then sleep until the instant it named or until the loop is woken. Events
 * wake, ticks act: a wake-up says nothing but "look", so that losing one costs time and doubling one costs a look. A
 * wake-up that comes while a tick is under way is not lost, because what it is about may have come after that tick read.
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

  /** Nothing is under way and nothing was asked for. */
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

  /** Answers when the tick that is under way has ended; none follows. */
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

/** Lets timers, sockets and other work have their turn. */
export function turnOfTheEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
