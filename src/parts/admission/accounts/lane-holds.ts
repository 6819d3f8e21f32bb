import { allowedBy } from '../../../core/account.ts'
import type { Hold } from '../../../core/hold.ts'
import { parseId } from '../../../core/id.ts'
import { endless } from '../../../store/holds/hold-row.ts'
import { deleteHold } from '../../../store/holds/lift-hold.ts'
import { writeHold } from '../../../store/holds/put-hold.ts'
import { all, both, run, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { type Account, type Accounts, closingHold, roomIn, wholeNamespace } from './account-row.ts'
import { belfry, reasons } from './reasons.ts'

const findLanes = both(
  'accounts find lanes',
  `select distinct account from belfry.need where ns = $1 and account <> ''`,
)

/** The account lists that runs have named, as their lanes store them: names joined by commas. */
export function* lanesNaming({ ns }: StoreContext, isNamed: (name: string) => boolean): Step<string[]> {
  const lanes = (yield* all<{ account: string }>(findLanes, ns)).map(({ account }) => account)
  return lanes.filter((lane) => lane.split(',').some(isNamed))
}

/** A hold that a lane should have now. */
interface Wanted {
  readonly reason: keyof typeof reasons
  /** `null`: until a slot is free. */
  readonly until: number | null
  readonly note: string
}

/**
 * Brings the holds on lanes in line with their accounts. A full account holds the runs that name only it; runs that name
 * several accounts are held while all of them are closed, until the first opens. The accounts are locked. A block is a hold of
 * its own, written where the block begins.
 */
export function* holdLanes(context: StoreContext, accounts: Accounts, touched: ReadonlySet<string>): Step<void> {
  if (touched.has(wholeNamespace)) yield* holdAs(context, accounts, '', fullHold(accounts.byName.get(wholeNamespace)))
  const named = [...touched].filter((name) => name !== wholeNamespace)
  if (named.length === 0) return
  for (const name of named) {
    const isClosed = closingHold(accounts, name) !== undefined
    yield* holdAs(context, accounts, name, isClosed ? null : fullHold(accounts.byName.get(name)))
  }
  for (const lane of yield* lanesNaming(context, (name) => touched.has(name))) {
    const names = lane.split(',')
    if (names.length > 1) yield* holdAs(context, accounts, lane, closedHold(accounts, names))
  }
}

function fullHold(account: Account | undefined): Wanted | null {
  if (account === undefined || roomIn(account) > 0) return null
  const reason = account.name === wholeNamespace ? 'namespace-full' : 'account-full'
  return { reason, until: null, note: fullNote(account) }
}

function fullNote({ spec, standing, used }: Account): string {
  const allowed = allowedBy(spec, standing)
  return standing.width === allowed ? `probing, ${used} of ${allowed} at work` : `${used} of ${allowed} at work`
}

/** The hold on a lane of several accounts, where none of them is open. */
function closedHold(accounts: Accounts, names: readonly string[]): Wanted | null {
  const closed = names.flatMap((name) => {
    const hold = closingHold(accounts, name)
    if (hold !== undefined)
      return [{ until: hold.until, note: `${name}: ${hold.note ?? hold.reason}`, isBlocked: true }]
    const full = fullHold(accounts.byName.get(name))
    return full === null ? [] : [{ until: null, note: `${name}: ${full.note}`, isBlocked: false }]
  })
  if (closed.length < names.length) return null
  const ends = closed.flatMap(({ until }) => until ?? [])
  return {
    reason: closed.some(({ isBlocked }) => isBlocked) ? 'account-blocked' : 'account-full',
    until: ends.length === 0 ? null : Math.min(...ends),
    note: closed.map(({ note }) => note).join('; '),
  }
}

/** Writes the hold that a lane should have in place of the one it has. The block of a single account stays. */
function* holdAs(context: StoreContext, { now, holds }: Accounts, lane: string, wanted: Wanted | null): Step<void> {
  const scope = lane === '' ? 'namespace' : 'account'
  const isOwn = ({ reason }: Hold) => (lane.includes(',') ? reason in reasons : reason.endsWith('-full'))
  const own = holds.filter((hold) => hold.scope === scope && hold.subject === lane && isOwn(hold))
  const kept = own.find((hold) => {
    return hold.reason === wanted?.reason && hold.until === wanted.until && hold.from <= now
  })
  for (const hold of own) if (hold !== kept) yield* run(deleteHold, parseId('hold', hold.id) as number)
  if (wanted === null || kept !== undefined) return
  const { until, note } = wanted
  const reason = reasons[wanted.reason]
  const hold = { scope, subject: lane, from: now, until: until ?? endless, reason, note, actor: belfry } as const
  yield* writeHold(context, hold, now)
}
