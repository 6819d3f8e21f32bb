import type { Part } from '../../part.ts'
import { ruleTables } from './0040-rules.ts'
import { explainRules } from './explain-rules.ts'
import { judgeEnds } from './judge-ends.ts'
import { rules } from './rules-field.ts'
import { enqueueJudgements, rulesKind, rulesPolicy, rulesQueue, watchSiblings } from './sibling-rules.ts'

/** Planner: rules, and models, that suggest when schedules run next, inside bounds. */
export const planner = {
  name: 'planner',
  migrations: [ruleTables],
  fields: { schedule: { rules } },
  ending: judgeEnds,
  ended: enqueueJudgements,
  written: watchSiblings,
  kinds: [rulesKind],
  queues: { [rulesQueue]: rulesPolicy },
  origins: {
    rules: {
      sentence: () => 'A run of a sibling ended, and rules of a schedule wait for its answer.',
      asked: 'by a rule',
    },
  },
  explainsSchedule: explainRules,
} as const satisfies Part
