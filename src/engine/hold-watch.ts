import { type Hold, holdSubject, isMomentary } from '../core/hold.ts'
import { listHolds } from '../store/holds/list-holds.ts'
import { turnHolds } from '../store/holds/turn-holds.ts'
import type { NextInstants } from '../store/port.ts'
import type { EngineContext } from './engine-context.ts'

/** How many beginnings and ends of holds one step handles. */
const turnedMax = 100

/** Applies the beginnings and ends of holds, and announces holds that were put or are gone; it watches the first thousand holds. */
export class HoldWatch {
  readonly #context: EngineContext
  #mark = ''
  #known = new Map<string, Hold>()

  constructor(context: EngineContext) {
    this.#context = context
  }

  /** Answers whether a hold was due to begin or end: then the instants have to be read again. */
  async look({ now, holdAt, holdsMark }: NextInstants): Promise<boolean> {
    const isDue = holdAt !== null && holdAt <= now
    if (isDue) await this.#context.store.do(turnHolds, { limit: turnedMax })
    else if (holdsMark !== this.#mark) await this.#tellChanges(now, holdsMark)
    return isDue
  }

  async #tellChanges(now: number, mark: string): Promise<void> {
    const { store, events } = this.#context
    const lasting = (await store.look(listHolds)).filter((hold) => !isMomentary(hold))
    const holds = new Map(lasting.map((hold) => [hold.id, hold]))
    for (const hold of holds.values()) if (!this.#known.has(hold.id)) events.tell('hold.put', told(hold))
    for (const hold of this.#known.values()) {
      if (holds.has(hold.id)) continue
      events.tell('hold.lifted', {
        ...told(hold),
        because: hold.until !== null && hold.until <= now ? 'ended' : 'lifted',
      })
    }
    this.#known = holds
    this.#mark = mark
  }
}

function told(hold: Hold) {
  const { id, reason, note, by, from, until } = hold
  return { hold: id, on: holdSubject(hold), reason, note, by, from, until }
}
