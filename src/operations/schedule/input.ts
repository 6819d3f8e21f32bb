import { z } from 'zod'
import { durationFields } from '../duration-input.ts'
import { executionFields } from '../execution-input.ts'
import { key, newName, payload, priority, reason, scheduleId, scheduleName, target } from '../fields.ts'
import { instant } from '../instant.ts'
import { notifyShape } from '../notify-input.ts'
import { patched } from '../patch.ts'

const descriptionLengthMax = 10_000

/** Everything of a schedule but its name. */
export const scheduleShape = {
  cron: z
    .string()
    .describe('The calendar as a cron expression, such as 0 9 * * 1-5. One of cron, every and at is given, or none.')
    .optional(),
  zone: z
    .string()
    .describe(
      'The IANA zone that the cron is read in, such as Europe/Paris. Default: the zone of whoever creates it, which is kept.',
    )
    .optional(),
  ...durationFields(
    'every',
    'The time between two runs. After failures it doubles, five times at most, until one succeeds.',
  ),
  from: z
    .enum(['end', 'start'])
    .describe(
      'What every counts from: the end of the run before, or a grid that begins with the schedule. Default: end.',
    )
    .optional(),
  at: instant.describe('The one instant at which it runs.').optional(),
  startNow: z
    .boolean()
    .describe('Whether an every begins at once instead of after its first interval. Default: false.')
    .optional(),
  startAt: instant.describe('Nothing is planned before this instant.').optional(),
  endAt: instant.describe('Nothing is planned after this instant.').optional(),
  maxRuns: z.int().describe('How many occurrences become runs until it is over.').optional(),
  ...durationFields('min', 'The least time between two runs, whatever hints ask for.'),
  ...durationFields('max', 'The most time between two runs, whatever hints and failures ask for.'),
  overlap: z
    .enum(['skip', 'queue', 'allow', 'cancel'])
    .describe(
      'What becomes of an occurrence while a run of the schedule has not ended: it is skipped, waits, goes beside it, or cancels it. Default: skip, and queue with missed all.',
    )
    .optional(),
  queueMax: z.int().describe('How many may wait under overlap queue. Default: 1, and 100 with missed all.').optional(),
  missed: z
    .enum(['skip', 'once', 'all'])
    .describe(
      'What becomes of occurrences that nobody was there for: none of them runs, one for all, or each of the newest 100; the ledger counts those before. Default: once.',
    )
    .optional(),
  ...durationFields(
    'maxLateness',
    'How late a missed occurrence may still run. Default: the time to the next one, at most 24h; 24h where every counts from the end.',
  ),
  pauseAfterFailures: z.int().describe('After how many failures in a row it is paused.').optional(),
  queue: newName.describe('The queue that its runs go through. Default: default.').optional(),
  priority: priority.optional(),
  concurrencyKey: key.describe('Runs with the same key share the ceiling for a key of their queue.').optional(),
  payload: payload.optional(),
  target: target.optional(),
  ...executionFields,
  repeatable: z
    .boolean()
    .describe('Whether a run is tried again when nobody knows whether it was done. Default: true.')
    .optional(),
  ...notifyShape,
  description: z.string().min(1).max(descriptionLengthMax).describe('What it is for, for people.').optional(),
}

/** What somebody has seen who writes over it. */
export const seenShape = {
  ifVersion: z.int().min(1).describe('Refuses to write over any other version than this.').optional(),
  ifId: scheduleId
    .describe('Refuses to write over any other schedule of that name than the one with this id.')
    .optional(),
}

/** How a schedule is written, beside what is written. */
const writeShape = {
  ...seenShape,
  reason: reason.optional(),
}

export const scheduleInput = z.strictObject({
  name: newName.describe('The name of the schedule.'),
  ...scheduleShape,
  ...writeShape,
})

/** A schedule, as it is created or put. */
export type ScheduleInput = z.input<typeof scheduleInput>

/** The fields of a schedule, durations and instants in ms. */
export type ScheduleFields = Partial<z.output<typeof scheduleInput>>

export const scheduleChange = z.strictObject({ name: scheduleName, ...patched(scheduleShape), ...writeShape })

/** A change of a schedule: what is not named stays, `null` takes a field away, and a new timing replaces the old one. */
export type SchedulePatch = Omit<z.input<typeof scheduleChange>, 'name'>
