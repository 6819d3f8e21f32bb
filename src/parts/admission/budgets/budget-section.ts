import { isRecord } from '../../../core/json/record.ts'
import { type ChangedEntry, type ConfigSection, writtenBy } from '../../../operations/config-section.ts'
import { read } from '../../../operations/input/read-input.ts'
import { all, both, run } from '../../../store/statement.ts'
import { checkAccount } from '../accounts/account-field.ts'
import { budgetInput, budgetName, readBudget } from './budget-input.ts'
import type { Budget } from './budget-row.ts'
import { type BudgetFor, forText } from './budget-scope.ts'
import { kindOf, unknownCost, whyUnpriced } from './unpriced.ts'
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

const form = budgetInput.omit({ name: true })
const unread: BudgetFor = { scope: 'namespace', subject: '' }

/** Budgets of a config file. The schedules and queues that they name may be created by the same file, or later. */
export const budgetSection: ConfigSection<NewBudget, ChangedEntry<NewBudget>> = {
  name: 'budgets',
  says: 'Budgets by name, each with the fields of budget put.',
  names: budgetName,
  deletes: true,
  // The profile whose runs a budget counts is known with what the same file says about it.
  targets: (given) => (isRecord(given) && /^(profile|kind)=/.test(String(given.for)) ? [{ agent: {} }] : []),
  async reader({ store, zone, kinds }) {
    const zones = new Map((await store.look(listBudgets)).map(({ name, terms }) => [name, terms.zone]))
    return (name, given, problems) => {
      const { value, problems: found } = read(form, given ?? {}, 'a budget')
      problems.push(...found)
      const { of = unread, terms } = readBudget(value, zones.get(name) ?? zone, problems)
      const isCounted = terms.limits.money !== undefined && terms.perRun?.money === undefined
      const why = isCounted ? whyUnpriced(of, kindOf(of, kinds)) : null
      if (why !== null) problems.push(unknownCost(why))
      return { name, ...of, terms }
    }
  },
  *kept({ ns }, source) {
    return (yield* all<{ name: string }>(findKept, ns, source)).map(({ name }) => name)
  },
  *apply({ context, source, actor }, entry) {
    const { name } = entry
    const where = `budgets.${name}.`
    if (entry.scope === 'account') yield* checkAccount(context, `${where}for`, entry.subject)
    const before = yield* findBudget(context, name)
    const { answer, budget } = yield* putBudget(context, entry, { actor, source, where })
    yield* run(manage, context.ns, name, source)
    return { name, answer, before, after: budget }
  },
  *leave({ context, source, actor }, name) {
    const before = yield* deleteBudget(context, name, { actor, source })
    return before === null ? null : { name, answer: 'deleted', before, after: null }
  },
  written: writtenBy(saidOf),
}

function saidOf(budget: Pick<Budget, 'scope' | 'subject' | 'terms'>): object {
  const { limits, ...rest } = budget.terms
  return { for: forText(budget), ...limits, ...rest }
}
