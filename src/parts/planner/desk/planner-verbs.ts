import { z } from 'zod'
import { BelfryError } from '../../../core/error.ts'
import { autonomies } from '../../../core/schedule/group.ts'
import { reason, scheduleName } from '../../../operations/fields/basic-fields.ts'
import { type Problem, refuse } from '../../../operations/input/refuse-input.ts'
import { throwAbsentSchedule } from '../../../operations/not-found.ts'
import { type Doors, everyDoor, operation } from '../../../operations/operation.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { count, instantOutput, text } from '../../../operations/schema/output-schema.ts'
import { clockNow } from '../../../store/statement.ts'
import { findPlanner, findPlannerPause } from '../planner-row.ts'
import { changedPlanner, plannerChange } from './planner-input.ts'
import { askForLook, type PlannerSums, pausePlanner, plannerSums, setPlanner } from './planner-steps.ts'

const people: Doors = { ...everyDoor, mcp: 'Only a person sets, pauses or resumes planners; a model is one.' }
const withoutModels: Doors = {
  ...everyDoor,
  mcp: 'A planner looks by itself; people ask for a look and read what came of it.',
}
const changing = { noun: 'planner', effect: 'write', scope: 'admin', persons: true, doors: people, takes: [] } as const

const statusSchema = z.strictObject({
  provider: text('The provider; null: no model is set.').nullable(),
  model: text('The model.').nullable(),
  url: text('Where it is served.').nullable(),
  autonomy: z.enum(autonomies).describe('For schedules and groups that say nothing of it.'),
  paused: z
    .strictObject({ at: instantOutput('Since when.'), by: text('By whom.'), reason: text('Why.').nullable() })
    .describe('Whether planners are paused.')
    .nullable(),
  tokensPerMonth: count('What looks may use in a month.').nullable(),
  looks: count('Looks within 30 days.'),
  failed: count('Those that failed.'),
  tokens: count('Tokens that they used, as far as it is known.'),
  cost: text('What they cost, or unknown.'),
  proposals: count('Proposals within 30 days.'),
  approved: count('Those that a person approved.'),
  hints: z
    .strictObject({
      ended: count('Hints of planners that have ended.'),
      starts: count('Runs that started while they counted.'),
      failures: count('Those that failed.'),
    })
    .describe('What came of the hints of planners within 30 days.'),
  due: count('Schedules whose look is due.'),
})
type Status = z.output<typeof statusSchema>

export const set = operation({
  ...changing,
  verb: 'set',
  method: 'PUT',
  idempotent: true,
  begins: true,
  says: 'Set the model that looks at schedules and suggests hints; what is not given stays.',
  request: 'a planner',
  input: plannerChange,
  output: statusSchema,
  show: ({ provider, model, autonomy, tokensPerMonth }) =>
    `${provider} ${model} is the planner; its autonomy is ${autonomy} where nothing else says so, and it looks at schedules every 5 minutes${tokensPerMonth === null ? '' : `, for at most ${tokensPerMonth} tokens a month`}`,
  errors: ['invalid', 'not-found', 'conflict'],
  examples: [
    { provider: 'openai-compatible', url: 'https://example.org/v1', model: 'qwen3', tokensPerMonth: 2_000_000 },
    { provider: 'anthropic', model: 'claude-sonnet-4-5', key: 'ANTHROPIC', autonomy: 'off' },
    { tokensPerMonth: null },
  ],
  async judge(context, { value, problems: found }) {
    const { actor, zone, folder, store } = context
    for (let tries = 1; ; tries++) {
      const seen = (await store.look(findPlanner))?.spec ?? null
      const problems: Problem[] = [...found]
      const spec = changedPlanner(seen, value, { folder, problems })
      if (value.script != null && problems.length === 0) await noteScript(spec.script ?? '', problems)
      refuse('The planner', problems)
      const { answer } = await store.do(setPlanner, spec, { actor, zone, seen })
      if (answer !== 'other-seen') return statusOf(context)
      if (tries >= triesMax) throw changedMeanwhile()
    }
  },
})

