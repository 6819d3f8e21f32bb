import { z } from 'zod'
import { inWordsOf, type Problem, refuse } from '../../../operations/input/refuse-input.ts'
import { absent } from '../../../operations/not-found.ts'
import { type Doors, everyDoor, operation } from '../../../operations/operation.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { refuseAbsentSubject } from '../../../operations/present-subject.ts'
import { text } from '../../../operations/schema/output-schema.ts'
import { deleted } from '../../../operations/show.ts'
import { findSchedule } from '../../../store/reads/find-schedule.ts'
import { clockNow } from '../../../store/statement.ts'
import { type Budget, budgetAnswer, budgetSchema } from './budget-answer.ts'
import { budgetInput, budgetName, type ReadBudget, readAmounts, readBudget, topUpInput } from './budget-input.ts'
import type { BudgetFor } from './budget-scope.ts'
import { costOperation } from './cost.ts'
import { budgetShown, budgetsShown, showPut } from './show.ts'
import { kindOf, unknownCost, whyUnpriced } from './unpriced.ts'
import { deleteBudget, findBudget, listBudgets, putBudget, topUpBudget } from './write-budget.ts'

/** A model must not raise what it may spend. */
const people: Doors = {
  ...everyDoor,
  mcp: 'Only a person changes what may be spent; a model reads the budgets, and asks.',
}
const changing = {
  noun: 'budget',
  effect: 'write',
  scope: 'operate',
  persons: true,
  doors: people,
  takes: ['name'],
} as const
const reading = { noun: 'budget', effect: 'read', scope: 'read', doors: everyDoor, method: 'GET' } as const

const put = operation({
  ...changing,
  verb: 'put',
  method: 'PUT',
  idempotent: true,
  begins: true,
  says: 'Create or change a budget: what runs may spend in a period.',
  request: 'a budget',
  input: budgetInput,
  output: budgetSchema,
  show: showPut,
  errors: ['invalid', 'not-found', 'conflict'],
  examples: [
    {
      name: 'claude-day',
      for: 'profile=claude',
      per: 'day',
      zone: 'Europe/Paris',
      money: '40USD',
      tokens: 2_000_000,
      runs: 200,
    },
    { name: 'report', for: 'schedule=report', per: 'run', tokens: 50_000 },
    { name: 'mail', for: 'queue=mail', per: 'hour', runs: 100, runtime: '2h', perRun: { runtime: '1m' } },
  ],
  async judge(context, { value, problems: found }) {
    const problems: Problem[] = [...found]
    const before = value.name === undefined ? null : await context.store.look(findBudget, value.name)
    const read = readBudget(value, before?.terms.zone ?? context.zone, problems)
    problems.push(...(await moneyProblems(context, read)))
    refuse('The budget', problems)
    const [name, of] = [value.name as string, read.of as BudgetFor]
    await refuseAbsentSubject(context, of)
    const { store, actor } = context
    const wanted = { name, ...of, terms: read.terms }
    const { budget } = await inWordsOf(
      'The budget',
      (said) => said,
      () => store.do(putBudget, wanted, { actor }),
    )
    return present(context, budget.name)
  },
})

/** Where it is certain that no cost is reported, a budget of money would count nothing. */
async function moneyProblems(context: OperationContext, { of, terms }: ReadBudget): Promise<Problem[]> {
  if (of === undefined || terms.limits.money === undefined) return []
  if (terms.perRun?.money !== undefined) return []
  const why = of.scope === 'schedule' ? await unreported(context, of.subject) : await unpriced(context, of)
  return why === null ? [] : [unknownCost(why)]
}

/** The cost of a command or an HTTP request is known only where its answer says so. */
async function unreported({ store, kinds }: OperationContext, schedule: string): Promise<string | null> {
  const spec = (await store.look(findSchedule, schedule))?.spec
  const kind = kinds.find(({ name }) => spec?.target?.[name] !== undefined)
  const { usage } = (spec?.options ?? {}) as { readonly usage?: { readonly money?: string } }
  return kind?.reportsUsage === 'in-answer' && usage?.money === undefined
    ? `schedule ${schedule} has no usage.money`
    : null
}

