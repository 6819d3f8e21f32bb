import { formatId, parseId } from '../../core/id.ts'
import { reservesOf } from '../leases/lease-row.ts'
import { readPolicy } from '../queues/queue-row.ts'
import { all, both, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import type { HeldRun } from '../views.ts'

const findHeld = both(
  'read held runs',
  ({ join, numbers }) => `select l.run_id, l.fence, l.claim_id, l.worker_id, l.schedule_id, l.expires_at,
    q.name as queue, q.policy, ${reservesOf('l.ns')} as reserves,
    (select n.account from belfry.run d join belfry.need n on n.id = d.need_id where d.id = l.run_id) as account
  from belfry.lease l ${join.inner('queue q', 'q.id = l.queue_id')} where l.ns = $1 and l.run_id ${numbers('$2')}`,
)

export function* heldRuns({ ns }: StoreContext, runIds: readonly string[]): Step<HeldRun[]> {
  const ids = runIds.flatMap((id) => parseId('run', id) ?? [])
  if (ids.length === 0) return []
  return (yield* all(findHeld, ns, JSON.stringify(ids))).map((row) => ({
    runId: formatId('run', row.run_id as number),
    fence: row.fence as number,
    queue: row.queue as string,
    claimId: row.claim_id as string,
    workerId: formatId('worker', row.worker_id as number),
    scheduleId: row.schedule_id === null ? null : formatId('schedule', row.schedule_id as number),
    leaseTtlMs: readPolicy(row.policy as string)?.leaseTtlMs ?? null,
    expiresAt: row.expires_at as number,
    mayReserve: row.reserves !== 0 || row.account !== '',
  }))
}
