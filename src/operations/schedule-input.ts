import { z } from 'zod'
import { durationFields } from './duration-input.ts'
import { executionFields } from './execution-input.ts'
import { instant } from './instant.ts'
import { patched } from './patch.ts'
import type { TargetInput } from './target-input.ts'

const nameLengthMax = 200
const keyLengthMax = 500
const reasonLengthMax = 2_000
const descriptionLengthMax = 10_000
const priorityMax = 1_000_000

export const name = z.string().min(1).max(nameLengthMax)
export const key = z.string().min(1).max(keyLengthMax)
export const reason = z.string().min(1).max(reasonLengthMax)
export const priority = z.int().min(-priorityMax).max(priorityMax)
/** Anything that JSON can say; whether it can is looked at once, with its place. */
export const payload = z.unknown()
/** Looked at by the kind it names, which knows its own fields. */
export const target = z.unknown() as unknown as z.ZodType<unknown, TargetInput | null>

/** Everything of a schedule but its name. */
export const scheduleShape = {
  /** Exactly one of `cron`, `every` and `at`, or none for a schedule that waits for hints and people. */
  cron: z.string().optional(),
  /** Of the cron. It is resolved at creation and kept. */
  zone: z.string().optional(),
  ...durationFields('every'),
  /** What `every` counts from: the end of the run before, or a fixed grid. */
  from: z.enum(['end', 'start']).optional(),
  at: instant.optional(),
  /** An `every` begins at once instead of after its first interval. */
  startNow: z.boolean().optional(),
  startAt: instant.optional(),
  endAt: instant.optional(),
  maxRuns: z.int().optional(),
  /** Hard bounds of the time between runs, whatever hints ask for. */
  ...durationFields('min'),
  ...durationFields('max'),
  /** What becomes of an occurrence while a run of the schedule has not ended. */
  overlap: z.enum(['skip', 'queue', 'allow', 'cancel']).optional(),
  queueMax: z.int().optional(),
  /** What becomes of occurrences that nobody was there for. */
  missed: z.enum(['skip', 'once', 'all']).optional(),
  ...durationFields('maxLateness'),
  pauseAfterFailures: z.int().optional(),
  queue: name.optional(),
  priority: priority.optional(),
  concurrencyKey: key.optional(),
  payload: payload.optional(),
  target: target.optional(),
  ...executionFields,
  /** Whether it may be tried again when nobody knows whether it was done. */
  repeatable: z.boolean().optional(),
  description: z.string().min(1).max(descriptionLengthMax).optional(),
}

/** How a schedule is written, beside what is written: over which version, and why. */
const writeShape = {
  ifVersion: z.int().min(1).optional(),
  reason: reason.optional(),
}

export const scheduleInput = z.strictObject({ name, ...scheduleShape, ...writeShape })

/** A schedule, as it is created or put. */
export type ScheduleInput = z.input<typeof scheduleInput>

/** The fields of a schedule, durations and instants in ms. */
export type ScheduleFields = Partial<z.output<typeof scheduleInput>>

export const schedulePatch = z.strictObject({ ...patched(scheduleShape), ...writeShape })

/** A change of a schedule: what is not named stays, `null` takes a field away, and a new timing replaces the old one. */
export type SchedulePatch = z.input<typeof schedulePatch>
