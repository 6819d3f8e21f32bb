import { type AccountSpec, type AccountStanding, allowedBy } from '../../../core/account.ts'
import { type Hold, isInForce } from '../../../core/hold.ts'
import { holdOf } from '../../../store/holds/hold-row.ts'
import { ahead, all as allRows, both, dialects, rowsOf, run, type Step, storeClock } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { all, big, json, nullable, type RowOf, Table, text } from '../../../store/table-codec.ts'
import { columnsOf } from '../../../store/tables.ts'
import { reasons } from './reasons.ts'

/** The row with this name is the ceiling of the whole namespace. */
export const wholeNamespace = ''

export const accountTable = new Table('account', {
  ...all(big, 'id', 'ns', 'createdAt', 'updatedAt'),
  ...all(text, 'name', 'createdBy'),
  spec: json<AccountSpec>(),
  standing: json<AccountStanding>(),
  managedBy: nullable(text),
})
export type AccountRow = RowOf<typeof accountTable>

const found = `select ${accountTable.columns()} from belfry.account where ns = $1 order by id`
const findAccounts = both('accounts find', found)
/** All accounts of the namespace, always in the same order: a run may name any of them, and a hold on several depends on each. */
const lockAccounts = dialects('accounts lock', { sqlite: found, postgres: `${found} for no key update` })
/** Counts after the lock, by a snapshot of its own: two reservations would both find the last slot free otherwise. */
const countUse = both(
  'accounts count use',
  ({ now }) => `select c.now, a.name, (select count(*) from belfry.account_use u
      where u.ns = a.ns and u.account = a.name and u.ended_at is null) as used
    from (select ${now('$2')} as now) c left join belfry.account a on a.ns = $1`,
)
const findHolds = both(
  'accounts find holds',
  `select ${columnsOf('hold')} from belfry.hold where ns = $1 and (scope = 'account' or scope = 'namespace' and reason = 'namespace-full')`,
)
const saveStanding = both('accounts save standing', 'update belfry.account set standing = $2 where id = $1')

/** An account as it is now. */
export interface Account extends AccountRow {
  /** How many attempts use it. */
  readonly used: number
}

/** The accounts of a namespace at one instant. */
export interface Accounts {
  readonly now: number
  readonly byName: ReadonlyMap<string, Account>
  /** The holds on accounts, and on the namespace because it is full, that have not ended. After the clock was set back one of them may be ahead. */
  readonly holds: readonly Hold[]
}

/** Locks the accounts of a namespace and reads them. */
export function* lockedAccounts(context: StoreContext): Step<Accounts> {
  return yield* accountsBy(context, lockAccounts)
}

/** The accounts as they are now, for answers. */
export function* accountsNow(context: StoreContext): Step<Accounts> {
  return yield* accountsBy(context, findAccounts)
}

function* accountsBy({ ns }: StoreContext, statement: typeof findAccounts): Step<Accounts> {
  const rows = yield* ahead(statement, ns)
  const counted = yield* ahead(countUse, ns, storeClock)
  const holds = (yield* allRows(findHolds, ns)).map(holdOf)
  const use = yield* rowsOf<{ now: number; name: string | null; used: number }>(counted)
  const used = new Map(use.map((row) => [row.name, row.used]))
  const byName = (yield* rowsOf(rows)).map(accountTable.read.bind(accountTable)).map((row) => {
    return [row.name, { ...row, used: Number(used.get(row.name) ?? 0) }] as const
  })
  const now = use[0]?.now ?? 0
  return { now, byName: new Map(byName), holds: holds.filter(({ until }) => until === null || until > now) }
}

/** How many more attempts may use it. */
export function roomIn({ spec, standing, used }: Account): number {
  return allowedBy(spec, standing) - used
}

/** The hold that closes an account whatever room it has: a block, or a hold by a person. */
export function closingHold({ now, holds }: Accounts, name: string): Hold | undefined {
  return holds.find((hold) => {
    const isOnIt = hold.scope === 'account' && hold.subject === name
    return isOnIt && hold.reason !== reasons['account-full'].code && isInForce(hold, now)
  })
}

export function* writeStanding({ id }: AccountRow, standing: AccountStanding): Step<void> {
  yield* run(saveStanding, id, JSON.stringify(standing))
}
