import { dialects, run, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'

const postponed = 'select id from belfry.schedule where ns = $1 and wake_at >= $2 and stopped_by is null'
/** In a fixed order, because other steps lock several schedules too. */
const wakeThem = dialects('schedule wake postponed', {
  sqlite: `update belfry.schedule set wake_at = $3 where id in (${postponed})`,
  postgres: `update belfry.schedule set wake_at = $3 where id = any (array(${postponed} order by id for no key update))`,
})

/** Makes schedules due that may have been postponed to this instant or later: the next step of a worker plans them again. */
export function* wakePostponed({ ns }: StoreContext, { from, now }: { from: number; now: number }): Step<void> {
  yield* run(wakeThem, ns, from, now)
}
