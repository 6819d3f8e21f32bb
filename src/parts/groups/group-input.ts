import { z } from 'zod'
import { windowProblems } from '../../core/opening/open-minutes.ts'
import { autonomies } from '../../core/schedule/group.ts'
import type { Problem } from '../../operations/input/refuse-input.ts'
import type { GroupPatch } from '../../store/groups/write-group.ts'

const descriptionLengthMax = 10_000

/** The fields of a group, as verbs and config files give them. */
export const groupFields = {
  description: z
    .string()
    .min(1)
    .max(descriptionLengthMax)
    .describe('What its members are for and how they depend on each other, for people and planners.')
    .optional(),
  autonomy: z
    .enum(autonomies)
    .describe(
      'How far a planner may go with members that have no autonomy of their own. Default: that of the namespace.',
    )
    .optional(),
  window: z
    .string()
    .describe(
      'A cron expression whose minutes are open to hints, such as * 8-19 * * 1-5, in the zone of each member. Default: always.',
    )
    .optional(),
}

/** What is given as it is stored; what is wrong with it goes to `problems`. */
export function readGroup(
  value: object,
  problems: Problem[],
  where: { readonly zone: string; readonly now: number },
): GroupPatch {
  const { description, autonomy, window } = value as GroupPatch
  problems.push(...windowProblems(window ?? undefined, where))
  return Object.fromEntries(
    Object.entries({ description, autonomy, window }).filter(([, one]) => one !== undefined),
  ) as GroupPatch
}
