import type { BudgetState, BudgetTerms, Reservation as Reserved } from '../../../core/budget/budget.ts'
import { all, both, dialects, inList, type Row, runEach, type Step } from '../../../store/statement.ts'
import type { BudgetFor, BudgetScope } from './budget-scope.ts'

/** The terms of a budget, besides its name and its scope. */
export interface Terms extends BudgetTerms {
  /** The currency of its money. */
  readonly currency?: string | undefined
  readonly description?: string | undefined
}

export interface Budget extends BudgetFor {
  readonly id: number
  readonly ns: number
  readonly name: string
  readonly terms: Terms
  readonly state: BudgetState | null
  /** The hold that it has put. */
  readonly holdId: string | null
  readonly version: number
  readonly managedBy: string | null
  readonly createdAt: number
  readonly createdBy: string
  readonly updatedAt: number
}

export const budgetColumns =
  'id, ns, name, scope, subject, terms, state, hold_id, version, managed_by, created_at, created_by, updated_at'

const listBudgetsOf = both('budgets list', `select ${budgetColumns} from belfry.budget where ns = $1 order by name`)
const listed = `select ${budgetColumns} from belfry.budget where id`
const lockBudgetsOf = dialects('budgets lock', {
  sqlite: `${listed} ${inList.numbers('$1').sqlite} order by id`,
  postgres: `${listed} ${inList.numbers('$1').postgres} order by id for no key update`,
})
const saveStates = dialects('budgets save states', {
  sqlite: 'update belfry.budget set state = $2, hold_id = $3 where id = $1',
  postgres: `update belfry.budget b set state = i.state, hold_id = i.hold_id
    from unnest($1::bigint[], $2::text[], $3::text[]) as i (id, state, hold_id) where b.id = i.id`,
})

export function budgetOf(row: Row): Budget {
  return {
    id: row.id as number,
    ns: row.ns as number,
    name: row.name as string,
    scope: row.scope as BudgetScope,
    subject: row.subject as string,
    terms: JSON.parse(row.terms as string) as Terms,
    state: row.state === null ? null : (JSON.parse(row.state as string) as BudgetState),
    holdId: row.hold_id as string | null,
    version: row.version as number,
    managedBy: row.managed_by as string | null,
    createdAt: row.created_at as number,
    createdBy: row.created_by as string,
    updatedAt: row.updated_at as number,
  }
}

export function* budgetsOf(ns: number): Step<Budget[]> {
  return (yield* all(listBudgetsOf, ns)).map(budgetOf)
}

/** Locks budgets by id, the only order in which several are locked. */
export function* lockBudgets(ids: Iterable<number>): Step<Budget[]> {
  const wanted = [...new Set(ids)]
  return wanted.length === 0 ? [] : (yield* all(lockBudgetsOf, JSON.stringify(wanted))).map(budgetOf)
}

export function* saveBudgets(budgets: readonly Pick<Budget, 'id' | 'state' | 'holdId'>[]): Step<void> {
  yield* runEach(
    saveStates,
    budgets.map(({ id, state, holdId }) => [id, state === null ? null : JSON.stringify(state), holdId]),
  )
}

/**
 * What an attempt has reserved of a budget. For a budget per run the row stays after the end of the attempt and holds what the
 * attempt was charged.
 */
export interface Reservation {
  readonly runId: number
  readonly fence: number
  readonly budgetId: number
  readonly ns: number
  /** The beginning of the period that it counts for. */
  readonly from: number
  readonly amounts: Reserved
  readonly reservedAt: number
  readonly settledAt: number | null
}

export const reservationColumns = 'run_id, fence, budget_id, ns, from_at, amounts, reserved_at, settled_at'

export function reservationOf(row: Row): Reservation {
  return {
    runId: row.run_id as number,
    fence: row.fence as number,
    budgetId: row.budget_id as number,
    ns: row.ns as number,
    from: row.from_at as number,
    amounts: JSON.parse(row.amounts as string) as Reserved,
    reservedAt: row.reserved_at as number,
    settledAt: row.settled_at as number | null,
  }
}
