import type { BudgetState, BudgetTerms } from '../../src/core/budget/budget.ts'
import type { SqliteHandle } from '../../src/store/sqlite/driver.ts'
import type { Change, Rows } from '../change-log.ts'
import { demand } from './breach.ts'

/** The budgets as they really lie in the store, and what attempts have reserved of them. */
export class Budgets {
  readonly #rows = new Map<number, Rows['budget']>()

  changed(change: Change): void {
    if (change.table !== 'budget') return
    if (change.before !== null) this.#rows.delete(change.before.id)
    if (change.after !== null) this.#rows.set(change.after.id, change.after)
  }

  /** An attempt reserves only what is left. Judged when all of its step is known: it writes the budget and the reservation. */
  reserved(reservation: Rows['budget_reservation']): void {
    const row = this.#rows.get(reservation.budget_id)
    const state = row?.state === null || row === undefined ? undefined : (JSON.parse(row.state) as BudgetState)
    const told = () => ({ reservation, row })
    demand(row !== undefined && state !== undefined, 'a reservation is of a budget that is there', told)
    const { limits } = JSON.parse(row?.terms ?? '{}') as BudgetTerms
    const taken = (state?.used.runs ?? 0) + (state?.reserved.runs ?? 0)
    demand(taken <= (limits.runs ?? 0) + (state?.added.runs ?? 0), 'no attempt begins beyond a budget', told)
  }

  /** Nothing is reserved for an attempt that is over, and a budget counts what is reserved of its period. */
  judgeWhole(handle: SqliteHandle): void {
    const open = handle
      .prepare(`select r.run_id, r.fence, r.budget_id, r.from_at, r.amounts, l.run_id as leased from budget_reservation r
        left join lease l on l.run_id = r.run_id and l.fence = r.fence where r.settled_at is null`)
      .all() as unknown as (Rows['budget_reservation'] & { readonly leased: number | null })[]
    const leaked = open.filter(({ leased }) => leased === null)
    demand(leaked.length === 0, 'nothing is reserved of a budget for an attempt that is over', () => ({ leaked }))
    for (const row of this.#rows.values()) {
      if (row.state === null) continue
      const { from, reserved } = JSON.parse(row.state) as BudgetState
      const own = open.filter((one) => one.budget_id === row.id && one.from_at === from)
      const runs = own.reduce((sum, { amounts }) => sum + (JSON.parse(amounts) as { runs: number }).runs, 0)
      demand(runs === reserved.runs, 'a budget counts what is reserved of it', () => ({ row, own }))
    }
  }
}
