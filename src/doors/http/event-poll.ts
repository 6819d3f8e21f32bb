import type { Clock } from '../../core/clock.ts'
import { compareCursors, type EventCursor, type EventPage, eventsSince } from '../../operations/events-since.ts'
import type { OperationContext } from '../../operations/operation-context.ts'

/** How soon events of other processes are seen. */
const lookMs = 250
export const pageMax = 500

interface Waiter {
  readonly place: EventCursor
  readonly answer: (page: EventPage | null) => void
  readonly fail: (error: unknown) => void
}

/** One poll for all listeners that are up to date: it costs the same for one and for a hundred. Each keeps its own cursor, and one that fell behind reads on its own until it has caught up. */
export class EventPoll {
  readonly #context: OperationContext
  readonly #clock: Clock
  readonly #waiting = new Set<Waiter>()
  /** The cursor up to which every waiting listener has been served. */
  #told: EventCursor | null = null
  #forget: (() => void) | null = null

  constructor(context: OperationContext) {
    this.#context = context
    this.#clock = context.clock
  }

  /** A seat among the waiting listeners, until the signal. */
  seat(signal: AbortSignal): (place: EventCursor) => Promise<EventPage | null> {
    let own: Waiter | null = null
    // One listener for as long as the seat is taken, however often its holder waits.
    signal.addEventListener('abort', () => own !== null && this.#leave(own), { once: true })
    return (place) =>
      new Promise((answer, fail) => {
        if (signal.aborted) return answer(null)
        own = { place, answer, fail }
        this.#waiting.add(own)
        this.#forget ??= this.#clock.after(lookMs, () => void this.#look())
      })
  }

  /** Whether the waiting listeners have received events after this cursor. */
  isPast(place: EventCursor): boolean {
    return this.#told !== null && compareCursors(place, this.#told) < 0
  }

  #leave(waiter: Waiter): void {
    this.#waiting.delete(waiter)
    waiter.answer(null)
    if (this.#waiting.size > 0) return
    this.#forget?.()
    this.#forget = null
  }

  /** Polls from the oldest cursor; each listener receives what is new to it. */
  async #look(): Promise<void> {
    this.#forget = null
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    const [first] = waiting.map(({ place }) => place).sort(compareCursors)
    if (first === undefined) return
    try {
      const page = await eventsSince(this.#context, first, pageMax)
      if (this.#told === null || compareCursors(this.#told, page.place) < 0) this.#told = page.place
      for (const { place, answer } of waiting) answer(behind(page, place))
    } catch (error) {
      for (const { fail } of waiting) fail(error)
    }
  }
}

function behind({ events, place, more }: EventPage, own: EventCursor): EventPage {
  const fresh = events.filter((event) => compareCursors(event.place, own) > 0)
  return { events: fresh, place: compareCursors(place, own) > 0 ? place : own, more }
}
