import type { OperationContext } from '../../../operations/operation-context.ts'
import { runIdOf } from '../../../store/leases/settle.ts'
import { all, both, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import type { RunView } from '../../../store/views.ts'

const findUsed = both(
  'account find used',
  `select fence, account, ended_at from belfry.account_use where run_id = $1 and ns = $2 and account <> '' order by fence desc limit 3`,
)

export interface AccountUsed {
  readonly fence: number
  readonly account: string
  readonly endedAt: number | null
}

/** The accounts that the newest attempts of a run used. */
export function* accountsUsed({ ns }: StoreContext, runId: string): Step<AccountUsed[]> {
  const rows = yield* all<{ fence: number; account: string; ended_at: number | null }>(findUsed, runIdOf({ runId }), ns)
  return rows.map(({ fence, account, ended_at: endedAt }) => ({ fence, account, endedAt }))
}

/** Which account an attempt used, for the explanation of its run. */
export async function explainAccount(
  { store }: OperationContext,
  { id, options }: RunView,
): Promise<readonly string[]> {
  if (!('account' in options)) return []
  const used = await store.look(accountsUsed, id)
  return used.map(
    ({ fence, account, endedAt }) => `Attempt ${fence} ${endedAt === null ? 'uses' : 'used'} account ${account}.`,
  )
}
