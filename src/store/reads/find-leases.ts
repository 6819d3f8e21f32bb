import { formatId } from '../../core/id.ts'
import { checkInteger } from '../check.ts'
import type { HeldLease, LeaseName } from '../port.ts'
import { all, both, type Row, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { workerIdOf } from '../workers/take-duty.ts'

const requested = (column: string) => `from belfry.lease where ${column} is not null and worker_id = $1 and ns = $2`
/** Few leases have a request, and those have an index of each kind; the sum keeps the database from scanning all leases. */
const findRequests = both(
  'read requests to stop',
  `select run_id + 0 as run_id, fence, 'cancelled' as stop ${requested('cancel_requested_at')}
    union all select run_id + 0 as run_id, fence, 'release' as stop ${requested('release_requested_at')} order by 1`,
)
/**
 * There is no index by worker, because every lease and every settle would pay for it; the leases in flight are few
 * rows.
 */
const findOfWorkers = both(
  'read leases of workers',
  ({ numbers }) => `select run_id, fence, worker_id, claim_id, leased_at from belfry.lease
  where ns = $1 and worker_id ${numbers('$2')} order by run_id limit $3`,
)

const pageMax = 10_000

export interface StopRequest extends LeaseName {
  readonly stop: 'cancelled' | 'release'
}

/** The worker's leases whose runs are to be cancelled or given back; if both were requested, the cancel comes first. */
export function* stopRequests(context: StoreContext, workerId: string): Step<StopRequest[]> {
  return (yield* all(findRequests, workerIdOf(workerId, 'workerId'), context.ns)).map((row) => ({
    ...nameOf(row),
    stop: row.stop as StopRequest['stop'],
  }))
}

/** The leases of these workers, oldest run first. */
export function* leasesOfWorkers(
  context: StoreContext,
  workerIds: readonly string[],
  limit: number,
): Step<HeldLease[]> {
  checkInteger(limit, 'limit', 1, pageMax)
  const ids = workerIds.map((id) => workerIdOf(id, 'workerIds'))
  if (ids.length === 0) return []
  return (yield* all(findOfWorkers, context.ns, JSON.stringify(ids), limit)).map((row) => ({
    ...nameOf(row),
    workerId: formatId('worker', row.worker_id as number),
    claimId: row.claim_id as string,
    leasedAt: row.leased_at as number,
  }))
}

function nameOf(row: Row): LeaseName {
  return { runId: formatId('run', row.run_id as number), fence: row.fence as number }
}
