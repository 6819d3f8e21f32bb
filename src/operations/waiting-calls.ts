import { BelfryError } from '../core/error.ts'
import type { Actor } from '../store/port.ts'

/** How many calls are held open at once, at all doors together and for one caller. */
const seatsMax = 400
const seatsOfCallerMax = 200

/**
 * Bounds how many calls from outside wait at once: each keeps a connection of the door, and a forgotten loop of one caller must
 * not take all of them. A program that waits in its own process is not bounded.
 */
export class WaitingCalls {
  readonly #taken = new Map<string, number>()
  #all = 0

  /** Takes a seat; the answer gives it back. */
  take({ name, door }: Pick<Actor, 'name' | 'door'>): () => void {
    if (door === 'library') return () => undefined
    const own = this.#taken.get(name) ?? 0
    if (own >= seatsOfCallerMax || this.#all >= seatsMax) throw full(Math.min(own, seatsOfCallerMax), this.#all)
    this.#taken.set(name, own + 1)
    this.#all += 1
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      this.#all -= 1
      const left = (this.#taken.get(name) ?? 1) - 1
      if (left === 0) this.#taken.delete(name)
      else this.#taken.set(name, left)
    }
  }
}

function full(own: number, all: number): BelfryError {
  const message = `${all} calls are waiting here already, ${own} of them from this caller.`
  return new BelfryError('unavailable', message, {
    hint: 'Ask again without wait, or end a call that waits.',
    details: { waiting: all, waitingOfCaller: own, max: seatsMax, maxOfCaller: seatsOfCallerMax },
  })
}
