import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import { formatDuration } from '../../../core/duration.ts'
import { type Rule, readRules } from '../../../core/rule-form.ts'
import { type EvaluatedRules, evalRules, type RecordedAnswer } from '../../../core/steering/eval-rules.ts'
import { scheduleName } from '../../../operations/fields/basic-fields.ts'
import { durationFields, durationOf } from '../../../operations/input/duration-input.ts'
import { type Problem, refuse } from '../../../operations/input/refuse-input.ts'
import { throwAbsentSchedule } from '../../../operations/not-found.ts'
import { type Doors, everyDoor, operation } from '../../../operations/operation.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { plainText } from '../../../operations/schedule/plain-text.ts'
import { count, flag, instantOutput, text } from '../../../operations/schema/output-schema.ts'
import type { Column, Sheet } from '../../../operations/show.ts'
import { findScheduleRow } from '../../../store/reads/find-schedule.ts'
import type { ScheduleRow } from '../../../store/schedules/schedule-row.ts'
import { clockNow } from '../../../store/statement.ts'
import { givenRules } from '../rules-field.ts'
import { type AnswerPage, type AnswerPlace, answersPage, isEnough, scheduleNames, stateAt } from './recorded-answers.ts'

const schedulesMax = 100
const dayMs = 86_400_000
const lastMsDefault = 7 * dayMs
const lastMsMax = 90 * dayMs

const line = z.strictObject({
  schedule: text('The schedule.'),
  answers: count('Its answers in that time.'),
  withoutBody: count(
    'Those whose body was not kept, or is longer than 16 KB: only $status, $failures and $durationMs are known.',
  ),
  baseline: count('Starts by its baseline alone.'),
  rules: count('Starts with the rules.'),
  saved: count('Starts fewer, hour by hour.'),
  added: count('Starts more, hour by hour.'),
  acted: z.record(z.string(), z.int()).describe('How often each rule acted.'),
  firstFailureAt: instantOutput('When its first failing answer ended.').nullable(),
  baselineNextMs: z.int().describe('From there to the next start by its baseline, in ms.').nullable(),
  rulesNextMs: z.int().describe('From there to the next start with the rules, in ms.').nullable(),
  breaches: count('Starts outside min, max or window.'),
  siblingRules: z.array(z.string()).readonly().describe('Rules on siblings, which are not judged here.'),
  isWhole: flag('Whether all of that time was played.'),
})
type Line = z.output<typeof line>

const output = z.strictObject({
  from: instantOutput('Where it begins.'),
  to: instantOutput('Where it ends.'),
  schedules: z.array(line).readonly().describe('What the rules would have done, by schedule.'),
  left: z
    .array(z.strictObject({ schedule: text('The schedule.'), why: text('Why, in a clause.') }))
    .readonly()
    .describe('Schedules that were not played.'),
  isWhole: flag('Whether all schedules were read; without a name only the first 100 are.'),
})
type Evaluation = z.output<typeof output>

const withoutModels: Doors = { ...everyDoor, mcp: 'Only people write rules, and read what they would have done.' }

/** What given rules would have done with the recorded answers of schedules. */
export const evaluate = operation({
  noun: 'planner',
  verb: 'eval',
  effect: 'read',
  scope: 'read',
  doors: withoutModels,
  says: 'Play schedules over their recorded answers, by their baselines and by rules, and compare; change nothing.',
  request: 'an evaluation of rules',
  input: z.strictObject({
    schedule: scheduleName.describe('Only this one. Default: all that have rules; with rules given, all.').optional(),
    ...durationFields('last', 'How far back, at most 90d. Default: 7d.'),
    rules: givenRules.describe('The rules to play, in place of their own; see docs/rules.md.').optional(),
  }),
  takes: [],
  output,
  show: shown,
  errors: ['invalid', 'not-found'],
  examples: [
    { schedule: 'depth', last: '7d' },
    // biome-ignore lint/suspicious/noThenProperty: a rule is data, and its effect no function.
    { last: '1d', rules: [{ name: 'surge', when: { queue_depth: { above: 200 } }, then: { every: '30s' } }] },
  ],
  async judge(context, { value, problems: found }) {
    const problems: Problem[] = [...found]
    const lastMs = durationOf(value, 'last', problems) ?? lastMsDefault
    if (lastMs < 60_000 || lastMs > lastMsMax) {
      problems.push({ field: 'last', problem: `is ${formatDuration(lastMs)}`, expected: 'from 1m to 90d' })
    }
    const rules = value.rules === undefined ? null : readGiven(value.rules, problems)
    refuse('The evaluation', problems)
    return evaluated(context, { name: value.schedule, lastMs, rules })
  },
})

interface Wanted {
  readonly name: string | undefined
  readonly lastMs: number
  readonly rules: readonly Rule[] | null
}

async function evaluated(context: OperationContext, { name, lastMs, rules }: Wanted): Promise<Evaluation> {
  const { store } = context
  const to = await store.look(clockNow)
  const span = { from: to - lastMs, to }
  const found = name === undefined ? await store.look(scheduleNames, '', schedulesMax + 1) : [name]
  const schedules: Line[] = []
  const left: { schedule: string; why: string }[] = []
  for (const each of found.slice(0, schedulesMax)) {
    const row = await store.look(findScheduleRow, each)
    if (row === null || row.deletedAt !== null) {
      if (name !== undefined) return throwAbsentSchedule(context, name)
      continue
    }
    const own = rules ?? row.spec.rules ?? []
    const why = whyLeft(row, own)
    if (why === 'no rules' && name === undefined) continue
    const told = why ?? (await played(context, { row, rules: own, span }))
    if (typeof told === 'string') left.push({ schedule: row.name, why: told })
    else schedules.push(told)
  }
  return { ...span, schedules, left, isWhole: found.length <= schedulesMax }
}

