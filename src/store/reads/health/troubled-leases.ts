import { durationMsMax } from '../../../core/duration.ts'
import { formatId } from '../../../core/id.ts'
import { checkInteger } from '../../check.ts'
import type { TroubledLease } from '../../health-views.ts'
import { all, both, clockNow, type Step } from '../../statement.ts'
import type { StoreContext } from '../../store-context.ts'

/** There is no index by these instants, because every lease would pay for it; few rows are in flight. */
const findTroubled = both(
  'health leases',
  `select l.run_id, l.fence, l.worker_id, l.leased_at, l.expires_at, l.cancel_requested_at, q.name
    from belfry.lease l join belfry.queue q on q.id = l.queue_id
    where l.ns = $1 and (l.expires_at <= $2 or l.leased_at <= $3 or l.cancel_requested_at <= $4)
    order by l.expires_at, l.run_id limit $5`,
)

const pageMax = 10_000

/** By expiry, earliest first. */
export function* troubledLeases(
  context: StoreContext,
  { longMs, cancelMs, limit }: { longMs: number; cancelMs: number; limit: number },
): Step<TroubledLease[]> {
  checkInteger(longMs, 'longMs', 0, durationMsMax)
  checkInteger(cancelMs, 'cancelMs', 0, durationMsMax)
  checkInteger(limit, 'limit', 1, pageMax)
  const now = yield* clockNow()
  return (yield* all(findTroubled, context.ns, now, now - longMs, now - cancelMs, limit)).map((row) => ({
    runId: formatId('run', row.run_id as number),
    fence: row.fence as number,
    queue: row.name as string,
    workerId: formatId('worker', row.worker_id as number),
    leasedAt: row.leased_at as number,
    expiresAt: row.expires_at as number,
    cancelRequestedAt: row.cancel_requested_at as number | null,
  }))
}
