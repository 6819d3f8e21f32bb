import { type AccountSpec, afterBlock, blockMaxMsDefault, newStanding } from '../../../core/account.ts'
import { BelfryError } from '../../../core/error.ts'
import { parseId } from '../../../core/id.ts'
import { writeAudit } from '../../../store/audit/write-audit.ts'
import { canonicalJson, checkInteger, invalid } from '../../../store/check.ts'
import { deleteHold } from '../../../store/holds/lift-hold.ts'
import { auditHold } from '../../../store/holds/put-hold.ts'
import { markReserving } from '../../../store/leases/lease-row.ts'
import { lockManaged } from '../../../store/managed.ts'
import type { Actor } from '../../../store/port.ts'
import { all, both, freshIds, run, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { blockAccount, blockOf, raiseBlocked } from './account-ends.ts'
import {
  type AccountRow,
  type Accounts,
  accountsNow,
  accountTable,
  lockedAccounts,
  wholeNamespace,
  writeStanding,
} from './account-row.ts'
import { holdLanes, lanesNaming } from './lane-holds.ts'

const insertAccount = both('account insert', accountTable.insertOne())
const updateAccount = both(
  'account update',
  'update belfry.account set spec = $2, updated_at = $3, managed_by = $4 where id = $1',
)
const findBudgets = both(
  'account find budgets',
  `select name, terms, managed_by from belfry.budget where ns = $1 and scope = 'account' and subject = $2 order by name`,
)
const removeAccount = both('account remove', 'delete from belfry.account where id = $1')
const findSchedules = both(
  'account find schedules',
  `select name from belfry.schedule where ns = $1 and deleted_at is null and spec like $2 order by name limit 6`,
)
const findQueues = both(
  'account find queues',
  ({ texts }) => `select distinct q.name from belfry.need n join belfry.queue q on q.ns = n.ns
    where n.ns = $1 and n.account ${texts('$2')}
      and (select 1 from belfry.ready r where r.queue_id = q.id and r.need_id = n.id limit 1) is not null order by q.name limit 6`,
)

/** A field that is absent stays; `null` removes it. */
export type AccountPatch = { readonly [Field in keyof AccountSpec]?: AccountSpec[Field] | null }

export interface AccountChange {
  readonly actor: Actor
  /** The config file that manages it from now on; absent: none may manage it. */
  readonly source?: string
  /** Whether fields that are not given return to their defaults. */
  readonly isWhole?: boolean
}

export interface AccountWritten {
  readonly answer: 'created' | 'updated' | 'unchanged'
  readonly before: AccountSpec | null
  readonly after: AccountSpec
}

/** Creates an account or changes its bounds. A higher ceiling lets runs start at once; a lower one stops none. */
export function* putAccount(
  context: StoreContext,
  name: string,
  patch: AccountPatch,
  { actor, source, isWhole = false }: AccountChange,
): Step<AccountWritten> {
  yield* lockManaged(context)
  const accounts = yield* lockedAccounts(context)
  const { now } = accounts
  const found = accounts.byName.get(name)
  if (source === undefined && found !== undefined) refuseManaged(found)
  const merged = { ...(isWhole ? {} : found?.spec), ...patch }
  const given = Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null && value !== undefined))
  const spec: AccountSpec = { blockMaxMs: blockMaxMsDefault, ...given }
  const managedBy = source ?? null
  if (spec.currency !== undefined) yield* refuseOtherCurrency(context, name, spec.currency, source)
  if (found === undefined) {
    const [id] = (yield* freshIds(1)) as [number]
    const times = { createdAt: now, createdBy: actor.name, updatedAt: now }
    const row = { id, ns: context.ns, name, spec, standing: newStanding, ...times, managedBy }
    yield* run(insertAccount, ...accountTable.tuple(row))
    yield* audit(context, 'account.put', name, { actor, now, detail: spec })
    return { answer: 'created', before: null, after: spec }
  }
  const isSame = canonicalJson(found.spec) === canonicalJson(spec)
  if (isSame && found.managedBy === managedBy) return { answer: 'unchanged', before: found.spec, after: spec }
  yield* run(updateAccount, found.id, JSON.stringify(spec), now, managedBy)
  const byName = new Map(accounts.byName).set(name, { ...found, spec })
  yield* holdLanes(context, { ...accounts, byName }, new Set([name]))
  yield* audit(context, 'account.put', name, { actor, now, detail: spec })
  return { answer: isSame ? 'unchanged' : 'updated', before: found.spec, after: spec }
}

