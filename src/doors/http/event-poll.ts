import type { Clock } from '../../core/clock.ts'
import { compareCursors, type EventCursor, type EventPage, eventsSince } from '../../operations/events-since.ts'
import type { OperationContext } from '../../operations/operation-context.ts'

/** What other processes do is seen this soon. */
const lookMs = 250
export const pageMax = 500

interface Waiter {
  readonly place: EventCursor
  readonly answer: (page: EventPage | null) => void
  readonly fail: (error: unknown) => void
}

/**
 * One look at what is new for all who have heard everything before: a look costs the same for one and for a hundred of them. Each
 * keeps a place of its own, and whoever has fallen behind reads by himself until he has caught up.
 */
export class EventPoll {
  readonly #context: OperationContext
  readonly #clock: Clock
  readonly #waiting = new Set<Waiter>()
  /** Up to where everybody who was there has been told. */
  #told: EventCursor | null = null
  #forget: (() => void) | null = null

  constructor(context: OperationContext) {
    this.#context = context
    this.#clock = context.clock
  }

  /** A place among those who wait, until the signal. */
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

  /** Whether those who wait have been told more than somebody at this place. */
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

  /** From the place of whoever has heard least; the others are told of it what is new to them. */
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
