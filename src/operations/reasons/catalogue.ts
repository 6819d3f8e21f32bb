import type { Unblock } from '../explain/unblock.ts'

/** How it stands: as it should, at work, waiting, or so that a person should look at it. */
export type Tone = 'well' | 'work' | 'waits' | 'wrong'

/** What is said of all that share a code, also in the documents. */
export interface ReasonWords {
  readonly says: string
  /** What gets it on. */
  readonly unblocks: string
}

/** Why something stands where it does. */
export interface Reason<Facts> extends ReasonWords {
  readonly tone: Tone
  /** The same about one thing, with the names it is about. Instants stand beside it. */
  sentence?(facts: Facts): string
  /** What would get this one on, what comes by itself first. */
  ways?(facts: Facts): Unblock[]
}

export type Reasons<Code extends string, Facts> = { readonly [Each in Code]: Reason<Facts> }
