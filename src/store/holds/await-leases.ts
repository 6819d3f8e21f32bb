import { all, clockOr, dialects, type Step, storeClock } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'

/**
 * A lease that locked its queue before a hold was committed may not have seen the hold, and may commit after it. Locking the queue once
 * the hold is committed waits for that lease; every later lease sees the hold. SQLite has one writer at a time and needs no lock.
 */
const lockQueues = dialects('hold lock queues', {
  sqlite: null,
  postgres: `select id from belfry.queue where ($1::bigint is null or ns = $1) and ($2::text is null or name = $2)
    order by id for no key update`,
})

interface Concerned {
  /** Absent: all queues. */
  readonly queue?: string
  /** Whether the queues of all namespaces are meant. */
  readonly everywhere?: boolean
}

/** Returns when every lease under way has seen the holds that were committed before this call. */
export function* awaitLeases({ ns }: StoreContext, { queue, everywhere = false }: Concerned = {}): Step<void> {
  yield* all(lockQueues, everywhere ? null : ns, queue ?? null)
}

/** A step that fires has locked its schedules, which stay due until the step has committed. */
const lockFiring = dialects('hold lock due', {
  sqlite: null,
  postgres: `select id from belfry.schedule where ($1::bigint is null or ns = $1) and wake_at <= (select ${clockOr('$2')})
    order by id for no key update`,
})

/** Returns when no step is still firing that may have missed the holds that were committed before this call. */
export function* awaitFires({ ns }: StoreContext, { everywhere = false }: Pick<Concerned, 'everywhere'>): Step<void> {
  yield* all(lockFiring, everywhere ? null : ns, storeClock)
}
