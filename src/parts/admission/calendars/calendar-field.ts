import { z } from 'zod'
import { forcedCalendar } from '../../../core/hold.ts'
import type { AddedField } from '../../../operations/fields/added-fields.ts'
import { calendarUses } from '../../../operations/fields/calendar-uses.ts'

const ends = ['finish', 'release'] as const
type AtClose = (typeof ends)[number]

declare module '../../../core/added.ts' {
  interface AddedToSchedule {
    readonly calendar: AddedType<readonly string[], string | readonly string[]>
    readonly atClose: AddedType<AtClose>
  }
  interface AddedToQueue {
    readonly calendar: AddedType<readonly string[], string | readonly string[]>
    readonly atClose: AddedType<AtClose>
  }
  interface AddedToRun {
    readonly calendar: AddedType<readonly string[], string | readonly string[]>
    readonly atClose: AddedType<AtClose>
  }
}

/** Whether a person ran it past the calendars of its schedule, queue and namespace. */
export function wasForced(stored: readonly string[] | undefined): boolean {
  return stored?.includes(forcedCalendar) === true
}

const shared = {
  output: z.array(z.string()).readonly(),
  clause: 'only while open:',
  inWords: (stored: readonly string[]) => (wasForced(stored) ? 'none, because it was forced' : stored.join(', ')),
}

const ofSchedule: AddedField = {
  ...shared,
  input: calendarUses.describe(
    'Calendars: its occurrences and runs start only while all of these are open; !NAME: while it is closed. Default: none.',
  ),
}
const ofRun: AddedField = {
  ...shared,
  input: calendarUses.describe(
    'Calendars: it starts only while all of these are open; !NAME: while it is closed. Default: none.',
  ),
}
const ofQueue: AddedField = {
  ...shared,
  input: calendarUses.describe(
    'Calendars: its runs start only while all of these are open; !NAME: while it is closed. Default: none.',
  ),
}

const atClose: AddedField = {
  input: z
    .enum(ends)
    .describe('What running work does when a calendar closes: finish, or be given back uncounted. Default: finish.'),
  clause: 'when a calendar closes:',
  inWords: (stored: AtClose) => (stored === 'release' ? 'running work is given back' : 'running work finishes'),
}

/** What this part adds to a schedule and its runs, to single runs, and to the policy of a queue. */
export const calendarFields = {
  schedule: { calendar: ofSchedule, atClose },
  run: { calendar: ofRun, atClose },
  queue: { calendar: ofQueue, atClose },
}
