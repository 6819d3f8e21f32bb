import type { StoreContext } from '../context.ts'
import { both, one, type Step } from '../statement.ts'

/** A paused queue sleeps towards nothing: what is due in it stays due, and whoever slept towards it would not sleep. */
const findInstants = both(
  'read next instants',
  `select (select min(wake_at) from belfry.schedule where wake_at is not null and ns = $1) as schedule_at,
    (select min((select min(a.at) from belfry.aside a where a.kind = 'waiting' and a.queue_id = q.id))
      from belfry.queue q where q.ns = $1 and q.paused_at is null) as run_at,
    (select min(expires_at) from belfry.lease where ns = $1) as lease_expires_at`,
)

export interface NextInstants {
  readonly scheduleAt: number | null
  readonly runAt: number | null
  readonly leaseExpiresAt: number | null
}

/** The earliest instant of each kind, also when it is over and nobody has acted on it yet. */
export function* nextInstants(context: StoreContext): Step<NextInstants> {
  const row = yield* one(findInstants, context.ns)
  return {
    scheduleAt: (row?.schedule_at ?? null) as number | null,
    runAt: (row?.run_at ?? null) as number | null,
    leaseExpiresAt: (row?.lease_expires_at ?? null) as number | null,
  }
}
