import type { ClockWatch } from './clock-watch.ts'
import type { EngineContext } from './engine-context.ts'
import { HoldWatch } from './hold-watch.ts'
import { readInstants } from './read-instants.ts'

/**
 * Schedules per step. Where this process executes the steps, as on SQLite, more would block it for too long. Where a server does,
 * this process waits for answers, and fewer, larger steps cost both less.
 */
const batchMax = { here: 200, elsewhere: 500 }
/** While the clock is behind: how often to see whether it has caught up. */
const behindPollMs = 1_000
/** While another worker has locked the due schedules: the first and the longest wait. */
const contendedMs = 20
const contendedMsMax = 5_000

export interface FirerOptions {
  readonly context: EngineContext
  readonly watch: ClockWatch
  readonly jumped: () => void
}

/** Fires due schedules, one bounded step at a time, and sleeps until the next instant. */
export class Firer {
  readonly #options: FirerOptions
  readonly #holds: HoldWatch
  #isHeld = false
  #emptySteps = 0

  constructor(options: FirerOptions) {
    this.#options = options
    this.#holds = new HoldWatch(options.context)
  }

  async tick(): Promise<number> {
    const { context, watch, jumped } = this.#options
    const { pollMs } = context.settings
    const instants = await readInstants(context, watch, jumped)
    const { now, scheduleAt, holdAt, behindMs } = instants
    if (this.#isBehind(behindMs)) return Math.min(behindMs, behindPollMs)
    if (await this.#holds.look(instants)) return 0
    if (scheduleAt !== null && scheduleAt <= now) return this.#fire()
    this.#emptySteps = 0
    return Math.min((scheduleAt ?? now + pollMs) - now, (holdAt ?? now + pollMs) - now, pollMs)
  }

  #isBehind(behindMs: number): boolean {
    if (behindMs > 0 && !this.#isHeld) this.#options.context.events.tell('clock.held', { behindMs })
    this.#isHeld = behindMs > 0
    return this.#isHeld
  }

  async #fire(): Promise<number> {
    const { store, events, signal } = this.#options.context
    const fired = await store.fireDue({ limit: store.keepsOrder ? batchMax.here : batchMax.elsewhere })
    for (const { id, schedule, occurrenceAt, source, isAsked } of fired.runs) {
      if (isAsked !== true) events.tell('schedule.fired', { schedule, runId: id, occurrenceAt, source })
    }
    const asked = fired.runs.filter(({ isAsked }) => isAsked === true)
    // One read for all due schedules.
    if (asked.length > 0) events.tell('schedule.asked', { schedules: asked.map(({ schedule }) => schedule) })
    for (const { schedule, from, count, reason } of fired.skipped) {
      events.tell('schedule.skipped', { schedule, from, count, reason })
    }
    for (const broken of fired.broken) events.tell('schedule.broken', broken)
    signal('fire.ticked', fired)
    // Schedules are due but none could be taken: another worker has locked them, and an immediate retry would only get in its
    // way.
    this.#emptySteps = fired.schedules === 0 ? this.#emptySteps + 1 : 0
    return this.#emptySteps === 0 ? 0 : Math.min(contendedMsMax, contendedMs * 2 ** (this.#emptySteps - 1))
  }
}
