import { z } from 'zod'
import { type AnswerOf, count, flag, outputOf, text } from '../../../operations/schema/output-schema.ts'
import { noted } from '../../../operations/schema/schema-note.ts'

const list = (why: string) =>
  z.array(z.strictObject({ where: text('Its place in the file.'), what: text('What it is.'), why: text(why) }))

const shape = z
  .strictObject({
    file: text('The file that was read.'),
    tasks: z
      .array(
        z.strictObject({
          id: text('The id of the task.'),
          name: text('Its name.'),
          from: text('Its place in the file.'),
          answer: z.enum(['created', 'unchanged']).describe('Whether it is new, or existed.'),
          prompt: text('What the agent is to do.'),
        }),
      )
      .describe('The tasks, in the order of the file.'),
    left: list('Why it is not supported.').describe('Everything that was left out.'),
    different: list('What differs.').describe('What was imported with differences.'),
    moved: count('How many were removed from the file.'),
    stillFires: count('How many Claude still fires too.'),
    ok: flag('Whether nothing was left out, or partial allowed it.'),
  })
  .describe('The result of an import of Claude’s tasks.')

export type ClaudeImported = AnswerOf<typeof shape>
export type LeftOut = ClaudeImported['left'][number]
export const claudeImported = noted(outputOf<ClaudeImported>()(shape), { id: 'ClaudeImported' })
