import { BelfryError } from '../src/core/error.ts'
import { SqliteDatabase } from '../src/store/sqlite/database.ts'
import type { Step } from '../src/store/statement.ts'

/**
 * How a transaction breaks: it is refused at its end, its commit breaks off with or without an effect, or something in it
 * fails that has nothing to do with the database.
 */
export type Break = 'refused' | 'unknown-done' | 'unknown-undone' | 'fails'

/** The real database, one transaction of which can be broken: for a store that has to tell several what became of it. */
export class BrittleDatabase extends SqliteDatabase {
  #next: Break | null = null

  /** Breaks the next transaction that writes, or none. */
  breakNext(how: Break | null): void {
    this.#next = how
  }

  override write<Result>(verb: () => Step<Result>): Promise<Result> {
    const how = this.#next
    this.#next = null
    if (how === null) return super.write(verb)
    if (how === 'unknown-done') return super.write(verb).then(() => Promise.reject(failure(how)))
    return super.write(() => broken(verb(), how))
  }
}

/** All of it is done and then rolled back, so that whoever answers from what was done is found out. */
function* broken<Result>(step: Step<Result>, how: Break): Step<Result> {
  yield* step
  throw failure(how)
}

export function failure(how: Break): Error {
  if (how === 'fails') return new Error('Something in the simulated transaction failed.')
  if (how === 'refused') return new BelfryError('unavailable', 'The simulated store is away; nothing was written.')
  return new BelfryError('commit-unknown', 'The simulated commit broke off; it may or may not have taken effect.')
}
