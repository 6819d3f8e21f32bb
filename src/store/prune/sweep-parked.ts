import { parkedKeptMs } from '../../core/queue/retention.ts'
import { cancelledEnding } from '../runs/cancel-run.ts'
import { conclude } from '../runs/conclude.ts'
import { missedReason } from '../runs/ready-aside.ts'
import { runOutlines } from '../runs/run-outline.ts'
import { all, both, dialects, each, type Step } from '../statement.ts'
import { nothingSwept, type Sweeping, type Swept } from './sweep.ts'

const findParked = both(
  'prune find parked',
  `select run_id from belfry.aside where kind = 'parked' and queue_id = $1 and at <= $2 and coalesce(reason, '') <> '${missedReason}' order by at, run_id limit $3`,
)
/**
 * Checks again: a run that was reset since it was found is not taken. Rows are found by run id, as in `takeGated`
 * of `key-gate.ts`.
 */
const takeParked = dialects('prune take parked', {
  sqlite: `delete from belfry.aside where run_id = $1 and coalesce(kind, '') = 'parked' returning run_id`,
  postgres: `delete from belfry.aside where run_id = any ($1::bigint[]) and coalesce(kind, '') = 'parked'
    returning run_id`,
})

const reason = 'retention'

/** Ends runs that were parked longer than their queue allows. From then on they are kept like other cancelled runs. */
export function* sweepParked({ context, now, queues, rowsLeft }: Sweeping): Step<Swept> {
  const found: number[] = []
  for (const { id, policy } of queues) {
    const parkedMs = parkedKeptMs(policy)
    if (parkedMs === null || found.length >= rowsLeft) continue
    const rows = yield* all<{ run_id: number }>(findParked, id, now - parkedMs, rowsLeft - found.length)
    found.push(...rows.map(({ run_id }) => run_id))
  }
  if (found.length === 0) return nothingSwept
  const places = yield* runOutlines(context, found)
  const taken = yield* each<{ run_id: number }>(
    takeParked,
    found.map((id) => [id]),
  )
  const endings = taken.flatMap(({ run_id }) => {
    const place = places.get(run_id)
    return place === undefined ? [] : [cancelledEnding({ place, reason, wasParked: true })]
  })
  yield* conclude(context, { now, endings, schedules: new Map() })
  return { ...nothingSwept, rows: taken.length, other: taken.length, next: found.length === rowsLeft ? 'again' : null }
}
