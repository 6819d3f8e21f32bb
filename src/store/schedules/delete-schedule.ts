import { endsOf, everyHint } from '../../core/schedule/hints.ts'
import { unplanned, withExpirySeen } from '../../core/schedule/next-plan.ts'
import { passedBy } from '../../core/schedule/passed-by.ts'
import { isPaused } from '../../core/schedule/state.ts'
import { writeAudit } from '../audit/write-audit.ts'
import { forgetHolds } from '../holds/lift-hold.ts'
import { refuseManaged } from '../managed.ts'
import { cancelRuns } from '../runs/cancel-runs.ts'
import { clockNow, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { endHints } from './hint-row.ts'
import { writePassed } from './ledger.ts'
import { lockNamedSchedule, saveSchedules } from './schedule-row.ts'
import type { DeleteOptions } from './schedule-steps.ts'
import { callSteered } from './steer-others.ts'

/**
 * Marks a schedule as deleted; its name is free at once. Its runs that are not leased end. Leased ones finish or, on request, are
 * asked to end; their ends no longer move the schedule.
 */
export function* deleteSchedule(
  context: StoreContext,
  name: string,
  { cancelLeased = false, actor, source }: DeleteOptions = {},
): Step<'deleted' | 'not-found'> {
  const found = yield* lockNamedSchedule(context, name)
  if (found === null) return 'not-found'
  refuseManaged({ noun: 'schedule', name, managedBy: found.managedBy }, source)
  const now = yield* clockNow()
  const outcome = isPaused(found, now) ? 'paused' : 'schedule-deleted'
  const { row, entries } = passedBy(withExpirySeen(found, { now, lastRunId: null }), { by: now, now, outcome })
  yield* writePassed(now, row, entries)
  yield* endHints(endsOf(row.id, everyHint(row.hints), now, 'cleared'))
  const deleted = { ...unplanned(row), hints: {}, wakeAt: null, deletedAt: now }
  yield* saveSchedules([deleted])
  yield* cancelRuns(context, now, deleted, { reason: 'schedule-deleted', leased: cancelLeased })
  yield* forgetHolds(context, 'schedule', name)
  if (actor !== undefined) {
    yield* writeAudit(context, { actor, verb: 'schedule.delete', subject: `schedule ${name}` }, now)
  }
  yield* callSteered(context, { id: found.id, name, how: 'deleted', cancelLeased, actor })
  return 'deleted'
}
deleteSchedule.rehearses = true as const
