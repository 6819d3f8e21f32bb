import { z } from 'zod'
import { type AnswerOf, count, flag, text } from '../../operations/schema/output-schema.ts'
import { noted } from '../../operations/schema/schema-note.ts'

/** The input that allows an import to leave something out. */
export const partial = z
  .boolean()
  .describe(
    'Allow leaving something out. Without it such an answer is not ok, and the command exits with 1. Default: false.',
  )
  .optional()

function listSaid(why: string) {
  const fields = { where: text('Its place in the file.'), what: text('What it is.'), why: text(why) }
  return z.array(z.strictObject(fields))
}

const importedShape = z
  .strictObject({
    queues: z
      .array(
        z.strictObject({
          name: text('The name of the queue.'),
          answer: z.enum(['created', 'updated', 'unchanged']).describe('The result for its policy.'),
        }),
      )
      .describe('The queues whose policy was set.'),
    groups: z
      .array(
        z.strictObject({
          name: text('The name of the group.'),
          answer: z.enum(['created', 'unchanged']).describe('Whether it is new, or existed and was left as it is.'),
        }),
      )
      .describe('The groups that the schedules name.'),
    schedules: z
      .array(
        z.strictObject({
          name: text('The name of the schedule.'),
          from: text('Its place in the file.'),
          answer: z.enum(['created', 'unchanged']).describe('Whether it is new, or existed with the same fields.'),
          paused: flag('Whether it is created paused, as it was before.'),
          inWords: text('The schedule in a few sentences.'),
        }),
      )
      .describe('The schedules, in the order of the file.'),
    runs: z
      .strictObject({
        made: count('How many are new.'),
        parked: count('How many of the new ones are parked, as they were before.'),
        known: count('How many were imported before.'),
      })
      .describe('The runs.'),
    ok: flag('Whether nothing was left out, or partial allowed it.'),
    left: listSaid('Why it is not supported.').describe('Everything that was left out.'),
    leftMore: count('How much else was left out, beyond the list.'),
    different: listSaid('What differs.').describe('What was imported with differences.'),
    differentMore: count('How much else differs, beyond the list.'),
  })
  .describe('The result of an import.')

export type Imported = AnswerOf<typeof importedShape>

export const imported = noted(importedShape, { id: 'Imported' })
