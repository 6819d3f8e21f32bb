import type { AgentState } from '../../core/agent/agent-state.ts'
import { durationMsMax } from '../../core/duration.ts'
import { formatId } from '../../core/id.ts'
import { checkInteger } from '../check.ts'
import type { Renewal, RenewedLease } from '../port.ts'
import { all, both, clockNow, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { checkFence, lockLeases } from './fence.ts'
import { runIdOf } from './settle.ts'

/** The fence decides, not the clock: until a reclaim has taken the lease its holder may renew it, however late. */
const renewLeases = both(
  'renew',
  ({
    numbers,
  }) => `update belfry.lease set expires_at = $4, state = coalesce($5, state) where run_id ${numbers('$1')} and fence = $2 and ns = $3
    returning run_id, fence, expires_at, cancel_requested_at, release_requested_at`,
)

interface RenewedRow {
  readonly run_id: number
  readonly fence: number
  readonly expires_at: number
  readonly cancel_requested_at: number | null
  readonly release_requested_at: number | null
}

/** Leases that one statement renews. */
interface RenewedAlike {
  readonly fence: number
  readonly ms: number
  readonly state: AgentState | null
  readonly runIds: number[]
}

/** Extends the caller's leases, each by its own length from now, and reports which runs are to be cancelled or given back. */
export function* renew(context: StoreContext, leases: readonly RenewedLease[], leaseMs?: number): Step<Renewal[]> {
  const groups = new Map<string, RenewedAlike>()
  for (const lease of leases) {
    const fence = checkFence(lease.fence)
    const ms = checkInteger(lease.leaseMs ?? leaseMs, 'leaseMs', 1, durationMsMax)
    const { state = null } = lease
    const group = groups.get(`${fence} ${ms} ${state}`) ?? { fence, ms, state, runIds: [] }
    groups.set(`${fence} ${ms} ${state}`, group)
    group.runIds.push(runIdOf(lease))
  }
  if (groups.size > 1) yield* lockLeases(leases.map(runIdOf))
  const now = yield* clockNow()
  const rows = new Map<string, RenewedRow>()
  for (const { fence, ms, state, runIds } of groups.values()) {
    const found = yield* all<RenewedRow>(renewLeases, JSON.stringify(runIds), fence, context.ns, now + ms, state)
    for (const row of found) rows.set(`${formatId('run', row.run_id)} ${row.fence}`, row)
  }
  return leases.map(({ runId, fence }) => {
    const row = rows.get(`${runId} ${fence}`)
    if (row === undefined) return { runId, fence, renewed: false }
    const requests = { cancelRequestedAt: row.cancel_requested_at, releaseRequestedAt: row.release_requested_at }
    return { runId, fence, renewed: true, expiresAt: row.expires_at, ...requests }
  })
}
