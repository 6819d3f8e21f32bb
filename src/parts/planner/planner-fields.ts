import { z } from 'zod'
import { type Autonomy, autonomies } from '../../core/schedule/group.ts'
import type { AddedField } from '../../operations/fields/added-fields.ts'

/** What a schedule lets a planner see. */
export interface PlannerView {
  /** The fields of its answers that are sent, by the names of the first level. */
  readonly fields: readonly string[]
}

declare module '../../core/added.ts' {
  interface AddedToSchedule {
    readonly autonomy: AddedType<Autonomy>
    readonly planner: AddedType<PlannerView>
  }
}

export const autonomy: AddedField = {
  input: z
    .enum(autonomies)
    .describe('How far a planner may go: off, suggest, act. Default: that of its group, else of the planner.'),
}

export const planner: AddedField = {
  input: z
    .strictObject({
      fields: z.array(z.string().min(1).max(200)).min(1).max(50).describe('Names of the first level.').readonly(),
    })
    .describe('The only fields of its answers that planners see. Default: all.'),
  inWords: ({ fields }: PlannerView) => `may see ${fields.join(', ')}`,
}
