import { beforeClosings } from '../../core/hold.ts'
import { endless, stopsFiring } from '../holds/hold-row.ts'
import type { NextInstants } from '../port.ts'
import { allAlone, both, type Row, type Step, storeClock } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'

/**
 * A worker of a stopped namespace does not wait for its schedules: they stay due, and it would never sleep. It sleeps until the
 * end of the hold. Leases expire in a stopped namespace too.
 */
const instants = both(
  'read next instants',
  ({ now }) => `select c.now,
    (select min(s.wake_at) from belfry.schedule s
      where s.wake_at is not null and s.ns = $1 and not ${stopsFiring({ now: 'c.now' })}) as schedule_at,
    (select min(l.expires_at) from belfry.lease l where l.ns = $1) as lease_expires_at,
    (select min(h.until_at) from belfry.hold h where h.ns = $1 and h.from_at > ${beforeClosings}) as hold_ends_at,
    (select count(*) || '/' || coalesce(max(h.id), 0) from belfry.hold h where h.ns = $1) as holds_mark,
    (select min(h.from_at) from belfry.hold h where h.ns = $1 and h.begun_at is null) as hold_begins_at
  from (select ${now('$2')} as now) c`,
)

/** The earliest instant of each kind, even when it has passed and no worker has acted on it yet. */
export function* nextInstants(context: StoreContext): Step<NextInstants> {
  const row = (yield* allAlone(instants, context.ns, storeClock))[0] as Row
  const holdAt = Math.min((row.hold_ends_at ?? endless) as number, (row.hold_begins_at ?? endless) as number)
  return {
    now: row.now as number,
    scheduleAt: row.schedule_at as number | null,
    leaseExpiresAt: row.lease_expires_at as number | null,
    holdAt: holdAt === endless ? null : holdAt,
    holdsMark: row.holds_mark as string,
  }
}
