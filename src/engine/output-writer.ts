import { pause } from '../core/clock.ts'
import { isPassing } from '../core/error.ts'
import type { EngineContext } from './engine-context.ts'
import { Backlog } from './leases/backlog.ts'
import type { Holding } from './leases/holdings.ts'
import { loseHolding } from './leases/lose-holding.ts'

const writeEveryMs = 250
const writeLengthMin = 64 * 1024
/** A source that is faster than the store has to wait above this size. */
const heldLengthMax = 4 * writeLengthMin
const tryAgainMs = 500

/**
 * Writes the output of an attempt to the store while it runs: at most every 250 ms, sooner when 64 KB have gathered. One write is
 * in flight at a time, so that a flood makes larger writes and not more of them.
 */
export class OutputWriter {
  readonly #context: EngineContext
  readonly #holding: Holding
  readonly #backlog = new Backlog()
  #writing: Promise<void> | null = null
  #cancelTimer: (() => void) | null = null
  #isClosed = false
  readonly #waiting = new Set<() => void>()

  constructor(context: EngineContext, holding: Holding) {
    this.#context = context
    this.#holding = holding
  }

  /** Output after the end of the attempt, or without its lease, is dropped. */
  write(text: string): void {
    if (this.#isClosed || this.#holding.isLost || text === '') return
    this.#backlog.add(text)
    if (this.#writing !== null) return
    if (this.#backlog.length >= writeLengthMin) this.#begin()
    else this.#cancelTimer ??= this.#context.clock.after(writeEveryMs, () => this.#begin())
  }

  async drained(): Promise<void> {
    while (this.#backlog.length > heldLengthMax && !this.#isClosed && !this.#holding.isLost) {
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve)
      })
    }
  }

  /** Writes the rest; nothing of an attempt may be written after its end. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#tellWaiting()
    while (this.#writing !== null || this.#backlog.length > 0) {
      this.#begin()
      await this.#writing
    }
  }

  #begin(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = null
    if (this.#writing !== null || this.#backlog.length === 0) return
    this.#writing = this.#write().finally(() => {
      this.#writing = null
      this.#tellWaiting()
      if (this.#backlog.length >= writeLengthMin) this.#begin()
      else if (this.#backlog.length > 0)
        this.#cancelTimer ??= this.#context.clock.after(writeEveryMs, () => this.#begin())
    })
  }

  async #write(): Promise<void> {
    const chunk = this.#backlog.take()
    while (!this.#holding.isLost) {
      try {
        if ((await this.#context.store.appendOutput(this.#holding.lease, chunk)) === 'written') return
        loseHolding(this.#context, this.#holding)
      } catch (error) {
        if (!isPassing(error))
          return this.#context.events.tell('worker.failed', { loop: 'output', error: error as Error })
        await pause(this.#context.clock, tryAgainMs)
      }
    }
  }

  #tellWaiting(): void {
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }
}
