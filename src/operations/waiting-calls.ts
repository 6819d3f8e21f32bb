import { BelfryError } from '../core/error.ts'
import type { Actor } from '../store/port.ts'

/** The most calls held open at once, at all doors together and for one caller. */
const seatsMax = 400
const seatsOfCallerMax = 200

/**
 * Bounds how many calls from outside wait at once: each holds a connection, and one caller's runaway loop must not take
 * them all. A program that waits in its own process is not bounded.
 */
export class WaitingCalls {
  readonly #taken = new Map<string, number>()
  #all = 0

  /** Takes a seat and returns the function that frees it. */
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
  const message = `${all} calls are waiting already, ${own} of them from this caller.`
  return new BelfryError('unavailable', message, {
    hint: 'Repeat the call without wait, or end a call that waits.',
    details: { waiting: all, waitingOfCaller: own, max: seatsMax, maxOfCaller: seatsOfCallerMax },
  })
}
