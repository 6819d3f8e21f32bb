import { z } from 'zod'
import { noted } from '../schema/schema-note.ts'

const usesMax = 10
/** The names together form the name of a lane, which is a key in both databases. */
const textLengthMax = 500

const nameLengthMax = 100

const one = noted(
  z
    .string()
    .max(nameLengthMax + 1)
    .refine((text) => /^!?[^!,\s-][^,]*$/.test(text)),
  { expected: 'the name of a calendar, or !NAME for while it is closed' },
)
const listed = noted(
  z
    .array(one)
    .min(1)
    .max(usesMax)
    .readonly()
    .refine((uses) => uses.join(',').length <= textLengthMax),
  {
    expected: `1 to ${usesMax} names of calendars, of at most ${textLengthMax} characters; !NAME for while one is closed`,
  },
)

/** One name or several. Their order means nothing, so that the same calendars are always the same lane. */
export const calendarUses = z
  .preprocess((given) => (typeof given === 'string' ? given.split(',') : given), listed)
  .transform((uses) => [...new Set(uses)].sort()) as unknown as z.ZodType<readonly string[], string | readonly string[]>
