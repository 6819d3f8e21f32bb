import { type AccountSpec, type AccountStanding, allowedBy } from '../../src/core/account.ts'
import type { SqliteHandle } from '../../src/store/sqlite/driver.ts'
import type { Change, Rows } from '../change-log.ts'
import { demand } from './breach.ts'
import type { Holds } from './holds.ts'

/** The accounts as they really lie in the store, and who uses them. */
export class Accounts {
  readonly #rows = new Map<string, Rows['account']>()
  readonly #open = new Map<string, Rows['account_use']>()

  changed(change: Change, holds: Holds): void {
    if (change.table === 'account' && change.after !== null) this.#rows.set(change.after.name, change.after)
    if (change.table !== 'account_use') return
    const { before, after } = change
    if (before !== null) this.#open.delete(nameOf(before))
    if (after !== null && after.ended_at === null) this.#open.set(nameOf(after), after)
    if (before === null && after !== null) this.#reserved(after, holds)
  }

  /** Who uses an account does so within what was allowed when it began, and not while the account was blocked. */
  #reserved(use: Rows['account_use'], holds: Holds): void {
    const used = this.#usersOf(use.account)
    const allowed = this.#allowed(use.account)
    demand(used <= allowed, 'an account is not used by more than may use it', () => ({ use, used, allowed }))
    const block = holds.blockOf(use.account, use.begun_at)
    demand(block === undefined, 'nothing uses a blocked account', () => ({ use, block }))
  }

  /** Nothing is reserved for an attempt that is over, and no run waits for an account that has room. */
  judgeWhole(handle: SqliteHandle, holds: Holds): void {
    const leaked = handle
      .prepare(`select u.run_id, u.fence, u.account from account_use u left join lease l
        on l.run_id = u.run_id and l.fence = u.fence where u.ended_at is null and l.run_id is null`)
      .all()
    demand(leaked.length === 0, 'nothing is reserved for an attempt that is over', () => ({ leaked }))
    for (const account of this.#rows.keys()) {
      const hold = holds.fullOf(account)
      const facts = () => ({ hold, used: this.#usersOf(account), allowed: this.#allowed(account) })
      demand(hold === undefined || this.#usersOf(account) >= this.#allowed(account), 'a full account is full', facts)
    }
  }

  #usersOf(account: string): number {
    return [...this.#open.values()].filter((use) => use.account === account).length
  }

  #allowed(account: string): number {
    const row = this.#rows.get(account)
    if (row === undefined) return 0
    return allowedBy(JSON.parse(row.spec) as AccountSpec, JSON.parse(row.standing) as AccountStanding)
  }
}

function nameOf({ run_id: runId, fence, account }: Rows['account_use']): string {
  return `${runId} ${fence} ${account}`
}
