import type { OpeningHours } from '../../core/opening/opening.ts'
import { planned } from '../../core/schedule/next-plan.ts'
import type { ScheduleSpec } from '../../core/schedule/schedule-spec.ts'
import { lastRunId } from '../../core/schedule/state.ts'
import { canonicalJson } from '../check.ts'
import { groupWindow } from '../groups/group-row.ts'
import { clockNow, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { liveRunsOf } from './live-run.ts'
import { lockNamedSchedule, saveSchedules } from './schedule-row.ts'

/**
 * The minutes in which hints of rules, planners and agents may plan runs of a schedule: its own window, else that of
 * its group.
 */
export function* windowFor(context: StoreContext, spec: ScheduleSpec): Step<OpeningHours | null> {
  const cron = spec.window ?? (yield* groupWindow(context, spec))
  if (cron === null) return null
  const { timing, zone = 'UTC' } = spec
  return { zone: timing.cron === undefined ? zone : timing.zone, cron }
}

/** Updates the window of schedules whose group has a new window, and asks the governor at once. */
export function* refreshWindows(context: StoreContext, names: readonly string[]): Step<void> {
  for (const name of names) {
    const found = yield* lockNamedSchedule(context, name)
    if (found === null) continue
    const window = yield* windowFor(context, found.spec)
    if (canonicalJson(window) === canonicalJson(found.window)) continue
    const live = (yield* liveRunsOf([found.id])).get(found.id) ?? []
    const row = { ...found, window }
    yield* saveSchedules([planned(row, { now: yield* clockNow(), lastRunId: lastRunId(row, live) })])
  }
}
