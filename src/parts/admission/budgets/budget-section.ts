import type { ConfigSection } from '../../../operations/config-section.ts'
import { fieldChanges } from '../../../operations/fields/field-changes.ts'
import { read } from '../../../operations/input/read-input.ts'
import { all, both, run } from '../../../store/statement.ts'
import { budgetInput, budgetName, readBudget } from './budget-input.ts'
import type { Budget } from './budget-row.ts'
import { type BudgetFor, forText } from './budget-scope.ts'
import { deleteBudget, findBudget, listBudgets, type NewBudget, putBudget } from './write-budget.ts'

declare module '../../../core/added.ts' {
  interface AddedToConfig {
    readonly budgets: AddedType<readonly { readonly name: string; readonly answer: string }[], Record<string, unknown>>
  }
}

const findKept = both(
  'config find budgets',
  'select name from belfry.budget where ns = $1 and managed_by = $2 order by name',
)
const manage = both('config manage budget', 'update belfry.budget set managed_by = $3 where ns = $1 and name = $2')

export interface BudgetApplied {
  readonly name: string
  readonly answer: 'created' | 'updated' | 'unchanged' | 'deleted'
  readonly before: NewBudget | null
  readonly after: NewBudget | null
}

const form = budgetInput.omit({ name: true })
const unread: BudgetFor = { scope: 'namespace', subject: '' }

/** Budgets of a config file. What they are of may be made by the same file, or later. */
export const budgetSection: ConfigSection<NewBudget, BudgetApplied> = {
  name: 'budgets',
  says: 'Budgets by name, each with the fields of budget put.',
  names: budgetName,
  deletes: true,
  async reader({ store, zone }) {
    const zones = new Map((await store.look(listBudgets)).map(({ name, terms }) => [name, terms.zone]))
    return (name, given, problems) => {
      const { value, problems: found } = read(form, given ?? {}, 'a budget')
      problems.push(...found)
      const { of = unread, terms } = readBudget(value, zones.get(name) ?? zone, problems)
      return { name, ...of, terms }
    }
  },
  *kept({ ns }, source) {
    return (yield* all<{ name: string }>(findKept, ns, source)).map(({ name }) => name)
  },
  *apply({ context, source, actor }, entry) {
    const { name } = entry
    const before = yield* findBudget(context, name)
    const { answer, budget } = yield* putBudget(context, entry, { actor, source })
    yield* run(manage, context.ns, name, source)
    return { name, answer, before, after: budget }
  },
  *leave({ context, source, actor }, name) {
    const before = yield* deleteBudget(context, name, { actor, source })
    return before === null ? null : { name, answer: 'deleted', before, after: null }
  },
  written: ({ name, answer, before, after }) => ({
    name,
    answer,
    changes: answer === 'updated' ? fieldChanges(saidOf(before), saidOf(after)) : [],
  }),
}

function saidOf(budget: Pick<Budget, 'scope' | 'subject' | 'terms'> | null): object {
  if (budget === null) return {}
  const { limits, ...rest } = budget.terms
  return { for: forText(budget), ...limits, ...rest }
}
