import type { Unblock } from '../explain/unblock.ts'

/** Normal, at work, waiting, or in need of a person. */
export type Tone = 'well' | 'work' | 'waits' | 'wrong'

/** A sentence that is true of everything with this code; it is also printed in the documents. */
export interface ReasonWords {
  readonly says: string
  readonly unblocks: string
}

/** Why something is in its state. */
export interface Reason<Facts> extends ReasonWords {
  readonly tone: Tone
  /** The sentence about one run or schedule, with the names involved. Instants are in fields beside it. */
  sentence?(facts: Facts): string
  /** What would unblock this run or schedule; what happens by itself comes first. */
  ways?(facts: Facts): Unblock[]
}

export type Reasons<Code extends string, Facts> = { readonly [Each in Code]: Reason<Facts> }
