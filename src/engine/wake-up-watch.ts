import type { EngineContext } from './engine-context.ts'
import { refreshed } from './execute-run.ts'

/** How often the loops tick while notifications from other processes do not arrive. */
const deafPollMs = 1_000
const lookMs = 1_000
/** A listener that is starting or being replaced is back sooner than this, and is not reported. */
const deafToldMs = 5_000

/** Watches whether notifications from other processes arrive, and makes the loops poll while they do not. */
export class WakeUpWatch {
  readonly #context: EngineContext
  readonly #wakeAll: () => void
  /** The last reported state; a worker starts before the state is known. */
  #isToldGood = true
  #deafSince: number | null = null
  #hasHeard = false

  constructor(context: EngineContext, wakeAll: () => void) {
    this.#context = context
    this.#wakeAll = wakeAll
  }

  /** How long a loop may sleep that wants to sleep this long. */
  atMost(waitMs: number): number {
    return this.#context.store.hears() ? waitMs : Math.min(waitMs, deafPollMs)
  }

  /** A wake-up arrived: there may be something new to execute. */
  heard(): void {
    this.#hasHeard = true
  }

  /** Executors are asked at the tick, not at the wake-up: hundreds of wake-ups may arrive within a second. */
  async tick(learned: () => void): Promise<number> {
    const hasHeard = this.#hasHeard
    this.#hasHeard = false
    if (hasHeard && (await refreshed(this.#context.executors))) learned()
    return this.#listened()
  }

  #listened(): number {
    const { store, clock } = this.#context
    if (store.hears()) {
      this.#deafSince = null
      this.#tell(true)
      return lookMs
    }
    const now = clock.monotonic()
    // Loops that planned a long sleep must start to poll.
    if (this.#deafSince === null) this.#wakeAll()
    this.#deafSince ??= now
    if (now - this.#deafSince >= deafToldMs) this.#tell(false)
    return lookMs
  }

  #tell(hears: boolean): void {
    if (hears === this.#isToldGood) return
    this.#isToldGood = hears
    this.#context.events.tell('store.hears', { hears })
  }
}
