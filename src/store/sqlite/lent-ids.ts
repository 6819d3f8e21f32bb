import { randomBytes } from 'node:crypto'

/** The counter of a store never reaches this value. */
const lentFloor = 2 ** 52
/** The ids that one process may take. */
const lentMax = 2 ** 32

/**
 * Ids of runs that are made in a caller's own transaction. The counter is a row of the file: a rollback resets it, and the next
 * run would get an id that the caller already has. No other connection can write while that transaction is open, so the file
 * cannot record it. These ids are counted in memory instead, upwards from a random number far above the counter, different in
 * each process.
 */
export class LentIds {
  #next = lentFloor + (randomNumber() % (lentFloor - lentMax))

  take(count: number): number[] {
    const first = this.#next
    this.#next += count
    return Array.from({ length: count }, (_, index) => first + index)
  }
}

/** 52 random bits, because a double holds a number of that size exactly. */
function randomNumber(): number {
  const bytes = randomBytes(7)
  return bytes.readUIntBE(0, 6) * 16 + (bytes.readUInt8(6) & 15)
}