/**
 * A budget in another currency would count all money of the account as unknown. A config file may change both: its budgets are
 * written after its accounts.
 */
function* refuseOtherCurrency(
  context: StoreContext,
  name: string,
  currency: string,
  source: string | undefined,
): Step<void> {
  const rows = yield* all<{ name: string; terms: string; managed_by: string | null }>(findBudgets, context.ns, name)
  for (const { name: budget, terms, managed_by: managedBy } of rows) {
    const counted = (JSON.parse(terms) as { readonly currency?: string }).currency
    if (counted === undefined || counted === currency || (source !== undefined && managedBy === source)) continue
    throw invalid('currency', `is ${currency}, and budget ${budget} counts this account in ${counted}`, counted)
  }
}

/** The same, with the account as it is then: after a rehearsal there is nothing left to read. */
export function* putAndRead(context: StoreContext, name: string, patch: AccountPatch, change: AccountChange) {
  const { answer } = yield* putAccount(context, name, patch, change)
  const accounts = yield* accountsNow(context)
  return { answer, accounts, account: accounts.byName.get(name) as NonNullable<ReturnType<typeof accounts.byName.get>> }
}
putAndRead.rehearses = true as const

function refuseManaged({ name, managedBy }: AccountRow): void {
  if (managedBy === null) return
  throw new BelfryError(
    'conflict',
    `The config file of source ${managedBy} manages account ${name}: change it there.`,
    {
      details: { account: name, managedBy },
    },
  )
}

interface Audited {
  readonly actor: Actor
  readonly now: number
  readonly detail?: object
}

function* audit(context: StoreContext, verb: string, name: string, { actor, now, detail }: Audited): Step<void> {
  const subject = name === wholeNamespace ? 'namespace' : `account ${name}`
  yield* writeAudit(context, { actor, verb, subject, ...(detail !== undefined && { detail }) }, now)
}

export type AccountDeleted =
  | { readonly answer: 'deleted' | 'not-found' }
  | { readonly answer: 'in-use'; readonly by: readonly string[] }

/** Deletes an account that no schedule and no run in line names. */
export function* deleteAccount(
  context: StoreContext,
  name: string,
  { actor, source }: AccountChange,
): Step<AccountDeleted> {
  yield* lockManaged(context)
  const accounts = yield* lockedAccounts(context)
  const found = accounts.byName.get(name)
  if (found === undefined || name === wholeNamespace) return { answer: 'not-found' }
  if (source === undefined) refuseManaged(found)
  const by = yield* usersOf(context, name)
  if (found.used > 0) by.push(`${found.used} at work`)
  if (by.length > 0) return { answer: 'in-use', by }
  for (const { subject, id } of accounts.holds) {
    if (subject === name) yield* run(deleteHold, parseId('hold', id) as number)
  }
  yield* run(removeAccount, found.id)
  yield* audit(context, 'account.delete', name, { actor, now: accounts.now })
  return { answer: 'deleted' }
}
deleteAccount.rehearses = true as const

/** The schedules that name it, and the queues in which a run that names it is in line. */
function* usersOf(context: StoreContext, name: string): Step<string[]> {
  const { ns } = context
  const pattern = `%"account":[%${JSON.stringify(name).replace(/[\\%_]/g, '_')}%`
  const schedules = yield* all<{ name: string }>(findSchedules, ns, pattern)
  const named = yield* lanesNaming(context, (one) => one === name)
  const queues = named.length === 0 ? [] : yield* all<{ name: string }>(findQueues, ns, JSON.stringify(named))
  return [...schedules.map((one) => `schedule ${one.name}`), ...queues.map((one) => `runs in queue ${one.name}`)]
}

export interface PersonsBlock {
  /** Absent: as long as the account may be blocked. */
  readonly until?: number | undefined
  readonly reason: string
  readonly actor: Actor
}

