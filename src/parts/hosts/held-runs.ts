import { formatId, parseId } from '../../core/id.ts'
import type { LeaseName } from '../../store/port.ts'
import { readPolicy } from '../../store/queues/queue-row.ts'
import { all, both, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'

const findHeld = both(
  'read held runs',
  ({ join, numbers }) => `select l.run_id, l.fence, l.claim_id, l.worker_id, l.schedule_id, l.expires_at,
    q.name as queue, q.policy
  from belfry.lease l ${join.inner('queue q', 'q.id = l.queue_id')} where l.ns = $1 and l.run_id ${numbers('$2')}`,
)

/** A leased run, with the proof that a caller holds its lease. */
export interface HeldRun extends LeaseName {
  readonly queue: string
  readonly claimId: string
  readonly workerId: string
  readonly scheduleId: string | null
  /** The current lease length for hosts; `null` when the policy of its queue cannot be read. */
  readonly leaseTtlMs: number | null
  readonly expiresAt: number
}

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
  }))
}
