import type { StoreContext } from '../context.ts'
import type { NextInstants } from '../port.ts'
import { allAlone, clockOr, dialects, type Row, type Step, storeClock } from '../statement.ts'

/**
 * A stopped namespace sleeps towards nothing: what is due in it stays due, and whoever slept towards it would not sleep.
 * Leases expire all the same.
 */
const findInstants = (now: string) => `select ${now} as now,
    (select min(s.wake_at) from belfry.schedule s where s.wake_at is not null and s.ns = n.id and n.stopped_at is null)
      as schedule_at,
    (select min(l.expires_at) from belfry.lease l where l.ns = n.id) as lease_expires_at
  from belfry.namespace n where n.id = $1`
const instants = dialects('read next instants', { sqlite: findInstants('$2'), postgres: findInstants(clockOr('$2')) })

/** The earliest instant of each kind, also when it is over and nobody has acted on it yet. */
export function* nextInstants(context: StoreContext): Step<NextInstants> {
  const row = (yield* allAlone(instants, context.ns, storeClock))[0] as Row
  return {
    now: row.now as number,
    scheduleAt: row.schedule_at as number | null,
    leaseExpiresAt: row.lease_expires_at as number | null,
  }
}
