import { parseId } from '../../../core/id.ts'
import type { Actor } from '../../../store/audit/actor.ts'
import { cancelRun } from '../../../store/runs/cancel-run.ts'
import { deleteSchedule } from '../../../store/schedules/delete-schedule.ts'
import type { Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { missedOf } from '../missed/missed-rows.ts'

interface Deleting {
  readonly cancelLeased: boolean
  readonly actor: Actor
  /** The config file that manages the task. */
  readonly source?: string
}

/** Deletes a task, and with it the question about its missed run. */
export function* deleteTask(
  context: StoreContext,
  { name, schedule }: { readonly name: string; readonly schedule: string },
  { cancelLeased, ...by }: Deleting,
): Step<void> {
  for (const { run } of yield* missedOf(context, { scheduleId: parseId('schedule', schedule) as number })) {
    yield* cancelRun(context, run, 'schedule-deleted')
  }
  yield* deleteSchedule(context, name, { cancelLeased, ...by })
}
deleteTask.rehearses = true as const