/** Why a schedule cannot be replayed. */
function whyLeft({ spec, name }: ScheduleRow, rules: readonly Rule[]): string | null {
  if (name.startsWith('belfry:')) return 'it belongs to Belfry'
  if (spec.timing.cron === undefined && spec.timing.everyMs === undefined) return 'it has no recurring timing'
  if (rules.length === 0) return 'no rules'
  return rules.every(({ sibling }) => sibling !== undefined) ? 'it has only rules on siblings' : null
}

interface Playing {
  readonly row: ScheduleRow
  readonly rules: readonly Rule[]
  readonly span: { readonly from: number; readonly to: number }
}

async function played(context: OperationContext, { row, rules, span }: Playing): Promise<Line | string> {
  const { answers, withoutBody, isAll } = await recorded(context, row, span)
  const [first] = answers
  if (first === undefined) return 'it gave no answer in that time'
  const own = rules.filter(({ sibling }) => sibling === undefined)
  const from = Math.max(span.from, first.startedAt)
  const to = isAll ? span.to : (answers.at(-1) as RecordedAnswer).endedAt
  const playing = evalRules({ schedule: stateAt(row, from), rules: own, answers, from, to })
  let turn = playing.next()
  while (turn.done !== true) {
    await nextTurn()
    turn = playing.next()
  }
  return lineOf(row.name, turn.value, {
    answers: answers.length,
    withoutBody,
    siblingRules: rules.filter((rule) => !own.includes(rule)).map(({ name }) => name),
    isWhole: isAll && !turn.value.isCapped,
  })
}

function lineOf(
  schedule: string,
  { starts, nextStartMs, isCapped: _, ...rest }: EvaluatedRules,
  known: Pick<Line, 'answers' | 'withoutBody' | 'siblingRules' | 'isWhole'>,
): Line {
  return {
    schedule,
    ...known,
    ...starts,
    ...rest,
    baselineNextMs: nextStartMs.baseline,
    rulesNextMs: nextStartMs.rules,
  }
}

async function recorded({ store }: OperationContext, row: ScheduleRow, { from, to }: Playing['span']) {
  const answers: RecordedAnswer[] = []
  let after: AnswerPlace | null = { enqueuedAt: from, id: 0 }
  let [withoutBody, textLength] = [0, 0]
  while (after !== null && !isEnough(answers.length, textLength)) {
    const page: AnswerPage = await store.look(answersPage, row, { after, to })
    answers.push(...page.answers)
    withoutBody += page.withoutBody
    textLength += page.textLength
    after = page.next
  }
  // A run that waited may have started after one that was enqueued later.
  answers.sort((a, b) => a.startedAt - b.startedAt)
  return { answers, withoutBody, isAll: after === null }
}

function readGiven(given: unknown, problems: Problem[]): readonly Rule[] {
  const rules = readRules(given, 'rules', problems)
  if (Array.isArray(given) && given.length === 0) {
    problems.push({ field: 'rules', problem: 'is an empty list', expected: 'at least one rule' })
  }
  return rules
}

const columns: readonly Column<Line>[] = [
  ['SCHEDULE', 'schedule', 'short'],
  ['ANSWERS', 'answers', 'count'],
  ['BASELINE', 'baseline', 'count'],
  ['RULES', 'rules', 'count'],
  ['SAVED', 'saved', 'count'],
  ['ADDED', 'added', 'count'],
  ['NEXT AFTER A FAILURE', ({ baselineNextMs, rulesNextMs }, sheet) => nextInWords(baselineNextMs, rulesNextMs, sheet)],
  ['BREACHES', 'breaches', 'count'],
  [
    'ACTED',
    ({ acted }) =>
      Object.entries(acted)
        .map(([rule, times]) => `${rule} ${times}×`)
        .join(', ') || 'none',
  ],
]

function nextInWords(baseline: number | null, rules: number | null, { howLong }: Sheet): string | null {
  const words = (ms: number | null) => (ms === null ? 'none' : howLong(ms))
  return baseline === null && rules === null ? null : `${words(rules)}, baseline ${words(baseline)}`
}

function shown({ from, to, schedules, left, isWhole }: Evaluation, sheet: Sheet): string {
  const sum = (field: 'saved' | 'added' | 'breaches') => schedules.reduce((total, each) => total + each[field], 0)
  const notes = [
    ...left.map(({ schedule, why }) => `  not played: ${plainText(schedule)}: ${why}`),
    ...schedules.flatMap(({ schedule, siblingRules }) =>
      siblingRules.length === 0
        ? []
        : [`  not judged: rules on siblings of ${plainText(schedule)}: ${siblingRules.join(', ')}`],
    ),
    ...schedules.flatMap((each) =>
      each.isWhole ? [] : [`  ${plainText(each.schedule)} was played in part: it has too many answers or starts`],
    ),
    ...(isWhole ? [] : [`  only the first ${schedulesMax} schedules were read; name one with --schedule`]),
  ]
  const head = `${sheet.stamp(from)} to ${sheet.stamp(to)}, played over recorded answers; nothing was changed`
  if (schedules.length === 0) return [head, '  No schedule with rules has answered in that time.', ...notes].join('\n')
  const total = `${sum('saved')} starts saved, ${sum('added')} added, ${sum('breaches')} outside the bounds`
  return [head, sheet.table(columns, schedules), total, ...notes].join('\n')
}
