import { type Hold, toldCalendar } from '../../core/hold.ts'
import { formatId } from '../../core/id.ts'
import { checkInteger, checkText } from '../check.ts'
import { reasonLengthMax } from '../runs/cancel-run.ts'
import { all, both, clockNow, dialects, one, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { runsNamed } from '../verb.ts'

const accounts = `',' || n.account || ','`
/**
 * Leases of runs that a hold can be on, by scope and subject. A lane with several accounts counts for each account, because it is
 * not known here which of them an attempt uses. Reading all leases is cheap: few runs are leased at a time.
 */
const leasesOn = (scope: string, subject: string) => `from belfry.lease l join belfry.run d on d.id = l.run_id
  join belfry.need n on n.id = d.need_id join belfry.queue q on q.id = l.queue_id where l.ns = $1 and (${scope} = 'namespace' and n.calendar <> '${toldCalendar}'
    or ${scope} = 'queue' and q.name = ${subject}
    or ${scope} = 'kind' and (n.kind = ${subject} or n.kind || '/' || n.name = ${subject})
    or ${scope} = 'account' and replace(${accounts}, ',' || ${subject} || ',', '') <> ${accounts})`
const countLeases = both('stop leased count', `select count(*) as count ${leasesOn('$2', '$3')}`)

const requestOf = (name: string, kind: 'cancel' | 'release') => {
  const first = `select l.run_id ${leasesOn('$5', '$6')} and l.${kind}_requested_at is null order by l.run_id limit $4`
  const asked = (inRuns: string) => `update belfry.lease set ${kind}_requested_at = $2, ${kind}_reason = $3
    where run_id ${inRuns} and ${kind}_requested_at is null returning run_id`
  return dialects(name, { sqlite: asked(`in (${first})`), postgres: asked(`= any (array(${first}))`) })
}
export const requestCancelsOn = requestOf('stop leased cancel', 'cancel')
export const requestReleasesOn = requestOf('stop leased release', 'release')

const limitMax = 1_000

/** The subject of a hold. */
export type Subject = Pick<Hold, 'scope' | 'subject'>

interface Asking extends Subject {
  readonly reason: string
  readonly limit: number
}

/** How many runs on a subject are leased. */
export function* countLeased({ ns }: StoreContext, { scope, subject }: Subject): Step<number> {
  return ((yield* one<{ count: number }>(countLeases, ns, scope, subject))?.count ?? 0) as number
}

/** Asks the holders of runs on a subject to end them; answers the runs, fewer than `limit` once all were asked. */
export function* cancelLeased(context: StoreContext, asking: Asking): Step<string[]> {
  return yield* request(context, requestCancelsOn, asking)
}
cancelLeased.audits = audits

/** Asks the holders of runs on a subject to stop them and give them back, which uses no attempt; answers like `cancelLeased`. */
export function* releaseLeased(context: StoreContext, asking: Asking): Step<string[]> {
  return yield* request(context, requestReleasesOn, asking)
}
releaseLeased.audits = audits

function* request(
  { ns }: StoreContext,
  statement: typeof requestCancelsOn,
  { scope, subject, reason, limit }: Asking,
): Step<string[]> {
  checkText(reason, 'reason', reasonLengthMax)
  checkInteger(limit, 'limit', 1, limitMax)
  const rows = yield* all<{ run_id: number }>(statement, ns, yield* clockNow(), reason, limit, scope, subject)
  return rows.map((row) => formatId('run', row.run_id))
}

function audits(ids: readonly string[]) {
  return ids.length === 0 ? null : { detail: runsNamed(ids) }
}