export type Blocked =
  | { readonly answer: 'blocked' | 'not-found' }
  /** It may be blocked until this instant at most. */
  | { readonly answer: 'too-long'; readonly latest: number; readonly blockMaxMs: number }

/** Blocks an account by hand; a block in force is replaced. Runs that use it finish. */
export function* blockByHand(
  context: StoreContext,
  name: string,
  { until, reason, actor }: PersonsBlock,
): Step<Blocked> {
  const accounts = yield* lockedAccounts(context)
  const found = accounts.byName.get(name)
  if (found === undefined) return { answer: 'not-found' }
  const { blockMaxMs } = found.spec
  const latest = accounts.now + blockMaxMs
  if (until !== undefined && until > latest) return { answer: 'too-long', latest, blockMaxMs }
  yield* writeStanding(found, afterBlock(found.standing))
  yield* raiseBlocked(context, found, { until: until ?? latest, note: reason })
  const blocked = yield* blockAccount(context, accounts, name, { until: until ?? latest, note: reason, actor })
  yield* holdLanes(context, blocked, new Set([name]))
  return { answer: 'blocked' }
}

/** Lifts the block of an account. Its next run probes, as after every block. */
export function* unblockByHand(
  context: StoreContext,
  name: string,
  { actor }: { readonly actor: Actor },
): Step<'unblocked' | 'open' | 'not-found'> {
  const accounts = yield* lockedAccounts(context)
  const found = accounts.byName.get(name)
  if (found === undefined) return 'not-found'
  const block = blockOf(accounts, name)
  if (block === null) return 'open'
  yield* run(deleteHold, parseId('hold', block.id) as number)
  yield* auditHold(context, 'account.unblock', block, actor, accounts.now)
  const { standing } = found
  yield* writeStanding(found, { ...standing, limits: 0 })
  const after: Accounts = { ...accounts, holds: accounts.holds.filter((one) => one !== block) }
  yield* holdLanes(context, after, new Set([name]))
  return 'unblocked'
}

const saveCeiling = both(
  'ceiling save',
  `insert into belfry.account as a (${accountTable.columns()}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    on conflict (ns, name) do update set spec = excluded.spec, updated_at = excluded.updated_at`,
)
const markCeiling = both('ceiling mark', markReserving('slots'))
/** Running attempts count from now on. Their ends are not marked as watched, so the repair frees these slots. */
const reserveAtWork = both(
  'ceiling reserve at work',
  `insert into belfry.account_use (run_id, fence, account, ns, begun_after, begun_at)
    select run_id, fence, '', ns, 0, leased_at from belfry.lease where ns = $1 on conflict do nothing`,
)
const freeAll = both(
  'ceiling free all',
  `delete from belfry.account_use where ns = $1 and account = '' and ended_at is null`,
)

const ceilingMax = 1_000_000

/**
 * Sets how many runs of the namespace may be at work at once, over all queues; `null`: as many as the queues allow. Follow it with
 * `awaitLeases`: a lease that was under way has not seen it.
 */
export function* setNamespaceCeiling(context: StoreContext, maxConcurrent: number | null): Step<void> {
  const { ns } = context
  if (maxConcurrent !== null) checkInteger(maxConcurrent, 'maxConcurrent', 1, ceilingMax)
  yield* run(markCeiling, ns, maxConcurrent === null ? 0 : 1)
  const before = yield* lockedAccounts(context)
  const { now } = before
  const [id] = (yield* freshIds(1)) as [number]
  const spec = { blockMaxMs: blockMaxMsDefault, maxConcurrent: maxConcurrent ?? undefined }
  const times = { createdAt: now, createdBy: 'belfry', updatedAt: now }
  const row = { id, ns, name: wholeNamespace, spec, standing: newStanding, ...times, managedBy: null }
  yield* run(saveCeiling, ...accountTable.tuple(row))
  yield* run(maxConcurrent === null ? freeAll : reserveAtWork, ns)
  yield* holdLanes(context, yield* lockedAccounts(context), new Set([wholeNamespace]))
}

export function* namespaceCeiling(context: StoreContext): Step<number | null> {
  return (yield* accountsNow(context)).byName.get(wholeNamespace)?.spec.maxConcurrent ?? null
}
