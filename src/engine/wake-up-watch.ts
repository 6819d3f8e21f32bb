import type { EngineContext } from './engine-context.ts'

/** While the wake-ups of others do not arrive, the loops look this often. */
const deafPollMs = 1_000
const lookMs = 1_000
/** A listener that is being replaced, or made at the start, is back sooner than this: nothing to tell people of. */
const deafToldMs = 5_000

/** Watches whether the wake-ups of other processes arrive, and makes the loops look often while they do not. */
export class WakeUpWatch {
  readonly #context: EngineContext
  readonly #wakeAll: () => void
  /** Whether they arrived when that was last told; a worker begins before it can know. */
  #isToldGood = true
  #deafSince: number | null = null

  constructor(context: EngineContext, wakeAll: () => void) {
    this.#context = context
    this.#wakeAll = wakeAll
  }

  /** How long a loop that wants to sleep for so long may sleep. */
  atMost(waitMs: number): number {
    return this.#context.store.hears() ? waitMs : Math.min(waitMs, deafPollMs)
  }

  tick(): number {
    const { store, clock } = this.#context
    if (store.hears()) {
      this.#deafSince = null
      this.#tell(true)
      return lookMs
    }
    const now = clock.monotonic()
    // Whatever sleeps long must learn that it may not.
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
