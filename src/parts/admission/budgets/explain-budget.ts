import { spentOn, stateAt } from '../../../core/budget/budget.ts'
import { isoText } from '../../../operations/input/instant.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import type { PlannedWork } from '../../../operations/part.ts'
import { belfryCommand } from '../../../operations/shell-words.ts'
import { clockNow } from '../../../store/statement.ts'
import type { RunView } from '../../../store/views.ts'
import { spentWords } from './budget-hold.ts'
import { fits, workOf } from './budget-scope.ts'
import { listBudgets } from './write-budget.ts'

/**
 * The spent budgets because of which a run was deferred or skipped, each with what lets it go on. A run that waits under the
 * hold of a budget is explained by the hold.
 */
export async function explainBudgets({ store }: OperationContext, run: RunView): Promise<readonly string[]> {
  const { queue, schedule = null, target, options } = run
  const isDeferred = run.waiting?.reason === 'deferred: budget'
  if (!isDeferred && run.end?.reason !== 'budget') return []
  const work = workOf({ queue, schedule, target, options })
  const now = await store.look(clockNow)
  return (await store.look(listBudgets)).flatMap((budget) => {
    const { terms, name } = budget
    const state = stateAt(terms, budget.state, now)
    if (!fits(budget, work) || terms.per === 'run') return []
    const spent = spentOn(terms, state)
    if (spent === null) return isDeferred && (state.blind ?? 0) > 0 ? [blindWords(name)] : []
    const lift = belfryCommand('budget', 'topup', name)
    return [`${spentWords(budget, state, spent)} It begins anew at ${isoText(state.until)}, or sooner by \`${lift}\`.`]
  })
}

function blindWords(name: string): string {
  return `Budget ${name} does not know yet what such a run uses, so that one is at work at a time. It starts when that one has ended.`
}

/** The budgets that count the runs of a schedule. */
export async function budgetsCounting({ store }: OperationContext, planned: PlannedWork): Promise<readonly string[]> {
  const work = workOf(planned)
  return (await store.look(listBudgets)).filter((budget) => fits(budget, work)).map(({ name }) => name)
}