export const status = operation({
  noun: 'planner',
  verb: 'status',
  method: 'GET',
  effect: 'read',
  scope: 'read',
  doors: withoutModels,
  takes: [],
  says: 'Show the planner: its model, what it did, cost and helped within 30 days.',
  request: 'a request for the planner',
  input: z.strictObject({}),
  output: statusSchema,
  show: {
    head: ({ provider, model, paused }: Status) =>
      provider === null
        ? `No model is set; rules work without one.${paused === null ? '' : ' Planners are paused.'}`
        : `${provider} ${model}${paused === null ? '' : ', paused'}`,
    facts: [
      ['autonomy', 'autonomy', 'text'],
      ['looks', ({ looks, failed }: Status) => `${looks} in 30 days, ${failed} failed`],
      [
        'tokens',
        ({ tokens, tokensPerMonth }: Status) =>
          `${tokens}${tokensPerMonth === null ? '' : ` of ${tokensPerMonth} a month`}`,
      ],
      ['cost', 'cost', 'text'],
      ['proposals', ({ proposals, approved }: Status) => `${proposals}, ${approved} approved`],
      [
        'hints',
        ({ hints }: Status) => `${hints.ended} ended; ${hints.starts} starts under them, ${hints.failures} failed`,
      ],
    ],
  },
  errors: ['invalid'],
  examples: [{}],
  run: (context) => statusOf(context),
})

export const look = operation({
  noun: 'planner',
  verb: 'look',
  effect: 'write',
  scope: 'operate',
  doors: withoutModels,
  takes: ['name'],
  says: 'Enqueue a look of the planner at a schedule now.',
  request: 'a look',
  input: z.strictObject({ name: scheduleName }),
  output: z.strictObject({ run: text('The run of the look.') }),
  show: ({ run }, { command }) => `looks as ${run}\n  what came of it: ${command('analysis', 'list')}`,
  errors: ['invalid', 'not-found', 'conflict'],
  examples: [{ name: 'depth' }],
  async run(context, { name: schedule }) {
    const answer = await context.store.do(askForLook, schedule)
    if (answer.answer === 'not-found') return throwAbsentSchedule(context, schedule)
    if (answer.answer === 'enqueued') return { run: answer.run }
    throw new BelfryError('conflict', `No look is possible: ${answer.why}.`, { hint: answer.hint })
  },
})

export const pause = operation({
  ...changing,
  scope: 'operate',
  verb: 'pause',
  idempotent: true,
  says: 'Pause all planners: no looks, no actions; with clearHints the hints of planners and agents end too.',
  request: 'a pause of planners',
  input: z.strictObject({
    clearHints: z
      .boolean()
      .describe('Also end the hints and pauses of planners and agents. Default: false.')
      .optional(),
    reason: reason.optional(),
  }),
  output: z.strictObject({ cleared: count('Schedules whose hints were cleared.') }),
  show: ({ cleared }) =>
    `planners are paused${cleared === 0 ? '' : `, and what they and agents asked of ${cleared} ${cleared === 1 ? 'schedule' : 'schedules'} has ended`}`,
  errors: ['invalid', 'conflict'],
  examples: [{}, { clearHints: true, reason: 'Release night.' }],
  async run({ store, actor }, { clearHints = false, reason: why }) {
    const at = await store.look(clockNow)
    return store.do(pausePlanner, { paused: { at, by: actor.name, reason: why ?? null }, clearHints })
  },
})

export const resume = operation({
  ...changing,
  scope: 'operate',
  verb: 'resume',
  idempotent: true,
  says: 'Let planners look and act again.',
  request: 'a resumption of planners',
  input: z.strictObject({}),
  output: z.strictObject({ resumed: z.literal(true).describe('Always true.') }),
  show: () => 'planners look again',
  errors: ['invalid', 'conflict'],
  examples: [{}],
  async run({ store }) {
    await store.do(pausePlanner, { paused: null, clearHints: false })
    return { resumed: true as const }
  },
})

/** A script that cannot be read would fail at the first look, long after the person who set it has gone. */
async function noteScript(script: string, problems: Problem[]): Promise<void> {
  const { scriptIn } = await import('../models/scripted-model.ts')
  await scriptIn(script).catch((error: Error) => {
    problems.push({
      field: 'script',
      problem: `cannot be used: ${error.message}`,
      expected: 'a JSON file with a list of steps',
    })
  })
}

const triesMax = 5

function changedMeanwhile(): BelfryError {
  return new BelfryError('conflict', 'Other callers changed the planner during the request.', {
    hint: 'Read it with `belfry planner status`, and decide again.',
  })
}

async function statusOf({ store }: OperationContext): Promise<Status> {
  const planner = await store.look(findPlanner)
  const sums: PlannerSums = await store.look(plannerSums)
  return {
    provider: planner?.spec.provider ?? null,
    model: planner?.spec.model ?? null,
    url: planner?.spec.url ?? null,
    autonomy: planner === null ? 'off' : (planner.spec.autonomy ?? 'suggest'),
    paused: await store.look(findPlannerPause),
    tokensPerMonth: planner?.spec.tokensPerMonth ?? null,
    ...sums,
  }
}
