import { z } from 'zod'
import { type Autonomy, autonomies } from '../../core/schedule/group.ts'
import type { AddedField } from '../../operations/fields/added-fields.ts'

/** What a schedule lets a planner see. */
export interface PlannerView {
  /** The top-level fields of the schedule's answers that are sent. */
  readonly fields: readonly string[]
}

declare module '../../core/added.ts' {
  interface AddedToSchedule {
    readonly autonomy: AddedType<Autonomy>
    readonly planner: AddedType<PlannerView>
  }
}

export const autonomy: AddedField = {
  ofPersons: 'always',
  input: z
    .enum(autonomies)
    .describe('How far a planner may go: off, suggest, act. Default: that of its group, else of the planner.'),
}

/** The names of top-level fields of an answer. */
export const shownFields = z.array(z.string().min(1).max(200)).min(1).max(50).readonly()

export const planner: AddedField = {
  ofPersons: 'always',
  input: z
    .strictObject({
      fields: shownFields.describe('Names of the first level.'),
    })
    .describe('The only fields of its answers that planners see. Default: all.'),
  inWords: ({ fields }: PlannerView) => `may see ${fields.join(', ')}`,
}
