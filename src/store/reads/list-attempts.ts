import { formatId } from '../../core/id.ts'
import { runIdOf } from '../leases/settle.ts'
import { all, both, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { columnsOf, tables } from '../tables.ts'
import type { AttemptView } from '../views.ts'

const findAttempts = both(
  'read attempts',
  `select ${columnsOf('attempt')} from (select ${columnsOf('attempt')} from belfry.attempt where run_id = $1 and ns = $2 order by fence desc limit $3) as newest
    order by fence = 0, fence`,
)

const attempts = tables.attempt.only('fence', 'workerId', 'startedAt', 'endedAt', 'outcome', 'reason', 'ends')
const attemptsMax = 1_000

/** The attempts of a run, oldest first; of very many, the newest. An end without a lease has fence 0 and comes last. */
export function* listAttempts(context: StoreContext, runId: string): Step<AttemptView[]> {
  const rows = yield* all(findAttempts, runIdOf({ runId }), context.ns, attemptsMax)
  return rows.map((row) => {
    const { workerId, ...attempt } = attempts.read(row)
    return { ...attempt, workerId: workerId === null ? null : formatId('worker', workerId) }
  })
}
