import { z } from 'zod'
import type { AddedField } from '../../../operations/fields/added-fields.ts'
import { noted } from '../../../operations/schema/schema-note.ts'

declare module '../../../core/added.ts' {
  interface AddedToSchedule {
    readonly calendar: AddedType<readonly string[], string | readonly string[]>
  }
  interface AddedToQueue {
    readonly calendar: AddedType<readonly string[], string | readonly string[]>
  }
  interface AddedToRun {
    readonly calendar: AddedType<readonly string[], string | readonly string[]>
  }
}

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

const shared = {
  output: z.array(z.string()).readonly(),
  clause: 'only while open:',
  inWords: (stored: readonly string[]) => stored.join(', '),
}

export const ofSchedule: AddedField = {
  ...shared,
  input: calendarUses.describe(
    'Calendars: its occurrences and runs start only while all of these are open; !NAME: while it is closed. Default: none.',
  ),
}
export const ofRun: AddedField = {
  ...shared,
  input: calendarUses.describe(
    'Calendars: it starts only while all of these are open; !NAME: while it is closed. Default: none.',
  ),
}
export const ofQueue: AddedField = {
  ...shared,
  input: calendarUses.describe(
    'Calendars: its runs start only while all of these are open; !NAME: while it is closed. Default: none.',
  ),
}
