import { z } from 'zod'
import { CronError } from '../../../core/cron/cron-error.ts'
import { resolveZone } from '../../../core/cron/zone-name.ts'
import { CalendarError } from '../../../core/opening/calendar-error.ts'
import { parseClosedHours } from '../../../core/opening/closed-hours.ts'
import { parseDate } from '../../../core/opening/dates.ts'
import { type IcalClosings, icalClosings } from '../../../core/opening/ical.ts'
import { minutesProblems } from '../../../core/opening/open-minutes.ts'
import { type OpeningHours, opening } from '../../../core/opening/opening.ts'
import { parseHours } from '../../../core/opening/weekly-hours.ts'
import { newName } from '../../../operations/fields/basic-fields.ts'
import { onlyGiven } from '../../../operations/fields/only-given.ts'
import { isShown, type Problem } from '../../../operations/input/refuse-input.ts'
import { noted } from '../../../operations/schema/schema-note.ts'

const entriesMax = 2_000
const fileBytesMax = 1_048_576
const entryLengthMax = 200

function entries(says: string) {
  return z.array(z.string().max(entryLengthMax)).max(entriesMax).readonly().describe(says)
}

/** The days of hours are separated by commas. */
function hours(says: string) {
  return noted(entries(says), { keepsCommas: true })
}

/** A comma separates calendars, and an exclamation mark inverts one. */
export const calendarName = noted(
  newName.max(100).refine((text) => !text.includes(',') && !text.startsWith('!')),
  {
    expected:
      'a text of 1 to 100 characters without commas that begins neither with a dash nor with an exclamation mark',
  },
).describe('The name of the calendar.')

export const hoursShape = {
  zone: z
    .string()
    .describe('The IANA time zone of its hours. Default: the zone it has; of a new one, that of the caller.')
    .optional(),
  open: hours(
    'Weekly hours in which it is open, such as mon-fri 08:00-18:00; over midnight: mon-fri 22:00-06:00.',
  ).optional(),
  cron: z.string().describe('A cron expression whose minutes are open, in place of open.').optional(),
  openDates: entries(
    'Dates on which it is open all day: 2026-12-24, 2026-12-24..2026-12-31, 12-24 or 11-thu#4.',
  ).optional(),
  closedDates: noted(entries('Dates on which it is closed all day, whatever the other fields say.'), {
    flag: '--closed',
  }).optional(),
  closedHours: hours(
    'Hours in which it is closed: wed 14:00-16:00, or a date with hours, 2026-12-24 12:00-24:00.',
  ).optional(),
  closedFile: noted(z.string(), { file: 'holidays.ics', flag: '--closed-file' })
    .describe('The text of an iCalendar file whose events close it, of at most 1 MB.')
    .optional(),
}

const hoursForm = z.strictObject(hoursShape)
export type HoursGiven = z.output<typeof hoursForm>

export interface ReadHours {
  readonly hours: OpeningHours
  readonly problems: readonly Problem[]
  /** What was taken from an iCalendar text. */
  readonly imported: IcalClosings | null
}

/** Reads the hours of a calendar, with every problem at its character. */
export function readHours(
  given: Partial<HoursGiven>,
  { zone, now, isWhole = true }: { readonly zone: string; readonly now: number; readonly isWhole?: boolean },
): ReadHours {
  const { open, cron: minutes, openDates, closedFile } = given
  const problems: Problem[] = [
    ...zoneProblems(given.zone),
    ...entryProblems('open', open, parseHours),
    ...minutesProblems('cron', minutes),
    ...entryProblems('openDates', openDates, parseDate),
    ...entryProblems('closedDates', given.closedDates, parseDate),
    ...entryProblems('closedHours', given.closedHours, parseClosedHours),
  ]
  if (open !== undefined && minutes !== undefined) {
    problems.push({ field: 'cron', problem: 'is given beside `open`', expected: 'only one of the two' })
  }
  const own = problems.some(({ field }) => field === 'zone') ? 'UTC' : resolveZone(given.zone ?? zone).name
  const isLong = closedFile !== undefined && Buffer.byteLength(closedFile) > fileBytesMax
  if (isLong) {
    const problem = `has ${Buffer.byteLength(closedFile)} bytes`
    problems.push({ field: 'closedFile', problem, expected: `at most ${fileBytesMax}` })
  }
  const imported = closedFile === undefined || isLong ? null : icalClosings({ text: closedFile, zone: own, now })
  if (imported !== null) problems.push(...brokenProblems(imported))
  const closedDates = together(given.closedDates, imported?.closedDates)
  const closedHours = together(given.closedHours, imported?.closedHours)
  if ((closedDates?.length ?? 0) + (closedHours?.length ?? 0) > entriesMax) {
    problems.push({
      field: 'closedFile',
      problem: 'has too many dates',
      expected: `at most ${entriesMax} with those given`,
    })
  }
  const hours = onlyGiven({ zone: own, open, cron: minutes, openDates, closedDates, closedHours }) as OpeningHours
  // A field that could not be read is missing from the hours, so that they say nothing about the calendar.
  if (problems.length === 0 && isWhole) problems.push(...neverProblems(hours, now))
  return { hours, problems, imported }
}

/** A page of an error or a file that was cut would open the calendar on the days that are missing from it. */
function brokenProblems({ broken }: IcalClosings): Problem[] {
  if (broken === null) return []
  const { line, text, problem } = broken
  const found =
    text === '' ? 'is empty' : `is no whole iCalendar file: line ${line}, ${JSON.stringify(text)}, ${problem}`
  return [
    {
      field: 'closedFile',
      problem: found,
      expected: 'a file from BEGIN:VCALENDAR to END:VCALENDAR, with an END for each BEGIN',
    },
  ]
}

function together(given?: readonly string[], more: readonly string[] = []): readonly string[] | undefined {
  return given === undefined && more.length === 0 ? undefined : [...new Set([...(given ?? []), ...more])]
}

function entryProblems(field: string, texts: readonly string[] = [], parse: (text: string) => unknown): Problem[] {
  return texts.flatMap((text, index) => {
    try {
      parse(text)
      return []
    } catch (error) {
      if (!(error instanceof CalendarError)) throw error
      const problem = `${isShown(text)}, wrong at character ${error.position + 1}: ${error.problem}`
      return [{ field: texts.length === 1 ? field : `${field}[${index}]`, problem, expected: error.expected }]
    }
  })
}

function zoneProblems(zone: string | undefined): Problem[] {
  if (zone === undefined) return []
  try {
    resolveZone(zone)
    return []
  } catch (error) {
    if (!(error instanceof CronError)) throw error
    return [{ field: 'zone', problem: `${isShown(zone)}: ${error.reason}`, expected: error.expected }]
  }
}

/** A calendar that never opens would keep its work from starting for ever. */
function neverProblems(hours: OpeningHours, now: number): Problem[] {
  const { open, changesAt } = opening({ at: now, calendar: hours })
  if (open || changesAt !== null) return []
  const field = hours.cron === undefined ? 'open' : 'cron'
  const expected = 'hours or dates on which it is open, such as mon-sun 00:00-24:00 with closed dates'
  return [{ field, problem: 'does not open within the next 400 days', expected }]
}

/** What a person may not have meant: hours that end on the next day. */
export function notesOn({ open = [], closedHours = [] }: OpeningHours): string[] {
  const over = open.filter((text) => parseHours(text).endMinute > 1_440)
  const closed = closedHours.filter((text) => parseClosedHours(text).endMinute > 1_440)
  return [...over, ...closed].map((text) => `${text} is over midnight: it ends on the next day.`)
}
