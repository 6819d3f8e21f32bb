import { z } from 'zod'
import { BelfryError } from '../../../core/error.ts'
import { autonomies } from '../../../core/schedule/group.ts'
import { name, reason, scheduleName } from '../../../operations/fields/basic-fields.ts'
import { onlyGiven } from '../../../operations/fields/only-given.ts'
import { moneyText } from '../../../operations/input/money-input.ts'
import { type Problem, refuse } from '../../../operations/input/refuse-input.ts'
import { throwAbsentSchedule } from '../../../operations/not-found.ts'
import { type Doors, everyDoor, operation } from '../../../operations/operation.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { count, instantOutput, text } from '../../../operations/schema/output-schema.ts'
import { clockNow } from '../../../store/statement.ts'
import { plannerQueue } from '../looks/analysis-kind.ts'
import { findPlanner, type PlannerSpec, providers } from '../planner-row.ts'
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
  says: 'Set the model that looks at schedules and suggests hints.',
  request: 'a planner',
  input: z.strictObject({
    provider: z.enum(providers).describe('Who serves the model; scripted is a file with steps, for tests.'),
    model: name.describe('The name of the model.'),
    url: z
      .url({ protocol: /^https?$/ })
      .describe('Where it is served, such as https://example.org/v1.')
      .optional(),
    key: name.describe('The name of the secret with its key.').optional(),
    stream: z.boolean().describe('Whether answers are streamed. Default: false.').optional(),
    script: z.string().min(1).describe('The file with the steps of the provider scripted.').optional(),
    autonomy: z.enum(autonomies).describe('For schedules and groups without their own. Default: suggest.').optional(),
    tokensPerMonth: z.int().min(1_000).describe('A budget over all looks of a month. Default: none.').optional(),
    priceIn: moneyText.describe('The price of a million tokens of input, such as 3USD.').optional(),
    priceOut: moneyText.describe('The price of a million tokens of output.').optional(),
  }),
  output: statusSchema,
  show: ({ provider, model, tokensPerMonth }) =>
    `${provider} ${model} is the planner; it suggests, and looks at schedules every 5 minutes${tokensPerMonth === null ? '' : `, for at most ${tokensPerMonth} tokens a month`}`,
  errors: ['invalid', 'not-found', 'conflict'],
  examples: [
    { provider: 'openai-compatible', url: 'https://example.org/v1', model: 'qwen3', tokensPerMonth: 2_000_000 },
    { provider: 'anthropic', model: 'claude-sonnet-4-5', key: 'ANTHROPIC', autonomy: 'off' },
  ],
  async judge(context, { value, problems: found }) {
    const problems: Problem[] = [...found]
    const spec = specOf(value, problems)
    refuse('The planner', problems)
    await context.store.do(setPlanner, spec as PlannerSpec, { actor: context.actor })
    if (spec.tokensPerMonth !== undefined) await budgeted(context, spec.tokensPerMonth)
    return statusOf(context)
  },
})

type Given = Partial<z.output<typeof set.input>>

function specOf(value: Given, problems: Problem[]): Partial<PlannerSpec> {
  const { provider, url, script, priceIn, priceOut, key, ...rest } = value
  const needs = (field: string, of: string) =>
    problems.push({ field, problem: 'is missing', expected: `${field}, which ${of} needs` })
  if (provider === 'openai-compatible' && url === undefined) needs('url', provider)
  if (provider === 'anthropic' && key === undefined) needs('key', provider)
  if (provider === 'scripted' && script === undefined) needs('script', provider)
  if (provider !== 'scripted' && script !== undefined) {
    problems.push({
      field: 'script',
      problem: `is given beside ${provider}`,
      expected: 'the provider scripted, or no script',
    })
  }
  if ((priceIn === undefined) !== (priceOut === undefined) || priceIn?.currency !== priceOut?.currency) {
    problems.push({
      field: 'priceOut',
      problem: 'is not given as priceIn is',
      expected: 'both prices, in one currency',
    })
  }
  const prices =
    priceIn === undefined || priceOut === undefined
      ? undefined
      : { in: priceIn.amount, out: priceOut.amount, currency: priceIn.currency }
  return onlyGiven({ provider, url, script, key, prices, ...rest })
}

/** Its budget is one like any other, by the verb that writes budgets. */
async function budgeted(context: OperationContext, tokens: number): Promise<void> {
  const put = context.operationOf?.('budget', 'put')
  if (put === undefined) throw new BelfryError('conflict', 'Budgets are left out of this process.')
  await put.call(context, { name: plannerQueue, for: `queue=${plannerQueue}`, per: 'month', tokens })
}

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
        ? 'No model is set; rules work without one.'
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
    const answer = await store.do(pausePlanner, { paused: { at, by: actor.name, reason: why ?? null }, clearHints })
    if (answer === null) throw noModel()
    return answer
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
    if ((await store.do(pausePlanner, { paused: null, clearHints: false })) === null) throw noModel()
    return { resumed: true as const }
  },
})

function noModel(): BelfryError {
  return new BelfryError('conflict', 'No model is set.', {
    hint: 'Set one with `belfry planner set`; rules work without one.',
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
    paused: planner?.paused ?? null,
    tokensPerMonth: planner?.spec.tokensPerMonth ?? null,
    ...sums,
  }
}
