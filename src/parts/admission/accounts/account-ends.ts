import {
  type AccountStanding,
  afterLimit,
  afterSuccess,
  type LimitBlock,
  withUtilisation,
} from '../../../core/account.ts'
import { isSetupFailure } from '../../../core/agent/transcript-verdict.ts'
import type { Hold } from '../../../core/hold.ts'
import { formatId, parseId } from '../../../core/id.ts'
import { deleteHold } from '../../../store/holds/lift-hold.ts'
import { auditHold, writeHold } from '../../../store/holds/put-hold.ts'
import type { Actor } from '../../../store/port.ts'
import { raise } from '../../../store/raise.ts'
import type { Ends, RunEnd } from '../../../store/runs/end-hooks.ts'
import { all, both, dialects, each, run, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { type Account, type Accounts, lockedAccounts, wholeNamespace, writeStanding } from './account-row.ts'
import { holdLanes } from './lane-holds.ts'
import { belfry, reasons } from './reasons.ts'

const returned = (of: string) => `returning ${of}run_id, ${of}fence, ${of}ns, ${of}account, ${of}begun_after`
/** Frees what an attempt reserved. The row stays: it says which account the attempt used. */
const endUse = dialects('account end use', {
  sqlite: `update belfry.account_use set ended_at = $3 where run_id = $1 and fence = $2 and ended_at is null ${returned('')}`,
  postgres: `update belfry.account_use u set ended_at = i.at
    from unnest($1::bigint[], $2::int[], $3::bigint[]) as i (run_id, fence, at)
    where u.run_id = i.run_id and u.fence = i.fence and u.ended_at is null ${returned('u.')}`,
})
const forgetUse = both(
  'account forget use',
  ({ numbers }) =>
    `delete from belfry.account_use where run_id ${numbers('$1')} and account = '' and ended_at is not null`,
)
const findHeadroom = both(
  'account find headroom',
  ({ join, texts }) => `select a.run_id from belfry.need n join belfry.queue q on q.ns = n.ns
    ${join.inner('aside a', "a.kind = 'waiting' and a.queue_id = q.id and a.at > $3")}
    where n.ns = $1 and n.account ${texts('$2')} and a.need_id = n.id and a.reason = 'deferred: headroom' limit 1000`,
)
const releaseHeadroom = both(
  'account release headroom',
  ({ numbers }) => `update belfry.aside set at = $2 where run_id ${numbers('$1')}`,
)

interface Freed {
  readonly run_id: number
  readonly fence: number
  readonly ns: number
  readonly account: string
  readonly begun_after: number
}

/**
 * Frees what ended attempts reserved, and learns from them about their accounts: a limit blocks the account, a success lets
 * more runs use it. The reservation of a lost attempt is looked up, because its worker cannot report it.
 */
export function* accountEnds(context: StoreContext, { now, ends }: Ends<unknown>): Step<void> {
  const ours = ends.filter(({ isWatched, outcome }) => isWatched === true || outcome === 'lost')
  const freed = yield* each<Freed>(
    endUse,
    ours.map(({ runId, fence }) => [runId, fence, now]),
  )
  for (const ns of [...new Set(freed.map((one) => one.ns))].sort((a, b) => a - b)) {
    const ofNamespace = freed.filter((one) => one.ns === ns)
    yield* settleAccounts({ ...context, ns }, ofNamespace, ours)
  }
}
accountEnds.skipsPlain = true as const

function* settleAccounts(context: StoreContext, freed: readonly Freed[], ends: readonly RunEnd[]): Step<void> {
  let accounts = yield* lockedAccounts(context)
  const whole = freed.filter(({ account }) => account === wholeNamespace).map(({ run_id: runId }) => runId)
  if (whole.length > 0) yield* run(forgetUse, JSON.stringify(whole))
  for (const one of freed) {
    const account = accounts.byName.get(one.account)
    const end = ends.find(({ runId, fence }) => runId === one.run_id && fence === one.fence)
    if (account !== undefined && end !== undefined) accounts = yield* learn(context, accounts, account, one, end)
  }
  yield* holdLanes(context, accounts, new Set(freed.map(({ account }) => account)))
}

/** The accounts after one attempt that used one of them has ended. */
function* learn(
  context: StoreContext,
  accounts: Accounts,
  account: Account,
  { begun_after: begunAfter }: Freed,
  end: RunEnd,
): Step<Accounts> {
  const { now } = accounts
  const { spec } = account
  const { runId, rateLimited, utilisation = [] } = end
  let standing = standingAfter(account, end, { now, begunAfter })
  if (utilisation.length > 0) {
    standing = withUtilisation(standing, utilisation, now)
    yield* giveBackHeadroom(context, account, standing, now)
  }
  const blockedUntil = blockOf(accounts, account.name)?.until ?? null
  const block =
    rateLimited === undefined ? null : afterLimit({ now, spec, standing, limit: rateLimited, begunAfter, blockedUntil })
  const after = { ...account, standing: block?.standing ?? standing }
  if (after.standing !== account.standing) yield* writeStanding(account, after.standing)
  if (isClosed(account.standing) && !isClosed(after.standing)) {
    const reason = `run ${formatId('run', runId)} used it with success`
    yield* raise(context, [{ event: 'account', about: `account ${account.name}`, happened: 'is open again', reason }])
  }
  const known = { ...accounts, byName: new Map(accounts.byName).set(account.name, after) }
  if (block === null) return known
  const note = `${block.note}, reported by run ${formatId('run', runId)}`
  yield* raiseBlocked(context, account, { until: block.until, note })
  return yield* blockAccount(context, known, account.name, { until: block.until, note, actor: belfry })
}

/** What a success proves of the account, and what a failure of login or configuration says of it. */
function standingAfter(
  { spec, standing }: Account,
  { runId, outcome, reason }: RunEnd,
  { now, begunAfter }: { readonly now: number; readonly begunAfter: number },
): AccountStanding {
  if (outcome === 'success') return afterSuccess(spec, standing, begunAfter)
  if (outcome !== 'failed' || !isSetupFailure(reason)) return standing
  return { ...standing, setup: { reason, run: formatId('run', runId), at: now } }
}

/** Whether no run has succeeded on it since its last block: a limit that is met until then needs no second notification. */
function isClosed({ width }: AccountStanding): boolean {
  return width === 1
}

/** Notifies of a block, unless the account was closed before. */
export function* raiseBlocked(
  context: StoreContext,
  { name, standing }: Account,
  { until, note }: Pick<LimitBlock, 'until' | 'note'>,
): Step<void> {
  if (isClosed(standing)) return
  const happened = `is blocked until ${new Date(until).toISOString()}`
  yield* raise(context, [{ event: 'account', about: `account ${name}`, happened, reason: note }])
}

/** The block of an account, or null. */
export function blockOf({ holds }: Accounts, name: string): Hold | null {
  const { code } = reasons['account-blocked']
  return holds.find(({ subject, reason }) => subject === name && reason === code) ?? null
}

interface Blocking extends Pick<LimitBlock, 'until' | 'note'> {
  readonly actor: Actor
}

/** Writes the block of a locked account, in place of the one in force. */
export function* blockAccount(
  context: StoreContext,
  accounts: Accounts,
  name: string,
  { until, note, actor }: Blocking,
): Step<Accounts> {
  const { now, holds } = accounts
  const before = blockOf(accounts, name)
  if (before !== null) yield* run(deleteHold, parseId('hold', before.id) as number)
  const reason = reasons['account-blocked']
  const hold = yield* writeHold(
    context,
    { scope: 'account', subject: name, from: now, until, reason, note, actor },
    now,
  )
  yield* auditHold(context, 'account.block', hold, actor, now)
  return { ...accounts, holds: [...holds.filter((one) => one !== before), hold] }
}

/** Runs that waited for the reset of a limit may start once less of it is used. */
function* giveBackHeadroom(
  { ns }: StoreContext,
  { name, spec, standing: before }: Account,
  after: AccountStanding,
  now: number,
): Step<void> {
  const isOver = ({ windows }: AccountStanding) => windows.some(({ share }) => share >= (spec.headroom?.at ?? 0))
  if (spec.headroom === undefined || !isOver(before) || isOver(after)) return
  const waiting = yield* all<{ run_id: number }>(findHeadroom, ns, JSON.stringify([name]), now)
  yield* run(releaseHeadroom, JSON.stringify(waiting.map((row) => row.run_id)), now)
}
