import { z } from 'zod'
import { executionFields } from '../../core/run/work-fields.ts'
import { scheduleFields, timingFields } from '../../core/schedule/schedule-fields.ts'
import { openChange, openInput } from '../fields/added-fields.ts'
import { newName, reason, scheduleId, scheduleName } from '../fields/basic-fields.ts'
import { inputShape } from '../fields/field-schema.ts'
import { patched } from '../fields/patch.ts'

/** Everything that is said of a schedule but its name, without what parts add. */
export const givenFields = { ...timingFields, ...scheduleFields, ...executionFields }

/** Everything of a schedule but its name. */
export const scheduleShape = inputShape(givenFields)

/** The version that a caller has read and means to write over. */
export const seenShape = {
  ifVersion: z.int().min(1).describe('Write only over this version.').optional(),
  ifId: scheduleId.describe('Write only over the schedule with this id.').optional(),
}

/** Options of a write. */
const writeShape = {
  ...seenShape,
  reason: reason.optional(),
}

export const scheduleInput = openInput('schedule', {
  name: newName.describe('The name of the schedule.'),
  ...scheduleShape,
  ...writeShape,
})

/** A schedule, as it is created or put. */
export type ScheduleInput = z.input<typeof scheduleInput>

/** The fields of a schedule, durations and instants in ms. */
export type ScheduleFields = Partial<z.output<typeof scheduleInput>>

export const scheduleChange = openChange('schedule', { name: scheduleName, ...patched(scheduleShape), ...writeShape })

/** A change of a schedule: a field that is not given stays, `null` removes a field, and a new timing replaces the old one. */
export type SchedulePatch = Omit<z.input<typeof scheduleChange>, 'name'>
