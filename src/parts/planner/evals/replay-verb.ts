import { z } from 'zod'
import { BelfryError } from '../../../core/error.ts'
import { readRules } from '../../../core/rule-form.ts'
import { name } from '../../../operations/fields/basic-fields.ts'
import { onlyGiven } from '../../../operations/fields/only-given.ts'
import { type Problem, refuse } from '../../../operations/input/refuse-input.ts'
import { operation } from '../../../operations/operation.ts'
import { plainText } from '../../../operations/schedule/plain-text.ts'
import { instantOutput, text } from '../../../operations/schema/output-schema.ts'
import { noted } from '../../../operations/schema/schema-note.ts'
import type { Sheet } from '../../../operations/show.ts'
import { enqueueFrom } from '../../../store/runs/enqueue.ts'
import type { Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { analysisId, present, withoutModels } from '../desk/analysis-verbs.ts'
import { type AnalysisTarget, decisionsOf, plannerQueue } from '../looks/analysis-kind.ts'
import { findPlanner } from '../planner-row.ts'
import { givenRules } from '../rules-field.ts'
import { replayRules } from './replay-rules.ts'

const promptLengthMax = 20_000

const byRules = z.strictObject({
  before: z
    .array(z.strictObject({ tool: text('The tool.'), arguments: z.unknown().describe('Its arguments.') }))
    .readonly()
    .describe('What the planner did then.'),
  after: z
    .array(
      z.strictObject({
        at: instantOutput('When the answer came.'),
        rule: text('The rule that fits.'),
        wants: text('What it would have done.'),
        reason: text('Why.'),
      }),
    )
    .readonly()
    .describe('What the rules would have done with the answers that the planner knew, oldest first.'),
})
const output = z.strictObject({
  run: text('The run whose result has the difference; null: rules need no model.').nullable(),
  rules: byRules.describe('With rules: the difference.').nullable(),
})
type Replay = z.output<typeof output>

export const replay = operation({
  noun: 'analysis',
  effect: 'write',
  scope: 'operate',
  doors: withoutModels,
  verb: 'replay',
  says: 'Ask again with what a look knew then, by another model or prompt, or judge that by rules; nothing of its schedule changes.',
  request: 'a replay',
  input: z.strictObject({
    id: analysisId,
    model: name.describe('Another model of the same provider. Default: that of the planner.').optional(),
    prompt: noted(z.string().min(1).max(promptLengthMax), { file: 'prompt.md' })
      .describe('Another prompt. Default: that of this version.')
      .optional(),
    rules: givenRules.describe('Rules that judge its answers, in place of a model; see docs/rules.md.').optional(),
  }),
  takes: ['id'],
  output,
  show: shown,
  errors: ['invalid', 'not-found', 'conflict'],
  examples: [{ id: 'a-12' }, { id: 'a-12', model: 'other' }],
  async judge(context, { value: given, problems: found }) {
    const problems: Problem[] = [...found]
    const { id, model, prompt, rules } = given
    const asked = rules === undefined ? null : readRules(rules, 'rules', problems)
    for (const field of ['model', 'prompt'] as const) {
      if (rules === undefined || given[field] === undefined) continue
      problems.push({ field, problem: 'means nothing beside rules', expected: 'rules, or a model and a prompt' })
    }
    refuse('The replay', problems)
    const analysis = await present(context, id as string)
    if (asked !== null) {
      return {
        run: null,
        rules: { before: decisionsOf(analysis.told.calls), after: replayRules(analysis.facts, asked) },
      }
    }
    const planner = await context.store.look(findPlanner)
    if (planner === null) {
      const hint = 'Set one with `belfry planner set`, or replay it by rules with `--rules`.'
      throw new BelfryError('conflict', 'No model is set.', { hint })
    }
    const { provider } = planner.spec
    const target = { schedule: '', replay: id, provider, ...onlyGiven({ model, prompt }) } as AnalysisTarget
    return { run: await context.store.do(enqueueReplay, target), rules: null }
  },
})

function* enqueueReplay(context: StoreContext, analysis: AnalysisTarget): Step<string> {
  const run = { queue: plannerQueue, target: { analysis, lane: analysis.provider }, onExhausted: 'fail' } as const
  return (yield* enqueueFrom(context, 'planner', run)).id
}

function shown({ run, rules }: Replay, { command, stamp }: Sheet): string {
  if (rules === null) return `replays as ${run}\n  its result: ${command('run', 'show', run ?? '')}`
  const before = rules.before.map(({ tool, arguments: given }) => `  ${tool} ${plainText(JSON.stringify(given))}`)
  const after = rules.after.map(({ at, rule, wants, reason }) => {
    return `  ${stamp(at)}  rule ${plainText(rule)}: ${wants}, because ${plainText(reason)}`
  })
  const none = ['  nothing']
  return [
    'the planner did',
    ...(before.length === 0 ? none : before),
    'the rules would have done',
    ...(after.length === 0 ? none : after),
  ].join('\n')
}
