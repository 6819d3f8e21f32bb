import { headroomUntil } from '../../../core/account.ts'
import { runIdOf } from '../../../store/leases/settle.ts'
import type { LeaseName } from '../../../store/port.ts'
import { ahead, both, dialects, one, rowsOf, run, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { type Account, type Accounts, closingHold, lockedAccounts, roomIn, wholeNamespace } from './account-row.ts'
import { holdLanes } from './lane-holds.ts'

/**
 * Nothing is reserved for a lease that is over: its end has passed already, and nothing would free the slot. A lease that is being ended makes
 * this statement wait.
 */
const lockLease = dialects('account lock lease', {
  sqlite: 'select 1 from belfry.lease where run_id = $1 and fence = $2',
  postgres: 'select 1 from belfry.lease where run_id = $1 and fence = $2 for key share',
})
const findPriority = both('account find priority', 'select priority from belfry.run where id = $1')
const insertUse = both(
  'account insert use',
  `insert into belfry.account_use (run_id, fence, account, ns, begun_after, begun_at) values ($1, $2, $3, $4, $5, $6)`,
)

export interface Reservation extends LeaseName {
  /** The accounts that the run names, in order of preference. */
  readonly accounts: readonly string[]
  /** Whether it takes a slot of the namespace. */
  readonly isReserving: boolean
}

export type Reserved =
  | { readonly answer: 'reserved'; readonly account: string | undefined }
  | { readonly answer: 'refused'; readonly reason: string; readonly until: number }
  | { readonly answer: 'unknown-account'; readonly account: string }
  | { readonly answer: 'lease-lost' }

/**
 * Reserves a slot of the first account that is open, and of the namespace where that has a ceiling, for one attempt. The reservation that takes the
 * last slot holds the runs behind it; one that finds no slot makes sure that they are held.
 */
export function* reserve(context: StoreContext, asked: Reservation): Step<Reserved> {
  const runId = runIdOf(asked)
  const locking = yield* ahead(lockLease, runId, asked.fence)
  const accounts = yield* lockedAccounts(context)
  if ((yield* rowsOf(locking)).length === 0) return { answer: 'lease-lost' }
  const choice = yield* chosen(accounts, asked, runId)
  if (choice.answer !== 'reserved') {
    if (choice.answer === 'refused') yield* holdLanes(context, accounts, new Set(namesOf(asked)))
    return choice
  }
  const used = namesOf(asked, choice.account).flatMap((name) => accounts.byName.get(name) ?? [])
  for (const { name, standing } of used) {
    yield* run(insertUse, runId, asked.fence, name, context.ns, standing.blocks, accounts.now)
  }
  const after = used.map((account) => ({ ...account, used: account.used + 1 }))
  const full = after.filter((account) => roomIn(account) <= 0)
  if (full.length > 0) {
    const byName = new Map([...accounts.byName, ...after.map((account) => [account.name, account] as const)])
    yield* holdLanes(context, { ...accounts, byName }, new Set(full.map(({ name }) => name)))
  }
  return choice
}

function namesOf({ accounts, isReserving }: Reservation, chosenOne?: string): string[] {
  return [...(chosenOne === undefined ? accounts : [chosenOne]), ...(isReserving ? [wholeNamespace] : [])]
}

function* chosen(accounts: Accounts, { accounts: names, isReserving }: Reservation, runId: number): Step<Reserved> {
  const { now, byName } = accounts
  const whole = isReserving ? byName.get(wholeNamespace) : undefined
  if (whole !== undefined && roomIn(whole) <= 0) return { answer: 'refused', reason: 'namespace-full', until: now }
  if (names.length === 0) return { answer: 'reserved', account: undefined }
  const known = names.flatMap((name) => byName.get(name) ?? [])
  if (known.length === 0) return { answer: 'unknown-account', account: names[0] as string }
  const open = known.filter(({ name }) => closingHold(accounts, name) === undefined)
  const withRoom = open.filter((account) => roomIn(account) > 0)
  const waits = yield* headroomOf(withRoom, now, runId)
  const first = withRoom.find((account) => waits.get(account) === null)
  if (first !== undefined) return { answer: 'reserved', account: first.name }
  const ends = [...waits.values()].flatMap((until) => until ?? [])
  if (ends.length > 0) return { answer: 'refused', reason: 'headroom', until: Math.min(...ends) }
  return { answer: 'refused', reason: open.length === 0 ? 'account-blocked' : 'account-full', until: now }
}

/** For each account: until when its headroom is closed to this run; null: it is open. */
function* headroomOf(accounts: readonly Account[], now: number, runId: number): Step<Map<Account, number | null>> {
  const isAsked = accounts.some(({ spec }) => spec.headroom !== undefined)
  const priority = isAsked ? ((yield* one<{ priority: number }>(findPriority, runId))?.priority ?? 0) : 0
  return new Map(accounts.map((one) => [one, headroomUntil(one.spec, one.standing, { now, priority })]))
}
