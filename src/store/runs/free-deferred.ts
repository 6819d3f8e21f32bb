import { dialects, run, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'

/** Runs beyond these start at the instant that their deferral named. */
const freedMax = 1_000

/** PostgreSQL finds the runs queue by queue: it would read all waiting runs if it last saw an empty table. */
const ofQueue = `select a.run_id from belfry.aside a where a.kind = 'waiting' and a.queue_id = q.id and a.at > $3 and a.reason = $2`
/** Lets deferred runs start now. Runs that another step is moving are left to that step. */
export const startDeferred = dialects('deferred start', {
  sqlite: `update belfry.aside set at = $3 where run_id in (select w.run_id from belfry.queue q cross join belfry.aside w
      on w.kind = 'waiting' and w.queue_id = q.id and w.at > $3 where q.ns = $1 and w.reason = $2 limit $4) returning run_id`,
  postgres: `update belfry.aside set at = $3 where run_id = any (array(select w.run_id from belfry.queue q
      cross join lateral (${ofQueue} order by a.at, a.run_id limit $4 for no key update skip locked) w where q.ns = $1 limit $4)) returning run_id`,
})

/** What runs were deferred for may have changed: they are asked again at once, and not at the instant of their deferral. */
export function* freeDeferred({ ns }: StoreContext, reason: string, now: number): Step<void> {
  yield* run(startDeferred, ns, `deferred: ${reason}`, now, freedMax)
}
