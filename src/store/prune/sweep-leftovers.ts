import { all, both, dialects, each, one, type Step } from '../statement.ts'
import { nothingSwept, type Sweeping, type Swept } from './sweep.ts'
import { sweepQueues } from './sweep-queues.ts'

const findKeys = both(
  'prune find idempotency',
  'select ns, key from belfry.idempotency where created_at <= $1 order by created_at limit $2',
)
const removeKeys = dialects('prune remove idempotency', {
  sqlite: 'delete from belfry.idempotency where ns = $1 and key = $2',
  postgres: `delete from belfry.idempotency d using unnest($1::bigint[], $2::text[]) as i (ns, key)
    where d.ns = i.ns and d.key = i.key`,
})
const findStarts = both(
  'prune find starts',
  'select at, claim_id from belfry.start where queue_id = $1 and at <= $2 order by at, claim_id limit $3',
)
const removeStarts = dialects('prune remove starts', {
  sqlite: 'delete from belfry.start where queue_id = $1 and at = $2 and claim_id = $3',
  postgres: `delete from belfry.start s using unnest($1::bigint[], $2::bigint[], $3::text[]) as i (queue_id, at, claim_id)
    where s.queue_id = i.queue_id and s.at = i.at and s.claim_id = i.claim_id`,
})
const findWorkers = both(
  'prune find workers',
  `select id from belfry.worker where ns = $1 and coalesce(stopped_at, beat_at) <= $2
    and id not in (select worker_id from belfry.lease) order by id limit $3`,
)
/** Checks again: a worker that has beaten since it was found is alive. */
const removeWorkers = dialects('prune remove workers', {
  sqlite: 'delete from belfry.worker where id = $1 and coalesce(stopped_at, beat_at) <= $2',
  postgres: `delete from belfry.worker w using unnest($1::bigint[], $2::bigint[]) as i (id, until)
    where w.id = i.id and coalesce(w.stopped_at, w.beat_at) <= i.until`,
})
const removeDuties = both('prune remove duties', 'delete from belfry.duty where ns = $1 and expires_at <= $2')
/** Ids ascend with time, so old lines come first. */
const findAudit = both(
  'prune find audit',
  'select id from (select id, at from belfry.audit order by id limit $2) as oldest where at <= $1',
)
const removeAudit = dialects('prune remove audit', {
  sqlite: 'delete from belfry.audit where id = $1',
  postgres: 'delete from belfry.audit where id = any ($1::bigint[])',
})

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const idempotencyKeptMs = 30 * dayMs
const workersKeptMs = 7 * dayMs
const auditKeptMs = 365 * dayMs
/** The starts in a rate limit's window count; a little more is kept in case the window is lengthened. */
const startsKeptMsMin = hourMs

/** Removes rows that belong to no run and no schedule. */
export function* sweepLeftovers(sweeping: Sweeping): Step<Swept> {
  const { context, now } = sweeping
  yield* one(removeDuties, context.ns, now)
  let rows = 0
  for (const sweep of [...context.parts.flatMap((part) => part.sweeps ?? []), ...sweeps]) {
    const rowsLeft = sweeping.rowsLeft - rows
    const removed = yield* sweep({ ...sweeping, rowsLeft })
    rows += removed
    if (removed >= rowsLeft) return { ...nothingSwept, rows, other: rows, next: 'again' }
  }
  return { ...nothingSwept, rows, other: rows }
}

const sweeps = [sweepKeys, sweepStarts, sweepWorkers, sweepAudit, sweepQueues]

function* sweepKeys({ now, rowsLeft }: Sweeping): Step<number> {
  const found = yield* all<{ ns: number; key: string }>(findKeys, now - idempotencyKeptMs, rowsLeft)
  yield* each(
    removeKeys,
    found.map(({ ns, key }) => [ns, key]),
  )
  return found.length
}

function* sweepStarts({ now, queues, rowsLeft }: Sweeping): Step<number> {
  let removed = 0
  for (const { id, policy } of queues) {
    const until = now - Math.max(startsKeptMsMin, policy.rateLimit?.perMs ?? 0)
    const found = yield* all<{ at: number; claim_id: string }>(findStarts, id, until, rowsLeft - removed)
    yield* each(
      removeStarts,
      found.map(({ at, claim_id }) => [id, at, claim_id]),
    )
    removed += found.length
    if (removed >= rowsLeft) break
  }
  return removed
}

function* sweepWorkers({ context, now, rowsLeft }: Sweeping): Step<number> {
  const until = now - workersKeptMs
  const found = yield* all<{ id: number }>(findWorkers, context.ns, until, rowsLeft)
  yield* each(
    removeWorkers,
    found.map(({ id }) => [id, until]),
  )
  return found.length
}

function* sweepAudit({ now, rowsLeft }: Sweeping): Step<number> {
  const found = yield* all<{ id: number }>(findAudit, now - auditKeptMs, rowsLeft)
  yield* each(
    removeAudit,
    found.map(({ id }) => [id]),
  )
  return found.length
}
