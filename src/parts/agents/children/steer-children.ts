import { formatId } from '../../../core/id.ts'
import { isPaused } from '../../../core/schedule/state.ts'
import type { Ends, MovedSchedule } from '../../../store/runs/end-hooks.ts'
import { pauseBeside, resumeBeside } from '../../../store/schedules/pause-schedule.ts'
import { lockSchedules } from '../../../store/schedules/schedule-row.ts'
import type { Steered } from '../../../store/schedules/schedule-steps.ts'
import { clockNow, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { deleteTask } from '../tasks/delete-task.ts'
import { childrenOf, pauseWithParent, withParent } from './child-rows.ts'
import { holdBeside, liftBeside } from './parent-held.ts'

/**
 * Pauses, resumes, holds, releases and deletes the children of a schedule together with it. The children are the tasks that agents planned
 * in its runs.
 */
export function* steerChildren(context: StoreContext, { id, name, how, ...by }: Steered): Step<void> {
  const { until, hold, cancelLeased = false, actor = { name: `schedule ${name}`, door: 'store' } } = by
  const children = yield* childrenOf(context, id)
  // A caller that resumes ends only its own pauses; other callers may keep the parent paused.
  if (how === 'resumed' && children.length > 0 && (yield* isStillPaused(id))) return
  for (const child of children) {
    if (how === 'deleted') {
      const task = { name: child.name, schedule: formatId('schedule', child.id) }
      yield* deleteTask(context, task, { cancelLeased, actor })
    } else if (how === 'paused') {
      yield* pauseBeside(context, child.name, { reason: withParent(name), author: `schedule ${name}`, until })
    } else if (hold === undefined) yield* resumeBeside(context, child.name, withParent(name))
    else if (how === 'held') yield* holdBeside(context, child.name, hold)
    else yield* liftBeside(context, child.name, hold, actor)
  }
}

function* isStillPaused(id: number): Step<boolean> {
  const row = (yield* lockSchedules([id], { wait: true })).get(id)
  return row !== undefined && isPaused(row, yield* clockNow())
}

/** A schedule that is paused automatically, after failures or idle runs, pauses its children too. */
export function* pauseWithEnds(context: StoreContext, { ends, schedules }: Ends<MovedSchedule>): Step<void> {
  for (const { scheduleId, ns } of ends) {
    const before = scheduleId === null ? undefined : schedules.get(scheduleId)?.before
    if (before === undefined || before.disabledAt !== null) continue
    if (before.spec.pauseAfterFailures === undefined && before.spec.maxNoop === undefined) continue
    const after = (yield* lockSchedules([before.id], { wait: true })).get(before.id)
    if (after === undefined || after.disabledAt === null) continue
    const own = { ...context, ns }
    for (const { name } of yield* childrenOf(own, before.id)) yield* pauseWithParent(own, name, after)
  }
}
