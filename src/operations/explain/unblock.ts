import { z } from 'zod'
import type { Hold } from '../../core/hold.ts'
import { type HoldReason, holdLift } from '../../core/hold-reason.ts'
import { isoText } from '../input/instant.ts'
import { type AnswerOf, advice, instantOutput } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'
import { belfryCommand } from '../shell-words.ts'

export const unblock = noted(
  z
    .strictObject({
      what: advice('What it is.'),
      command: advice('The command that does it, where there is one.').nullable(),
      at: instantOutput('When it happens by itself, where that is known.').nullable(),
    })
    .describe('Something that would unblock it.'),
  { id: 'Unblock' },
)
export type Unblock = AnswerOf<typeof unblock>

/** An action for a person. */
export function byHand(what: string, ...words: readonly string[]): Unblock {
  return { what, command: words.length === 0 ? null : belfryCommand(...words), at: null }
}

/** An event that happens by itself. */
export function byItself(what: string, at: number | null = null): Unblock {
  return { what, command: null, at }
}

/** Each way as one sentence: a model follows one text better than three fields. */
export function unblockBrief(ways: readonly Unblock[]): string[] {
  return ways.map(({ what, command, at }) => {
    const when = at === null ? '' : ` (${isoText(at)})`
    return `${what}${when}${command === null ? '' : ` (${command})`}`
  })
}

/** What ends a hold: its end instant, where it has one, or a person. */
export function waysOfHold(hold: Hold, reasons: Readonly<Record<string, HoldReason>>): Unblock[] {
  const { what, words } = holdLift(hold, reasons)
  const ends = reasons[hold.reason]?.ends ?? (hold.until === null ? null : 'The hold ends by itself.')
  return [...(ends === null ? [] : [byItself(ends, hold.until)]), byHand(what, ...words)]
}
