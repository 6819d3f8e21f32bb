import { planned } from '../../core/schedule/next-plan.ts'
import { lastRunId } from '../../core/schedule/state.ts'
import { writeAudit } from '../audit/write-audit.ts'
import type { Actor } from '../port.ts'
import { clockNow, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { liveRunsOf } from './live-run.ts'
import { lockNamedSchedule, saveSchedules } from './schedule-row.ts'

/**
 * Clears the failures in a row of a schedule and asks the governor at once: a backed-off schedule is planned as if it had never
 * failed, and a schedule that had ended early starts again. A pause stays, even one caused by failures.
 */
export function* resetSchedule(
  context: StoreContext,
  name: string,
  { actor }: { actor?: Actor } = {},
): Step<{ answer: 'reset'; failureCount: number } | { answer: 'not-found' }> {
  const found = yield* lockNamedSchedule(context, name)
  if (found === null) return { answer: 'not-found' }
  const now = yield* clockNow()
  const live = (yield* liveRunsOf([found.id])).get(found.id) ?? []
  const row = { ...found, failureCount: 0, noopCount: 0, finished: null }
  yield* saveSchedules([planned(row, { now, lastRunId: lastRunId(row, live) })])
  const { failureCount } = found
  if (actor !== undefined) {
    const subject = `schedule ${name}`
    yield* writeAudit(context, { actor, verb: 'schedule.reset', subject, detail: { failureCount } }, now)
  }
  return { answer: 'reset', failureCount }
}
