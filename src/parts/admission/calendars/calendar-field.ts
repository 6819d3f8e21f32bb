import { z } from 'zod'
import type { AddedField } from '../../../operations/fields/added-fields.ts'
import { calendarUses } from '../../../operations/fields/calendar-uses.ts'

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
