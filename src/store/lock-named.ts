import { all, dialects, inList, type Step } from './statement.ts'
import type { StoreContext } from './store-context.ts'

const lockQueues = dialects('lock named queues', {
  sqlite: null,
  postgres: `select id from belfry.queue where ns = $1 and name ${inList.texts('$2').postgres} order by id for no key update`,
})
const lockSchedules = dialects('lock named schedules', {
  sqlite: null,
  postgres: `select id from belfry.schedule where ns = $1 and name ${inList.texts('$2').postgres} and deleted_at is null
    order by id for no key update`,
})

/** Locks queues first, then schedules, each by id. Every other step that locks several of them uses this order. */
export function* lockNamed(
  { ns }: StoreContext,
  { queues, schedules }: { readonly queues: readonly string[]; readonly schedules: readonly string[] },
): Step<void> {
  if (queues.length > 0) yield* all(lockQueues, ns, JSON.stringify(queues))
  if (schedules.length > 0) yield* all(lockSchedules, ns, JSON.stringify(schedules))
}
