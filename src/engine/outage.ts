import { isPassing } from '../core/error.ts'
import type { EngineContext } from './engine-context.ts'

const firstPauseMs = 100
const pauseMsMax = 5_000
const defectPauseMs = 1_000

/**
 * What the loops do when the store does not answer: it is reported once, however many of them fail, and each retries at
 * growing intervals. The outage is over when all loops that failed have succeeded.
 */
export class Outage {
  readonly #context: Pick<EngineContext, 'events' | 'clock' | 'settings'>
  readonly #failing = new Set<string>()
  #since = 0

  constructor(context: Pick<EngineContext, 'events' | 'clock' | 'settings'>) {
    this.#context = context
  }

  /** Returns in how many ms to try again. */
  failed(loop: string, error: unknown, inARow: number): number {
    const { events, clock } = this.#context
    if (!isPassing(error)) {
      events.tell('worker.failed', { loop, error: error instanceof Error ? error : new Error(String(error)) })
      return defectPauseMs
    }
    if (this.#failing.size === 0) {
      this.#since = clock.monotonic()
      events.tell('store.unavailable', { doing: loop, error: error as Error })
    }
    this.#failing.add(loop)
    // Leases expire while their renewal pauses, so the renewal gets several tries while the leases are
    // still trusted.
    const most = loop === 'renew' ? this.#context.settings.renewMs / 4 : pauseMsMax
    return Math.min(most, firstPauseMs * 2 ** (inARow - 1))
  }

  answered(loop: string): void {
    if (!this.#failing.delete(loop) || this.#failing.size > 0) return
    this.#context.events.tell('store.back', { afterMs: Math.round(this.#context.clock.monotonic() - this.#since) })
  }
}
