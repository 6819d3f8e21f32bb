import { z } from 'zod'
import { type Hold as HoldRow, holdSubject, isInForce } from '../../core/hold.ts'
import { type AnswerOf, count, flag, instantOutput, text } from '../../operations/schema/output-schema.ts'
import { noted } from '../../operations/schema/schema-note.ts'
import { onWords } from './hold-input.ts'

export function holdAnswer(hold: HoldRow, now: number): Hold {
  const { id, reason, note, by, from, until, createdAt } = hold
  return { id, on: holdSubject(hold), reason, note, by, from, until, inForce: isInForce(hold, now), createdAt }
}

export const holdSchema = noted(
  z
    .strictObject({
      id: text('The id of the hold.'),
      on: text(`What it holds: ${onWords}.`),
      reason: text('Why, as a code of the catalogue of reasons: stopped, paused, hold, or one of a part.'),
      note: text('What its author wrote about it.').nullable(),
      by: text('Who put it.'),
      from: instantOutput('From when on it holds.'),
      until: instantOutput('When it ends by itself; null where it is lifted by hand.').nullable(),
      inForce: flag('Whether it holds now.'),
      createdAt: instantOutput('When it was put.'),
    })
    .describe('A row that keeps work from starting.'),
  { id: 'Hold' },
)
/** A hold as doors show it. */
export type Hold = AnswerOf<typeof holdSchema>

export const stoppedSchema = z.strictObject({
  hold: holdSchema,
  atWork: count('How many runs were at work on it when it was stopped.'),
  cancelling: count('How many of them were asked to end.'),
  releasing: count('How many of them were asked to stop and be given back.'),
  doubt: text(
    'Why it may stop nothing: no live worker has an executor of this name; null where it is certainly there.',
  ).nullable(),
  namespaces: z.array(text('A namespace.')).describe('The namespaces in which this call stopped it.'),
})
/** What a stop came to. */
export type Stopped = AnswerOf<typeof stoppedSchema>
