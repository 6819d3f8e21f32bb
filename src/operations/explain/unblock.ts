import { belfryCommand } from '../shell-words.ts'

/** Something that would let a thing go on: what, what a person types for it, and when it comes by itself. */
export interface Unblock {
  readonly what: string
  /** The command line that does it, where one does. */
  readonly command: string | null
  /** When it happens by itself, where that is known. */
  readonly at: number | null
}

/** What somebody has to do. */
export function byHand(what: string, ...words: readonly string[]): Unblock {
  return { what, command: words.length === 0 ? null : belfryCommand(...words), at: null }
}

/** What comes without anybody's help. */
export function byItself(what: string, at: number | null = null): Unblock {
  return { what, command: null, at }
}
