import { listBudgets, putBudget, topUpBudget } from '../../src/parts/admission/budgets/write-budget.ts'
import type { Actor, Store } from '../../src/store/port.ts'
import { databaseOf } from '../../src/store/sql-store.ts'
import { both, one } from '../../src/store/statement.ts'

const actor: Actor = { name: 'faults', door: 'test' }
const name = 'shared'
/** What each attempt reserves; it uses nothing, unless it is lost. */
const each = 10
/** Twelve may reserve at once, and a rest is left that none can have. */
const most = 125

/** A budget of the runs of a queue. */
export async function placeBudget(store: Store, queue: string): Promise<void> {
  const terms = { per: 'month', zone: 'UTC', limits: { tokens: most }, perRun: { tokens: each } } as const
  await store.do(putBudget, { name, scope: 'queue', subject: queue, terms }, { actor })
}

export interface BudgetUse {
  /** By how much more was used and reserved than there is; 0 or less: it was kept. */
  readonly over: number
  /** What is reserved, and by how many attempts. */
  readonly reserved: number
  readonly attempts: number
}

/** How the budget stands. What lost attempts were charged is added again, so that the race goes on. */
export async function budgetUse(store: Store): Promise<BudgetUse | null> {
  const budget = (await store.look(listBudgets)).find((one) => one.name === name)
  if (budget === undefined) return null
  const { attempts, state } = budget
  const [used, reserved, added] = [state?.used.tokens ?? 0, state?.reserved.tokens ?? 0, state?.added.tokens ?? 0]
  if (used > added) await store.do(topUpBudget, name, { amounts: { tokens: used - added }, actor })
  return { over: used + reserved - added - most, reserved, attempts }
}

const countAll = both('test budget uses', 'select count(*) as count from belfry.attempt_usage')

/** How many attempts were settled so far. */
export async function settledSoFar(store: Store): Promise<number> {
  const row = await databaseOf(store).read(() => one<{ count: number }>(countAll))
  return Number(row?.count ?? 0)
}
