import { z } from 'zod'
import { segmentAt, zoneOf } from '../../../core/cron/zone.ts'
import { type OpeningHours, opening } from '../../../core/opening/opening.ts'
import { type AnswerOf, count, flag, instantOutput, text } from '../../../operations/schema/output-schema.ts'
import { noted } from '../../../operations/schema/schema-note.ts'
import type { CalendarRow } from './write-calendar.ts'

const texts = (says: string) => z.array(z.string()).readonly().describe(says).exactOptional()

export const calendarSchema = noted(
  z
    .strictObject({
      name: text('The name of the calendar.'),
      zone: text('The time zone of its hours.'),
      open: texts('Weekly hours in which it is open.'),
      cron: text('The cron expression whose minutes are open.').exactOptional(),
      openDates: texts('Dates on which it is open all day.'),
      closedDates: texts('Dates on which it is closed all day.'),
      closedHours: texts('Hours in which it is closed.'),
      isOpen: flag('Whether it is open now.'),
      changesAt: instantOutput('When that changes; null: not within 400 days.').nullable(),
      version: count('Its version.'),
      managedBy: text('The config source that manages it: change it there.').exactOptional(),
      createdAt: instantOutput('When it was created.'),
      updatedAt: instantOutput('When it was last written.'),
    })
    .describe('When it is open.'),
  { id: 'Calendar' },
)
export type Calendar = AnswerOf<typeof calendarSchema>

export function calendarOf(
  { name, hours, version, managedBy, createdAt, updatedAt }: CalendarRow,
  now: number,
): Calendar {
  const { open, changesAt } = opening({ at: now, calendar: hours })
  const managed = managedBy === null ? {} : { managedBy }
  return { ...hours, name, isOpen: open, changesAt, version, ...managed, createdAt, updatedAt } as Calendar
}

export const calendarShown = calendarSchema.extend({
  usedBy: z
    .record(z.string(), z.array(z.string()).readonly())
    .describe('What follows it: names by noun. It cannot be deleted while there is any.'),
  versions: z
    .array(
      z.strictObject({
        version: count('The version.'),
        at: instantOutput('When it was written.'),
        actor: text('Who wrote it.'),
        reason: text('Why.').nullable(),
      }),
    )
    .readonly()
    .describe('Its last versions, newest first.'),
})
export type CalendarShown = AnswerOf<typeof calendarShown>

export const calendarWritten = z.strictObject({
  answer: z.enum(['created', 'updated', 'unchanged']).describe('The result of the write.'),
  calendar: calendarSchema,
  notes: z.array(text('A sentence.')).readonly().describe('What may not be meant: hours that end on the next day.'),
  imported: count('How many events of the iCalendar text were taken.').exactOptional(),
  unread: z
    .array(
      z.strictObject({
        line: count('The line in the iCalendar text.'),
        text: text('What it says.'),
        problem: text('Why it was not taken.'),
      }),
    )
    .readonly()
    .describe('What of the iCalendar text was not taken.'),
  schedules: count('How many schedules have other hours now.'),
})
export type CalendarWritten = AnswerOf<typeof calendarWritten>

export const calendarTested = z.strictObject({
  name: text('The name of the calendar.'),
  zone: text('Its time zone.'),
  openings: z
    .array(
      z.strictObject({
        opensAt: instantOutput('When it opens; the first opening may have begun earlier.'),
        closesAt: instantOutput('When it closes; null: not within 400 days.').nullable(),
        clocks: text('The clock change before or in it, in words.').exactOptional(),
      }),
    )
    .readonly()
    .describe('Its openings, in order of time.'),
})
export type CalendarTested = AnswerOf<typeof calendarTested>

const openingsMax = 5_000

/** The openings of a calendar in a stretch of time, with the clock changes that make one longer, shorter or another time of day. */
export function openingsOf(hours: OpeningHours, { from, until }: { readonly from: number; readonly until: number }) {
  const openings: { opensAt: number; closesAt: number | null; clocks?: string }[] = []
  let at: number | null = from
  let seenAt = from
  while (at !== null && at < until && openings.length < openingsMax) {
    const { open, changesAt } = opening({ at, calendar: hours })
    if (open) {
      const clocks = clocksBetween(hours.zone, seenAt, changesAt ?? until)
      openings.push({ opensAt: at, closesAt: changesAt, ...(clocks !== null && { clocks }) })
      seenAt = changesAt ?? until
    }
    at = changesAt
  }
  return openings
}

/** The clock change between two instants, in words. */
function clocksBetween(zone: string, from: number, to: number): string | null {
  const { endMs, offsetMs } = segmentAt(zoneOf(zone), from)
  if (endMs >= to) return null
  const shiftMin = (segmentAt(zoneOf(zone), endMs).offsetMs - offsetMs) / 60_000
  if (shiftMin === 0) return clocksBetween(zone, endMs, to)
  const by = Math.abs(shiftMin) % 60 === 0 ? `${Math.abs(shiftMin) / 60} h` : `${Math.abs(shiftMin)} min`
  const local = new Date(endMs + offsetMs).toISOString()
  return `the clocks go ${shiftMin > 0 ? 'forward' : 'back'} by ${by} on ${local.slice(0, 10)} at ${local.slice(11, 16)}`
}
