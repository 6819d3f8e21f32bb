import { type BudgetState, type Resource, resources, spentOn, usedLevel } from '../../../core/budget/budget.ts'
import type { HoldScope } from '../../../core/hold.ts'
import type { HoldReason } from '../../../core/hold-reason.ts'
import { parseId } from '../../../core/id.ts'
import { isNarrow } from '../../../store/holds/hold-row.ts'
import { deleteHold, endHold } from '../../../store/holds/lift-hold.ts'
import { findHold } from '../../../store/holds/list-holds.ts'
import { writeHold } from '../../../store/holds/put-hold.ts'
import { raise } from '../../../store/raise.ts'
import { run, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import type { Budget } from './budget-row.ts'
import { amountWords, periodWords } from './budget-words.ts'

const author = 'budget '

/** A spent budget. The author of the hold names the budget. */
export const budgetReason: HoldReason = {
  code: 'budget',
  firing: 'skips',
  says: 'A budget is spent: occurrences end as skipped, and enqueued runs wait.',
  unblocks: 'The next period of the budget, or `belfry budget topup`, or a higher limit by `belfry budget put`.',
  skipped: 'a budget that counts its runs was spent',
  sentence: ({ by, note }) => note ?? `The ${by} is spent.`,
  lift: ({ by }) => ({
    what: 'Add to the budget of this period.',
    words: ['budget', 'topup', by.slice(author.length)],
  }),
}

/** Holds on a tag and on a single run do not exist: their runs are asked under the lease. */
function holdScopeOf({ scope, terms }: Budget): HoldScope | null {
  return scope === 'tag' || terms.per === 'run' ? null : scope
}

/**
 * Puts or lifts the hold of a locked budget by its new state. Returns the id of its hold. `isDoubted`: a run came through, so
 * a person may have lifted the hold meanwhile. The hold may come and go with every run, so no audit line is written.
 */
export function* heldFor(
  context: StoreContext,
  budget: Budget,
  state: BudgetState,
  { now, isDoubted = false }: { readonly now: number; readonly isDoubted?: boolean },
): Step<string | null> {
  const scope = holdScopeOf(budget)
  if (scope === null) return null
  const own = { ...context, ns: budget.ns }
  const spent = spentOn(budget.terms, state)
  const before = budget.state?.from === state.from ? budget.holdId : null
  if (spent === null) {
    if (before !== null) yield* liftOwn(scope, before, now)
    return null
  }
  if (before !== null && (!isDoubted || (yield* findHold(own, before)) !== null)) return before
  const note = spentWords(budget, state, spent)
  const actor = { name: author + budget.name, door: 'budget' }
  const { until } = state
  const hold = { scope, subject: budget.subject, from: now, until, reason: budgetReason, note, actor }
  return (yield* writeHold(own, hold, now)).id
}

/** Its runs may start at once. Where they were set aside they return first. */
function* liftOwn(scope: HoldScope, id: string, now: number): Step<void> {
  const number = parseId('hold', id) as number
  if (isNarrow(scope)) yield* run(endHold, number, now)
  else yield* run(deleteHold, number)
}

/** Notifies of a budget whose use has reached 80 % or 100 % of its period. A budget of single runs has no period. */
export function* raiseUsed(
  context: StoreContext,
  { budget, state }: { readonly budget: Budget; readonly state: BudgetState },
): Step<void> {
  const { terms, name, ns } = budget
  if (terms.per === 'run') return
  const before = budget.state?.from === state.from ? usedLevel(terms, budget.state) : 0
  const level = usedLevel(terms, state)
  if (level <= before) return
  const reason = `${usedWords(terms, state)}; the next period begins at ${new Date(state.until).toISOString()}`
  const happened = level === 100 ? 'is spent' : `is used to ${level} %`
  yield* raise({ ...context, ns }, [{ event: 'budget', about: `budget ${name}`, happened, reason }])
}

/** `used 32 of 40 USD, 160 of 200 runs` */
function usedWords({ limits, currency }: Budget['terms'], { used, added }: BudgetState): string {
  const known = resources.filter((each) => limits[each] !== undefined)
  const parts = known.map((each) => {
    const all = amountWords(each, (limits[each] ?? 0) + added[each], currency)
    return `${amountWords(each, used[each], currency)} of ${all}`
  })
  return `used ${parts.join(', ')}`
}

/** `Budget claude-day is spent: 40 USD a day.` */
export function spentWords(
  { name, terms }: Pick<Budget, 'name' | 'terms'>,
  { added }: BudgetState,
  spent: Resource,
): string {
  const amount = amountWords(spent, (terms.limits[spent] ?? 0) + added[spent], terms.currency)
  return `Budget ${name} is spent: ${amount} ${periodWords[terms.per]}.`
}
