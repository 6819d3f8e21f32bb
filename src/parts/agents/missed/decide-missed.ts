import { runIdOf } from '../../../store/leases/settle.ts'
import { cancelRun } from '../../../store/runs/cancel-run.ts'
import { missedReason } from '../../../store/runs/ready-aside.ts'
import { lockScheduleOf, resetRun } from '../../../store/runs/reset-run.ts'
import { runOutlines } from '../../../store/runs/run-outline.ts'
import { both, one, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'

const findMissed = both(
  'missed find',
  `select run_id from belfry.aside where ns = $1 and run_id = $2 and kind = 'parked' and reason = '${missedReason}'`,
)

/** Starts or drops a missed run. Of two callers one decides: a run that no longer waits for a decision is left unchanged. */
export function* decideMissed(context: StoreContext, run: string, decision: 'run' | 'drop'): Step<boolean> {
  const id = runIdOf({ runId: run })
  const place = (yield* runOutlines(context, [id])).get(id)
  // Both decisions lock the schedule too, so that the second one sees the result of the first.
  if (place !== undefined) yield* lockScheduleOf(place)
  if ((yield* one(findMissed, context.ns, id)) === undefined) return false
  if (decision === 'run') return (yield* resetRun(context, run)) === 'ready'
  return (yield* cancelRun(context, run, 'missed')) === 'cancelled'
}
decideMissed.audits = (isDone: boolean, [run, decision]: readonly unknown[]) =>
  isDone ? { detail: { decision }, subject: `run ${run}` } : null
