import { all, both, dialects, each, type Step, thereIsNo } from '../statement.ts'
import type { Sweeping } from './sweep.ts'

/** What may still refer to a queue: live runs, ended runs, and schedules. */
export const namingQueue = [
  'from belfry.ready r where r.queue_id = q.id',
  'from belfry.lease l where l.queue_id = q.id',
  ...['waiting', 'key', 'parked'].map((kind) => `from belfry.aside a where a.kind = '${kind}' and a.queue_id = q.id`),
  'from belfry.schedule s where s.queue_id = q.id and s.deleted_at is null',
]
const isForgotten = [
  ...namingQueue,
  'from belfry.attempt e where e.queue_id = q.id and e.ends is not null',
  'from belfry.schedule s where s.queue_id = q.id',
  'from belfry.start t where t.queue_id = q.id',
]
  .map(thereIsNo)
  .join(' and ')
const findQueues = both(
  'prune find deleted queues',
  `select q.id from belfry.queue q where q.ns = $1 and q.deleted_at <= $2 and ${isForgotten} order by q.id limit $3`,
)
/** Checks again: new work may have revived the queue since it was found. */
const removeQueues = dialects('prune remove queues', {
  sqlite: 'delete from belfry.queue where id = $1 and deleted_at is not null returning id',
  postgres: 'delete from belfry.queue where id = any ($1::bigint[]) and deleted_at is not null returning id',
})
const removeVersions = dialects('prune remove queue versions', {
  sqlite: 'delete from belfry.queue_version where queue_id = $1',
  postgres: 'delete from belfry.queue_version where queue_id = any ($1::bigint[])',
})

/** Longer than any transaction that found the queue before it was deleted. */
const keptMs = 86_400_000

/** Removes a deleted queue when nothing refers to it any more. */
export function* sweepQueues({ context, now, rowsLeft }: Sweeping): Step<number> {
  const found = yield* all<{ id: number }>(findQueues, context.ns, now - keptMs, rowsLeft)
  const removed = yield* each<{ id: number }>(
    removeQueues,
    found.map(({ id }) => [id]),
  )
  yield* each(
    removeVersions,
    removed.map(({ id }) => [id]),
  )
  return removed.length
}
