import { randomBytes } from 'node:crypto'

/** The counter of a store will never get this far. */
const lentFloor = 2 ** 52
/** As many as one process may take before numbers end. */
const lentMax = 2 ** 32

/**
 * Ids of runs that are made in a caller's own transaction. The counter is a row of the file: a rollback takes it back, and
 * the next run would get an id that the caller already has. No other connection can write while that transaction
 * is open, so that nothing in the file can remember it. These ids are counted in memory instead, upwards from a random
 * number far above the counter, which no two processes have in common.
 */
export class LentIds {
  #next = lentFloor + (randomNumber() % (lentFloor - lentMax))

  take(count: number): number[] {
    const first = this.#next
    this.#next += count
    return Array.from({ length: count }, (_, index) => first + index)
  }
}

/** 52 bits of it: a number that a double holds exactly. */
function randomNumber(): number {
  const bytes = randomBytes(7)
  return bytes.readUIntBE(0, 6) * 16 + (bytes.readUInt8(6) & 15)
}
