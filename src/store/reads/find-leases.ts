import { formatId } from '../../core/id.ts'
import { checkInteger } from '../check.ts'
import type { HeldLease, LeaseName } from '../port.ts'
import { all, both, type Row, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { workerIdOf } from '../workers/take-duty.ts'

/** Few leases have a cancel request, and those have an index; the sum keeps the database from scanning all leases. */
const findCancelRequests = both(
  'read cancel requests',
  `select run_id, fence from belfry.lease where cancel_requested_at is not null and worker_id = $1 and ns = $2
    order by run_id + 0`,
)
/** Without an index by worker, which every lease and every settle would pay for: what is in flight is few rows. */
const findOfWorkers = both(
  'read leases of workers',
  ({ numbers }) => `select run_id, fence, worker_id, claim_id, leased_at from belfry.lease
  where ns = $1 and worker_id ${numbers('$2')} order by run_id limit $3`,
)

const pageMax = 10_000

/** The worker's leases whose runs are to be cancelled. */
export function* cancelRequests(context: StoreContext, workerId: string): Step<LeaseName[]> {
  return (yield* all(findCancelRequests, workerIdOf(workerId, 'workerId'), context.ns)).map(nameOf)
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
