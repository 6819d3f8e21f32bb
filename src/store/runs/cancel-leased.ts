import { formatId } from '../../core/id.ts'
import { checkInteger, checkText } from '../check.ts'
import { all, clockNow, dialects, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { runsNamed } from '../verb.ts'
import { reasonLengthMax } from './cancel-run.ts'

const first = 'select run_id from belfry.lease where ns = $1 and cancel_requested_at is null order by run_id limit $4'
const requestOf = (inRuns: string) => `update belfry.lease set cancel_requested_at = $2, cancel_reason = $3
  where run_id ${inRuns} and cancel_requested_at is null returning run_id`
export const requestCancelsOfAll = dialects('cancel leased request', {
  sqlite: requestOf(`in (${first})`),
  postgres: requestOf(`= any (array(${first}))`),
})

const limitMax = 1_000

/** Asks the holders of runs to end them, of the whole namespace; answers the runs, fewer than `limit` once all were asked. */
export function* cancelLeased(
  { ns }: StoreContext,
  { reason, limit }: { readonly reason: string; readonly limit: number },
): Step<string[]> {
  checkText(reason, 'reason', reasonLengthMax)
  checkInteger(limit, 'limit', 1, limitMax)
  const rows = yield* all<{ run_id: number }>(requestCancelsOfAll, ns, yield* clockNow(), reason, limit)
  return rows.map((row) => formatId('run', row.run_id))
}
cancelLeased.audits = (ids: readonly string[]) => (ids.length === 0 ? null : { detail: runsNamed(ids) })
