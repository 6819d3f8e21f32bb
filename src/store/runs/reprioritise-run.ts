import { isEnded, type RunStatus } from '../../core/run/run-state.ts'
import { writeAudit } from '../audit/write-audit.ts'
import { checkActor, checkInteger, priorityMax } from '../check.ts'
import { runIdOf } from '../leases/settle.ts'
import type { Actor } from '../port.ts'
import { findRun as readRun } from '../reads/find-run.ts'
import { both, clockNow, one, run, type Step, StepAgain } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { columnsOf } from '../tables.ts'
import { gatesOf } from './cancel-run.ts'
import { lockGates, regateLocked } from './key-gate.ts'
import { putInLine, readyRowOf } from './ready-aside.ts'
import { lockScheduleOf } from './reset-run.ts'
import { type RunOutline, runOutlines } from './run-outline.ts'

/**
 * A run's rank is in its definition and in its row in line, so both change or neither does: only a step that holds the row in
 * line may change the definition. A leased run has no row in line, and keeps its rank.
 *
 * The row is deleted and inserted again, never updated. If it were updated, a claim on PostgreSQL that began before the update
 * would lock the row but not see its new version, and so would not remove it: the run would be leased, stay in line, and be
 * leased again.
 */
const leaveLine = both(
  'reprioritise leave line',
  `delete from belfry.ready
    where queue_id = $1 and need_id = $2 and priority = $3 and enqueued_at = $4 and run_id = $5 returning ${columnsOf('ready')}`,
)
const moveAside = both(
  'reprioritise aside',
  'update belfry.aside set priority = $3 where run_id = $1 and ns = $2 returning run_id',
)
const redefine = both('reprioritise definition', 'update belfry.run set priority = $2 where id = $1')

type Reprioritised =
  | { readonly answer: 'moved' | 'unchanged'; readonly before: number }
  | { readonly answer: 'not-waiting'; readonly status: RunStatus }
  | { readonly answer: 'not-found' }

export function* reprioritiseRun(
  context: StoreContext,
  runId: string,
  priority: number,
  { actor }: { readonly actor: Actor },
): Step<Reprioritised> {
  checkInteger(priority, 'priority', -priorityMax, priorityMax)
  checkActor(actor)
  const id = runIdOf({ runId })
  const place = (yield* runOutlines(context, [id])).get(id)
  if (place === undefined) return { answer: 'not-found' }
  yield* lockScheduleOf(place)
  const gates = gatesOf(place)
  yield* lockGates(gates)
  const before = place.priority
  if (!(yield* move(place, priority))) return yield* notWaiting(context, runId)
  if (before === priority) return { answer: 'unchanged', before }
  yield* run(redefine, id, priority)
  // The best-ranked runs of a key are in line; after the change these may be other runs.
  for (const gate of gates) yield* regateLocked(gate)
  const now = yield* clockNow()
  const detail = { from: before, to: priority }
  yield* writeAudit(context, { actor, verb: 'run.reprioritise', subject: `run ${runId}`, detail }, now)
  return { answer: 'moved', before }
}

function* move(place: RunOutline, priority: number): Step<boolean> {
  const { queueId, needId, priority: before, enqueuedAt, runId, ns } = place
  const inLine = yield* one(leaveLine, queueId, needId, before, enqueuedAt, runId)
  if (inLine === undefined) return (yield* one(moveAside, runId, ns, priority)) !== undefined
  yield* putInLine([{ ...readyRowOf(inLine), priority }])
  return true
}

function* notWaiting(context: StoreContext, runId: string): Step<Reprioritised> {
  const found = yield* readRun(context, runId)
  if (found === null) return { answer: 'not-found' }
  const { status } = found
  if (status === 'leased' || isEnded(status)) return { answer: 'not-waiting', status }
  throw new StepAgain(`Run ${runId} changed state while its priority was being changed.`)
}
