import { defaultPolicy } from '../../../core/queue/policy.ts'
import type { Duty } from '../../../engine/part.ts'
import type { Sweeping } from '../../../store/prune/sweep.ts'
import { all, both, run, type Step, thereIsNo } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { lockedAccounts, wholeNamespace } from './account-row.ts'
import { holdLanes } from './lane-holds.ts'

const leaked = `ended_at is null and ${thereIsNo('from belfry.lease l where l.run_id = u.run_id and l.fence = u.fence')}`
const findLeaked = both(
  'account find leaked',
  `select u.run_id, u.fence, u.account from belfry.account_use u where u.ns = $1 and u.${leaked} limit $2`,
)
const freeLeaked = both(
  'account free leaked',
  'update belfry.account_use set ended_at = $4 where run_id = $1 and fence = $2 and account = $3',
)
const findOld = both(
  'prune find account use',
  `select run_id, fence, account from belfry.account_use where ended_at is not null and ended_at <= $1 order by ended_at limit $2`,
)
const remove = both(
  'account remove use',
  'delete from belfry.account_use where run_id = $1 and fence = $2 and account = $3',
)

interface Use {
  readonly run_id: number
  readonly fence: number
  readonly account: string
}

const repairedMax = 1_000

/**
 * Frees slots that the ends of their attempts did not free, and brings the holds in line with the accounts. The accounts are
 * locked first: an attempt that looks over may have been committed meanwhile.
 */
export function* repairUse(context: StoreContext): Step<number> {
  const accounts = yield* lockedAccounts(context)
  if (accounts.byName.size === 0) return 0
  const found = yield* all<Use>(findLeaked, context.ns, repairedMax)
  for (const { run_id: runId, fence, account } of found) {
    if (account === wholeNamespace) yield* run(remove, runId, fence, account)
    else yield* run(freeLeaked, runId, fence, account, accounts.now)
  }
  const after = found.length === 0 ? accounts : yield* lockedAccounts(context)
  yield* holdLanes(context, after, new Set(after.byName.keys()))
  return found.length
}

export const repairDuty: Duty = {
  name: 'accounts',
  everyMs: 10_000,
  async tick({ store, events }) {
    const freed = await store.do(repairUse)
    if (freed === 0) return
    const sentence = `Freed ${freed} slots of accounts whose attempts are over.`
    events.tell('store.repaired', { what: 'accounts', subject: 'accounts', sentence })
  },
}

/** Which account an attempt used is kept as long as the ledger. */
const keptMs = defaultPolicy.retention.ledgerMs

export function* sweepUse({ now, rowsLeft }: Sweeping): Step<number> {
  const found = yield* all<Use>(findOld, now - keptMs, rowsLeft)
  for (const { run_id: runId, fence, account } of found) yield* run(remove, runId, fence, account)
  return found.length
}
