import { z } from 'zod'
import { count, flag, outputOf, text } from '../../operations/schema/output-schema.ts'
import { noted } from '../../operations/schema/schema-note.ts'
import type { Left } from './draft.ts'

/** What came of an import. */
export interface Imported {
  readonly queues: readonly { readonly name: string; readonly answer: 'created' | 'updated' | 'unchanged' }[]
  readonly schedules: readonly ImportedSchedule[]
  readonly runs: { readonly made: number; readonly parked: number; readonly known: number }
  /** Whether nothing was left out, or that was said to be fine. */
  readonly ok: boolean
  /** Everything that has no counterpart; only the first, where there is very much of it. */
  readonly left: readonly LeftOut[]
  readonly leftMore: number
  /** What was taken over and is different from before. */
  readonly different: readonly LeftOut[]
  readonly differentMore: number
}

type LeftOut = Omit<Left, 'isTaken'>

export interface ImportedSchedule {
  readonly name: string
  readonly from: string
  readonly answer: 'created' | 'unchanged'
  /** Whether it is created paused, as it was there. */
  readonly paused: boolean
  readonly inWords: string
}

/** An input that says that an import may leave something out. */
export const partial = z
  .boolean()
  .describe(
    'Whether something may be left out. Without it the answer is not ok then, and a command exits 1. Default: false.',
  )
  .optional()

function listSaid(why: string) {
  const fields = { where: text('Where it stands in the file.'), what: text('What it is.'), why: text(why) }
  return z.array(z.strictObject(fields))
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
              paused: flag('Whether it is created paused, as it was there.'),
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
        ok: flag('Whether nothing was left out, or partial says that something may be.'),
        left: listSaid('Why it has no counterpart here.').describe('Everything that was left out.'),
        leftMore: count('How much else was left out, where that is more than is listed.'),
        different: listSaid('What is different from before.').describe(
          'What was taken over, and is different from before.',
        ),
        differentMore: count('How much else is different, where that is more than is listed.'),
      })
      .describe('What came of an import.'),
  ),
  { id: 'Imported' },
)
