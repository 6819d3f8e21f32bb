import { beforePause } from '../../core/schedule/before-pause.ts'
import { expiredKinds, without } from '../../core/schedule/hints.ts'
import { planned } from '../../core/schedule/next-plan.ts'
import { passedBy } from '../../core/schedule/passed-by.ts'
import { isPaused, lastRunId } from '../../core/schedule/state.ts'
import { writeAudit } from '../audit/write-audit.ts'
import { checkInstant, checkText, invalid } from '../check.ts'
import type { Actor } from '../port.ts'
import { reasonLengthMax } from '../runs/cancel-run.ts'
import { clockNow, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { fireSchedules } from './fire-due.ts'
import { endHints } from './hint-row.ts'
import { holdRuns, releaseRuns } from './hold-runs.ts'
import { writePassed } from './ledger.ts'
import { liveRunsOf } from './live-run.ts'
import { lockNamedSchedule, type ScheduleRow, saveSchedules } from './schedule-row.ts'
import { callSteered } from './steer-others.ts'

/**
 * Pauses a schedule until an instant, or until it is resumed. From this commit on none of its runs starts; leased runs finish.
 *
 * Both kinds can exist together: a pause with an end, which a planner may set, must not end one that a person set without.
 */
export function* pauseSchedule(
  context: StoreContext,
  name: string,
  { until, reason, actor }: { until?: number; reason: string; actor?: Actor },
): Step<'paused' | 'not-found'> {
  checkText(reason, 'reason', reasonLengthMax)
  if (until !== undefined) checkInstant(until, 'until')
  const found = yield* lockNamedSchedule(context, name)
  if (found === null) return 'not-found'
  const now = yield* clockNow()
  if (until !== undefined && until <= now) throw invalid('until', `is ${until}`, `after now, which is ${now}`)
  const awake = yield* broughtToNow(found, now)
  const paused =
    until === undefined
      ? { ...awake, disabledAt: now, disabledReason: reason }
      : { ...awake, pausedUntil: until, pausedReason: reason }
  yield* holdRuns(paused)
  yield* saveSchedules([planned(paused, { now, lastRunId: null })])
  if (actor !== undefined) {
    const detail = { reason, ...(until !== undefined && { until }) }
    yield* writeAudit(context, { actor, verb: 'schedule.pause', subject: `schedule ${name}`, detail }, now)
  }
  yield* callSteered(context, { id: found.id, name, how: 'paused', until, actor })
  return 'paused'
}

/** The schedule with everything up to now recorded, as a worker would have done. */
function* broughtToNow(found: ScheduleRow, now: number): Step<ScheduleRow> {
  if (found.wakeAt === null || found.wakeAt > now) return found
  const live = (yield* liveRunsOf([found.id])).get(found.id) ?? []
  const { row, entries, endedHints } = beforePause(found, now, live)
  yield* writePassed(now, row, entries)
  yield* endHints(endedHints)
  return row
}

/** Ends every pause of a schedule, at once. Occurrences that passed meanwhile end in the ledger and do not fire. */
export function* resumeSchedule(
  context: StoreContext,
  name: string,
  { actor }: { actor?: Actor } = {},
): Step<'resumed' | 'was-not-paused' | 'not-found'> {
  const found = yield* lockNamedSchedule(context, name)
  if (found === null) return 'not-found'
  if (found.disabledAt === null && found.pausedUntil === null) return 'was-not-paused'
  const now = yield* clockNow()
  if (isPaused(found, now)) yield* endPause(found, now)
  // The pause ended by itself since a worker last fired, and later occurrences were not paused.
  else yield* fireSchedules(context, now, [found])
  if (actor !== undefined) {
    yield* writeAudit(context, { actor, verb: 'schedule.resume', subject: `schedule ${name}` }, now)
  }
  yield* callSteered(context, { id: found.id, name, how: 'resumed', actor })
  return 'resumed'
}

function* endPause(found: ScheduleRow, now: number): Step<void> {
  const { row, entries } = passedBy(found, { by: now, now, outcome: 'paused' })
  yield* writePassed(now, row, entries)
  const expired = expiredKinds(row.hints, now)
  yield* endHints(expired.map((kind) => ({ scheduleId: row.id, kind, at: now, by: 'expired' })))
  const resumed = withoutPause({ ...row, hints: without(row.hints, expired) })
  const live = (yield* liveRunsOf([row.id])).get(row.id) ?? []
  yield* saveSchedules([planned(resumed, { now, lastRunId: lastRunId(resumed, live) })])
  yield* releaseRuns(now, resumed)
}

function withoutPause(row: ScheduleRow): ScheduleRow {
  return {
    ...row,
    disabledAt: null,
    disabledReason: null,
    pausedUntil: null,
    pausedReason: null,
    nextDecision: null,
  }
}
