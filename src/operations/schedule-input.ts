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
  cron: z.string().optional(),
  zone: z.string().optional(),
  ...durationFields('every'),
  from: z.enum(['end', 'start']).optional(),
  at: instant.optional(),
  startNow: z.boolean().optional(),
  startAt: instant.optional(),
  endAt: instant.optional(),
  maxRuns: z.int().optional(),
  ...durationFields('min'),
  ...durationFields('max'),
  overlap: z.enum(['skip', 'queue', 'allow', 'cancel']).optional(),
  queueMax: z.int().optional(),
  missed: z.enum(['skip', 'once', 'all']).optional(),
  ...durationFields('maxLateness'),
  pauseAfterFailures: z.int().optional(),
  queue: name.optional(),
  priority: priority.optional(),
  concurrencyKey: key.optional(),
  payload: payload.optional(),
  target: target.optional(),
  ...executionFields,
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
