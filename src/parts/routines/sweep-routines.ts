import { defaultPolicy } from '../../core/queue/policy.ts'
import type { Sweeping } from '../../store/prune/sweep.ts'
import { all, both, dialects, each, type Step, thereIsNo } from '../../store/statement.ts'

/** Ids ascend with time, so old events come first. */
const findEvents = both(
  'prune find routine events',
  'select id from (select id, at from belfry.routine_event order by id limit $2) as oldest where at <= $1',
)
const removeEvents = dialects('prune remove routine events', {
  sqlite: 'delete from belfry.routine_event where id = $1',
  postgres: 'delete from belfry.routine_event where id = any ($1::bigint[])',
})
const findRoutines = both(
  'prune find routines',
  `select id from belfry.routine r where deleted_at <= $1
    and ${thereIsNo('from belfry.routine_event e where e.routine_id = r.id')} order by id limit $2`,
)
const removeRoutines = dialects('prune remove routines', {
  sqlite: 'delete from belfry.routine where id = $1',
  postgres: 'delete from belfry.routine where id = any ($1::bigint[])',
})

/** No queue says how long an event is kept: it is kept as long as ledger rows. */
const keptMs = defaultPolicy.retention.ledgerMs

export function* sweepRoutineEvents({ now, rowsLeft }: Sweeping): Step<number> {
  const found = yield* all<{ id: number }>(findEvents, now - keptMs, rowsLeft)
  yield* each(
    removeEvents,
    found.map(({ id }) => [id]),
  )
  return found.length
}

/** A deleted routine is removed once no event refers to it. */
export function* sweepRoutines({ now, rowsLeft }: Sweeping): Step<number> {
  const found = yield* all<{ id: number }>(findRoutines, now - keptMs, rowsLeft)
  yield* each(
    removeRoutines,
    found.map(({ id }) => [id]),
  )
  return found.length
}
