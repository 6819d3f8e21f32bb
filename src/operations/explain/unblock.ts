import type { Hold } from '../../core/hold.ts'
import { type HoldReason, holdLift } from '../../core/hold-reason.ts'
import { isoText } from '../input/instant.ts'
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

/** Each way on as one sentence: a model follows one text better than three marks. */
export function unblockBrief(ways: readonly Unblock[]): string[] {
  return ways.map(({ what, command, at }) => {
    const when = at === null ? '' : ` (${isoText(at)})`
    return `${what}${when}${command === null ? '' : ` (${command})`}`
  })
}

/** What ends a hold: time, where it has an end, or a person. */
export function waysOfHold(hold: Hold, reasons: Readonly<Record<string, HoldReason>>): Unblock[] {
  const { what, words } = holdLift(hold, reasons)
  return [...(hold.until === null ? [] : [byItself('The hold ends by itself.', hold.until)]), byHand(what, ...words)]
}