async function unpriced({ store, kinds }: OperationContext, of: BudgetFor): Promise<string | null> {
  const kind = kindOf(of, kinds)
  return whyUnpriced(of, (await kind?.inStore?.(store)) ?? kind)
}

const list = operation({
  ...reading,
  verb: 'list',
  says: 'List budgets by name, with what is left of each.',
  request: 'a list of budgets',
  input: z.strictObject({}),
  takes: [],
  output: z.array(budgetSchema),
  show: budgetsShown,
  errors: ['invalid'],
  examples: [{}],
  async run({ store }) {
    const now = await store.look(clockNow)
    return (await store.look(listBudgets)).map((budget) => budgetAnswer(budget, now))
  },
})

const show = operation({
  ...reading,
  verb: 'show',
  says: 'Show a budget: what is used, reserved and left, and when its next period begins.',
  request: 'a look at a budget',
  input: z.strictObject({ name: budgetName }),
  takes: ['name'],
  output: budgetSchema,
  show: budgetShown,
  errors: ['invalid', 'not-found'],
  examples: [{ name: 'claude-day' }],
  run: (context, { name }) => present(context, name),
})

const topup = operation({
  ...changing,
  verb: 'topup',
  says: 'Add to what a budget may spend in its current period; runs that it held may start at once.',
  request: 'a topup',
  input: topUpInput,
  output: budgetSchema,
  show: budgetShown,
  errors: ['invalid', 'not-found'],
  examples: [{ name: 'claude-day', money: '10USD' }],
  async judge(context, { value, problems: found }) {
    const { store, actor } = context
    const problems: Problem[] = [...found]
    const { amounts, currency } = readAmounts(value, problems)
    const known = value.name === undefined ? null : await store.look(findBudget, value.name)
    if (known !== null) problems.push(...topUpProblems(known.terms, amounts, currency))
    refuse('The topup', problems)
    const name = value.name as string
    if ((await store.do(topUpBudget, name, { amounts, actor })) === null) await absentBudget(context, name)
    return present(context, name)
  },
})

type Terms = ReadBudget['terms']

function topUpProblems({ per, limits, currency }: Terms, amounts: object, given: string | undefined): Problem[] {
  const expected = `one of ${Object.keys(limits).map(fieldOf).join(', ')}, which the budget limits`
  if (per === 'run') return [{ field: 'name', problem: 'is a budget per run', expected: 'a budget of a period' }]
  if (Object.keys(amounts).length === 0) return [{ field: 'amount', problem: 'is missing', expected }]
  const foreign = Object.keys(amounts).filter((each) => !(each in limits))
  const problems = foreign.map((each) => ({ field: fieldOf(each), problem: 'is not limited', expected }))
  if (given === undefined || currency === undefined || given === currency) return problems
  return [...problems, { field: 'money', problem: `is in ${given}`, expected: `${currency}, as the budget` }]
}

function fieldOf(resource: string): string {
  return resource === 'runtimeMs' ? 'runtime' : resource
}

const remove = operation({
  ...changing,
  verb: 'delete',
  method: 'DELETE',
  asksFirst: true,
  effect: 'destructive',
  says: 'Delete a budget; runs that it held may start at once.',
  request: 'a deletion of a budget',
  input: z.strictObject({ name: budgetName }),
  output: z.strictObject({ name: text('The name of the deleted budget.') }),
  show: ({ name }, sheet) => deleted(`budget ${name}`, sheet),
  errors: ['invalid', 'not-found', 'conflict'],
  examples: [{ name: 'claude-day' }],
  async run(context, { name }) {
    const { store, actor } = context
    if ((await store.do(deleteBudget, name, { actor })) === null) await absentBudget(context, name)
    return { name }
  },
})

async function present(context: OperationContext, name: string): Promise<Budget> {
  const { store } = context
  const found = (await store.look(listBudgets)).find((budget) => budget.name === name)
  return found === undefined ? absentBudget(context, name) : budgetAnswer(found, await store.look(clockNow))
}

async function absentBudget({ store }: OperationContext, name: string): Promise<never> {
  const known = (await store.look(listBudgets)).map((budget) => budget.name)
  throw absent('budget', name, known, 'List budgets with `belfry budget list`.')
}

export const budgetOperations = { put, list, show, topup, delete: remove, cost: costOperation }
