import { z } from 'zod'
import { type Resource, resources, type SomeAmounts } from '../../../core/budget/budget.ts'
import { type Period, periods } from '../../../core/budget/period.ts'
import { newName, zone } from '../../../operations/fields/basic-fields.ts'
import { durationFields, durationOf } from '../../../operations/input/duration-input.ts'
import { moneyText } from '../../../operations/input/money-input.ts'
import type { Problem } from '../../../operations/input/refuse-input.ts'
import type { Terms } from './budget-row.ts'
import { type BudgetFor, forWords, readFor } from './budget-scope.ts'
import { amountWords } from './budget-words.ts'

const amount = z.int().min(1).max(Number.MAX_SAFE_INTEGER)

/** The amounts of a budget, of a topup, and of what a run reserves. */
const amountFields = {
  tokens: amount.describe('Tokens of input and output together; cached ones are not counted.').optional(),
  money: moneyText.describe('Money with its currency, such as 40USD.').optional(),
  ...durationFields('runtime', 'Time that runs take.'),
}

export const budgetName = newName.describe('The name of the budget.')

export const topUpInput = z.strictObject({
  name: budgetName,
  runs: amount.describe('How many more runs.').optional(),
  ...amountFields,
})

export const budgetInput = z.strictObject({
  name: budgetName,
  for: z.string().describe(`Whose runs it counts: ${forWords}.`),
  per: z
    .enum(periods)
    .describe('The period after which it begins anew; run: a budget for each run, over all its attempts.'),
  zone: zone
    .describe('The time zone of its periods. Default: the zone that it has, else the zone of the caller.')
    .optional(),
  runs: amount.describe('How many runs may start; each attempt counts.').optional(),
  ...amountFields,
  perRun: z
    .strictObject(amountFields)
    .describe(
      'What each run reserves before it starts. Default: what 95 % of the last 20 runs like it used, else the estimate of its profile; without either such runs start one at a time.',
    )
    .optional(),
  description: z.string().max(2_000).describe('What it is for.').optional(),
})

type Given = Partial<z.output<typeof budgetInput>>
type GivenAmounts = Partial<Omit<z.output<typeof topUpInput>, 'name'>>

interface ReadAmounts {
  readonly amounts: SomeAmounts
  readonly currency: string | undefined
}

export function readAmounts(given: GivenAmounts, problems: Problem[], prefix = ''): ReadAmounts {
  const { runs, tokens, money: paid } = given
  const runtimeMs = durationOf(given, 'runtime', problems, prefix)
  if (runtimeMs !== undefined && runtimeMs < 1) {
    problems.push({ field: `${prefix}runtime`, problem: `is ${runtimeMs} ms`, expected: 'a duration of at least 1ms' })
  }
  if (paid !== undefined && paid.amount < 1) {
    problems.push({ field: `${prefix}money`, problem: 'is 0', expected: 'an amount above 0' })
  }
  const all = { runs, tokens, money: paid?.amount, runtimeMs }
  const known = resources.flatMap((each) => (all[each] === undefined ? [] : [[each, all[each]]]))
  return { amounts: Object.fromEntries(known), currency: paid?.currency }
}

export interface ReadBudget {
  readonly of: BudgetFor | undefined
  readonly terms: Terms
}

/** A budget as it is stored; what is wrong with it goes to `problems`. */
export function readBudget(given: Given, zoneDefault: string, problems: Problem[]): ReadBudget {
  const { per = 'day', zone: named = zoneDefault, description } = given
  const of = given.for === undefined ? undefined : readFor(given.for)
  if (of !== undefined && 'problem' in of) problems.push({ field: 'for', ...of })
  const { amounts: limits, currency } = readAmounts(given, problems)
  const each = readAmounts(given.perRun ?? {}, problems, 'perRun.')
  const isWhole = problems.length === 0
  if (isWhole && Object.keys(limits).length === 0) {
    problems.push({ field: 'runs', problem: 'is missing', expected: 'runs, tokens, money or runtime: one at least' })
  }
  problems.push(...perRunProblems(limits, currency, each))
  const perRun = Object.keys(each.amounts).length === 0 ? {} : { perRun: each.amounts }
  const terms = { per: per as Period, zone: named, limits, ...perRun }
  return {
    of: of === undefined || 'problem' in of ? undefined : of,
    terms: { ...terms, ...(currency !== undefined && { currency }), ...(description !== undefined && { description }) },
  }
}

function perRunProblems(limits: SomeAmounts, currency: string | undefined, each: ReadAmounts): Problem[] {
  const wrong = (resource: Resource, problem: string, expected: string) => {
    return { field: `perRun.${resource === 'runtimeMs' ? 'runtime' : resource}`, problem, expected }
  }
  return resources.flatMap((resource) => {
    const [wanted, limit] = [each.amounts[resource], limits[resource]]
    if (wanted === undefined) return []
    if (limit === undefined)
      return [wrong(resource, 'is given for an amount that the budget does not limit', 'a limit for that amount too')]
    if (resource === 'money' && each.currency !== currency) {
      return [wrong(resource, `is in ${each.currency}`, `${currency}, as the budget`)]
    }
    if (wanted <= limit) return []
    return [wrong(resource, 'is more than the whole budget', `at most ${amountWords(resource, limit, currency)}`)]
  })
}
