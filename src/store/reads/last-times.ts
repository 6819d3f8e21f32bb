import { parseId } from '../../core/id.ts'
import { both, one, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'

const findTimes = both(
  'read last times',
  `select s.last_end_at, s.last_success_at, (
      select max(coalesce((select l.leased_at from belfry.lease l where l.run_id = d.id),
        (select max(a.started_at) from belfry.attempt a where a.run_id = d.id)))
      from (select id from belfry.run where schedule_id = s.id and occurrence_at is not null
        order by occurrence_at desc limit 5) d) as last_start_at
    from belfry.schedule s where s.ns = $1 and s.id = $2`,
)
const findPauser = both(
  'read pauser',
  `select actor from belfry.audit where ns = $1 and subject = $2 and at = $3 and verb = 'schedule.pause' order by id desc limit 1`,
)

export interface LastTimes {
  /** When an attempt of one of its newest occurrences started. */
  readonly startedAt: number | null
  /** When an occurrence last ended. */
  readonly endedAt: number | null
  readonly succeededAt: number | null
}

export function* lastTimesOf({ ns }: StoreContext, scheduleId: string): Step<LastTimes> {
  const row = yield* one<Record<string, number | null>>(findTimes, ns, parseId('schedule', scheduleId))
  const {
    last_start_at: startedAt = null,
    last_end_at: endedAt = null,
    last_success_at: succeededAt = null,
  } = row ?? {}
  return { startedAt, endedAt, succeededAt }
}

/** The author of a pause without end that began at this instant; null where its audit line is gone. */
export function* pauserOf({ ns }: StoreContext, name: string, at: number): Step<string | null> {
  return (yield* one<{ actor: string }>(findPauser, ns, `schedule ${name}`, at))?.actor ?? null
}
