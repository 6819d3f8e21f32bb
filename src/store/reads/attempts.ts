import { formatId } from '../../core/id.ts'
import type { EndedStatus } from '../../core/run-state.ts'
import { columnsOf } from '../columns.ts'
import type { StoreContext } from '../context.ts'
import { runIdOf } from '../leases/settle.ts'
import { all, both, type Step } from '../statement.ts'
import type { AttemptView } from '../view.ts'

const findAttempts = both(
  'read attempts',
  `select ${columnsOf('attempt')} from (select ${columnsOf('attempt')} from belfry.attempt where run_id = $1 and ns = $2 order by fence desc limit $3) as newest
    order by fence = 0, fence`,
)

const attemptsMax = 1_000

/** How the attempts of a run ended, oldest first; of very many the newest. An end without a lease has fence 0 and comes last. */
export function* listAttempts(context: StoreContext, runId: string): Step<AttemptView[]> {
  const rows = yield* all(findAttempts, runIdOf({ runId }), context.ns, attemptsMax)
  return rows.map((row) => ({
    fence: row.fence as number,
    workerId: row.worker_id === null ? null : formatId('worker', row.worker_id as number),
    startedAt: row.started_at as number | null,
    endedAt: row.ended_at as number,
    outcome: row.outcome as string,
    reason: row.reason as string | null,
    ends: row.ends as EndedStatus | null,
  }))
}
