import { z } from 'zod'
import { noted } from '../schema/schema-note.ts'

const usesMax = 10

const one = noted(
  z
    .string()
    .max(500)
    .refine((text) => /^!?[^!,\s-][^,]*$/.test(text)),
  { expected: 'the name of a calendar, or !NAME for while it is closed' },
)
const listed = noted(z.array(one).min(1).max(usesMax).readonly(), {
  expected: `1 to ${usesMax} names of calendars; !NAME for while one is closed`,
})

/** One name or several. Their order means nothing, so that the same calendars are always the same lane. */
export const calendarUses = z
  .preprocess((given) => (typeof given === 'string' ? given.split(',') : given), listed)
  .transform((uses) => [...new Set(uses)].sort()) as unknown as z.ZodType<readonly string[], string | readonly string[]>
