import { z } from 'zod'
import { noted } from '../note.ts'
import { count, outputOf, text } from '../output.ts'
import type { Left } from './draft.ts'

/** What came of an import. */
export interface Imported {
  readonly queues: readonly { readonly name: string; readonly answer: 'created' | 'updated' | 'unchanged' }[]
  readonly schedules: readonly ImportedSchedule[]
  readonly runs: { readonly made: number; readonly parked: number; readonly known: number }
  /** Everything that has no counterpart, or not wholly; only the first, where there is very much of it. */
  readonly left: readonly Left[]
  readonly leftMore: number
}

export interface ImportedSchedule {
  readonly name: string
  readonly from: string
  readonly answer: 'created' | 'unchanged'
  readonly inWords: string
}

export const imported = noted(
  outputOf<Imported>()(
    z
      .strictObject({
        queues: z
          .array(
            z.strictObject({
              name: text('The name of the queue.'),
              answer: z.enum(['created', 'updated', 'unchanged']).describe('What became of its policy.'),
            }),
          )
          .describe('The queues that were told something.'),
        schedules: z
          .array(
            z.strictObject({
              name: text('The name of the schedule.'),
              from: text('Where it stands in the file.'),
              answer: z.enum(['created', 'unchanged']).describe('Whether it is new, or was there before just so.'),
              inWords: text('What it says, in a few sentences.'),
            }),
          )
          .describe('The schedules, in the order of the file.'),
        runs: z
          .strictObject({
            made: count('How many are new.'),
            parked: count('How many of the new ones are parked, as they were.'),
            known: count('How many were imported before.'),
          })
          .describe('The runs.'),
        left: z
          .array(
            z.strictObject({
              where: text('Where it stands in the file.'),
              what: text('What it is.'),
              why: text('Why it has no counterpart here, or what is other than it was.'),
            }),
          )
          .describe('Everything that could not be taken over, or not wholly.'),
        leftMore: count('How much else could not be taken over, where that is more than is listed.'),
      })
      .describe('What came of an import.'),
  ),
  { id: 'Imported' },
)
