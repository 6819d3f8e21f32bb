import { accountsNow } from '../../src/parts/admission/accounts/account-row.ts'
import type { Store } from '../../src/store/port.ts'
import { databaseOf } from '../../src/store/sql-store.ts'
import { both, one } from '../../src/store/statement.ts'
import { accountName } from './workload.ts'

/** How many attempts use the account. */
export async function accountUse(store: Store): Promise<number> {
  return (await store.look(accountsNow)).byName.get(accountName)?.used ?? 0
}

const countAll = both('test reservations', 'select count(*) as count from belfry.account_use')

/** How many attempts have used it so far. */
export async function reservationsSoFar(store: Store): Promise<number> {
  const row = await databaseOf(store).read(() => one<{ count: number }>(countAll))
  return row?.count ?? 0
}
