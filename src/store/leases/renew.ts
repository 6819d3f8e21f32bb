import { durationMsMax } from '../../core/duration.ts'
import { formatId } from '../../core/id.ts'
import { checkInteger } from '../check.ts'
import type { StoreContext } from '../context.ts'
import type { LeaseName, Renewal } from '../port.ts'
import { all, clockNow, dialects, inList, type Step } from '../statement.ts'
import { fenceMax } from './check-end.ts'
import { lockLeases, runIdOf } from './settle.ts'

/** The fence decides, not the clock: until a reclaim has taken the lease its holder may renew it, however late. */
const renewed = `and fence = $2 and ns = $3 returning run_id, fence, expires_at, cancel_requested_at`
const renewLeases = dialects('renew', {
  sqlite: `update belfry.lease set expires_at = $4 where run_id ${inList.numbers('$1').sqlite} ${renewed}`,
  postgres: `update belfry.lease set expires_at = $4 where run_id ${inList.numbers('$1').postgres} ${renewed}`,
})

interface RenewedRow {
  readonly run_id: number
  readonly fence: number
  readonly expires_at: number
  readonly cancel_requested_at: number | null
}

/** Makes all the caller's leases last `leaseMs` from now, and tells which of their runs are to be cancelled. */
export function* renew(context: StoreContext, leases: readonly LeaseName[], leaseMs: number): Step<Renewal[]> {
  checkInteger(leaseMs, 'leaseMs', 1, durationMsMax)
  for (const { fence } of leases) checkInteger(fence, 'fence', 1, fenceMax)
  const fences = new Set(leases.map((lease) => lease.fence))
  if (fences.size > 1) yield* lockLeases(leases.map(runIdOf))
  const now = yield* clockNow()
  const rows = new Map<string, RenewedRow>()
  for (const fence of fences) {
    const runIds = leases.filter((lease) => lease.fence === fence).map(runIdOf)
    const found = yield* all<RenewedRow>(renewLeases, JSON.stringify(runIds), fence, context.ns, now + leaseMs)
    for (const row of found) rows.set(`${formatId('run', row.run_id)} ${row.fence}`, row)
  }
  return leases.map(({ runId, fence }) => {
    const row = rows.get(`${runId} ${fence}`)
    if (row === undefined) return { runId, fence, renewed: false }
    return { runId, fence, renewed: true, expiresAt: row.expires_at, cancelRequestedAt: row.cancel_requested_at }
  })
}
