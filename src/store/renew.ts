import { formatId } from '../core/id.ts'
import type { StoreContext } from './context.ts'
import type { LeaseName, Renewal } from './port.ts'
import { runIdOf } from './settle.ts'
import { clockNow, dialects, each, type Step } from './statement.ts'

/** The fence decides, not the clock: until a reclaim has taken the lease its holder may renew it, however late. */
const renewLeases = dialects('renew', {
  sqlite: `update belfry.lease set expires_at = $4 where run_id = $1 and fence = $2 and ns = $3
    returning run_id, fence, expires_at, cancel_requested_at`,
  postgres: `update belfry.lease l set expires_at = i.expires_at
    from unnest($1::bigint[], $2::int[], $3::bigint[], $4::bigint[]) as i (run_id, fence, ns, expires_at)
    where l.run_id = i.run_id and l.fence = i.fence and l.ns = i.ns
    returning l.run_id, l.fence, l.expires_at, l.cancel_requested_at`,
})

interface RenewedRow {
  readonly run_id: number
  readonly fence: number
  readonly expires_at: number
  readonly cancel_requested_at: number | null
}

/** Makes all the caller's leases last `leaseMs` from now, and tells which of their runs are to be cancelled. */
export function* renew(context: StoreContext, leases: readonly LeaseName[], leaseMs: number): Step<Renewal[]> {
  const now = yield* clockNow()
  const rows = yield* each<RenewedRow>(
    renewLeases,
    leases.map((lease) => [runIdOf(lease), lease.fence, context.ns, now + leaseMs]),
  )
  const renewed = new Map(rows.map((row) => [`${formatId('run', row.run_id)} ${row.fence}`, row]))
  return leases.map(({ runId, fence }) => {
    const row = renewed.get(`${runId} ${fence}`)
    if (row === undefined) return { runId, fence, renewed: false }
    return { runId, fence, renewed: true, expiresAt: row.expires_at, cancelRequestedAt: row.cancel_requested_at }
  })
}
