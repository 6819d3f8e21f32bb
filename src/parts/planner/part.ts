import type { Part } from '../../part.ts'
import type { Ends, MovedSchedule } from '../../store/runs/end-hooks.ts'
import type { Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'
import { ruleTables } from './0040-rules.ts'
import { plannerTables } from './0041-planner.ts'
import * as analysisOperations from './desk/analysis-verbs.ts'
import { explainPlanner } from './desk/explain-planner.ts'
import { plannerCheck } from './desk/planner-check.ts'
import { plannerSection } from './desk/planner-section.ts'
import { look, pause, resume, set, status } from './desk/planner-verbs.ts'
import { approve, decline, get, list } from './desk/proposal-verbs.ts'
import { evaluate } from './evals/eval-verb.ts'
import { replay } from './evals/replay-verb.ts'
import { judgeEnds } from './judge-ends.ts'
import { analysisKind, plannerPolicy, plannerQueue } from './looks/analysis-kind.ts'
import { sweepAnalyses } from './looks/analysis-row.ts'
import { looksKind } from './looks/due-looks.ts'
import { lookAfterFailures, lookWhenAllowed } from './looks/look-rows.ts'
import { plannerLines, proposalMade } from './planner-events.ts'
import { autonomy, planner as plannerField } from './planner-fields.ts'
import { rules } from './rules-field.ts'
import { enqueueJudgements, rulesKind, rulesPolicy, rulesQueue, watchSiblings } from './sibling-rules.ts'

function* afterEnds(context: StoreContext, ends: Ends<MovedSchedule>): Step<void> {
  yield* lookAfterFailures(context, ends)
  yield* enqueueJudgements(context, ends)
}
afterEnds.skipsPlain = true as const

function* afterWrite(context: StoreContext, written: object): Step<void> {
  yield* watchSiblings(context, written)
  yield* lookWhenAllowed(context, written)
}

/** The planner: rules and models that suggest when schedules run next, inside bounds. */
export const planner = {
  name: 'planner',
  migrations: [ruleTables, plannerTables],
  fields: { schedule: { rules, autonomy, planner: plannerField } },
  ending: judgeEnds,
  ended: afterEnds,
  written: afterWrite,
  kinds: [rulesKind, analysisKind, looksKind],
  queues: { [rulesQueue]: rulesPolicy, [plannerQueue]: plannerPolicy },
  origins: {
    rules: {
      sentence: () => 'A run of a sibling ended, and rules of a schedule wait for its answer.',
      asked: 'by a rule',
    },
    planner: { sentence: () => 'A planner looks at a schedule.', asked: 'by the planner' },
  },
  config: [plannerSection],
  sweeps: [sweepAnalyses],
  events: plannerLines,
  streams: [proposalMade],
  checks: [plannerCheck],
  explainsSchedule: explainPlanner,
  serves: {
    flag: 'planner',
    option: {
      flags: '--planner <NAME>',
      says: 'Serve the eight tools of a planner for this schedule, and nothing else.',
    },
    load: async () => (await import('./desk/mcp-planner.ts')).servePlanner,
  },
  nouns: {
    planner: {
      says: 'The planner: the model that looks at schedules and suggests hints.',
      plural: 'planner',
      operations: {
        /** Set the model that looks at schedules and suggests hints. */
        set,
        /** Show the planner: its model, what it did, cost and helped within 30 days. */
        status,
        /** Enqueue a look of the planner at a schedule now. */
        look,
        /** Play schedules over their recorded answers, by their baselines and by rules, and compare; change nothing. */
        eval: evaluate,
        /** Pause all planners: no looks, no actions; with clearHints everything is on its baseline again. */
        pause,
        /** Let planners look and act again. */
        resume,
      },
      otherWords: {
        'planner show': 'status',
        'planner get': 'status',
        'planner stop': 'pause',
        'planner start': 'resume',
      },
    },
    analysis: {
      says: 'Analyses: what planners knew, did, said and cost.',
      plural: 'analyses',
      operations: {
        /** List the looks of planners, newest first. */
        list: analysisOperations.list,
        /** Show a look of a planner: what it knew, called, said and cost. */
        get: analysisOperations.get,
        /** Ask again with what a look knew then, by another model or prompt, or judge that by rules; nothing of its schedule changes. */
        replay,
      },
      otherWords: { analyses: 'analysis list', 'analysis ls': 'list', 'analysis get': 'show', looks: 'analysis list' },
    },
    proposal: {
      says: 'Proposals: what planners would do, for a person to decide.',
      plural: 'proposals',
      operations: {
        /** List proposals of planners that wait for a decision, newest first. */
        list,
        /** Show a proposal with the next instants with and without it. */
        get,
        /** Approve a proposal: it is done now, within the bounds of planners. */
        approve,
        /** Decline a proposal. */
        decline,
      },
      otherWords: {
        proposals: 'proposal list',
        'proposal ls': 'list',
        'proposal get': 'show',
        'proposal accept': 'approve',
        'proposal reject': 'decline',
      },
    },
  },
} as const satisfies Part
