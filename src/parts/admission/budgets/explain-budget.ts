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

/** The spent budgets that a run waits for, or was skipped for, each with what lets it go on. A hold says so itself. */
export async function explainBudgets({ store }: OperationContext, run: RunView): Promise<readonly string[]> {
  const { queue, schedule = null, target, options } = run
  if (run.waiting?.reason !== 'deferred: budget' && run.end?.reason !== 'budget') return []
  const work = workOf({ queue, schedule, target, options })
  const now = await store.look(clockNow)
  return (await store.look(listBudgets)).flatMap((budget) => {
    const { terms, name } = budget
    const state = stateAt(terms, budget.state, now)
    const spent = fits(budget, work) && terms.per !== 'run' ? spentOn(terms, state) : null
    if (spent === null) return []
    const lift = belfryCommand('budget', 'topup', name)
    return [`${spentWords(budget, state, spent)} It begins anew at ${isoText(state.until)}, or sooner by \`${lift}\`.`]
  })
}

/** The budgets that count the runs of a schedule. */
export async function budgetsCounting({ store }: OperationContext, planned: PlannedWork): Promise<readonly string[]> {
  const work = workOf(planned)
  return (await store.look(listBudgets)).filter((budget) => fits(budget, work)).map(({ name }) => name)
}
