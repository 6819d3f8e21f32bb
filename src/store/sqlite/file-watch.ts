import { statSync } from 'node:fs'
import type { Dials } from '../../core/clock.ts'
import { BelfryError } from '../../core/error.ts'

const lookEveryMs = 1_000

/**
 * Knows the file that a handle was opened on. Once it is deleted or replaced the handle goes on working, on a file that has
 * no name any more: a worker would run for ever beside the store that everybody else sees, and write what nobody will read.
 */
export class FileWatch {
  readonly #place: string
  readonly #clock: Dials
  readonly #identity: string | null
  #lookedAt: number

  constructor(place: string, clock: Dials) {
    this.#place = place
    this.#clock = clock
    this.#identity = identityOf(place)
    this.#lookedAt = clock.monotonic()
  }

  /** Looks once a second; a look costs some microseconds. */
  refuseVanished(): void {
    const now = this.#clock.monotonic()
    if (this.#identity === null || now - this.#lookedAt < lookEveryMs) return
    if (identityOf(this.#place) === this.#identity) {
      this.#lookedAt = now
      return
    }
    throw new BelfryError('unavailable', `${this.#place} was deleted or replaced while it was open here.`, {
      hint: 'Stop this process, and start it again on the store that is meant: what it writes here nobody can find.',
      details: { place: this.#place },
    })
  }
}

/** What tells a file from another one of its name; null where there is none, as for a store in memory. */
function identityOf(place: string): string | null {
  const found = statSync(place, { throwIfNoEntry: false })
  return found === undefined ? null : `${found.dev}:${found.ino}`
}
