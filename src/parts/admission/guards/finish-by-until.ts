import { canonicalJson } from '../../../store/check.ts'
import type { Ends, MovedSchedule, RunEnd } from '../../../store/runs/end-hooks.ts'
import { finishSchedule } from '../../../store/schedules/finish-schedule.ts'
import type { Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'

/** Finishes the schedules whose `until` said yes after one of these runs, in the transaction that ends the runs. */
export function* finishByUntil(_: StoreContext, { now, ends, schedules }: Ends<MovedSchedule>): Step<void> {
  for (const end of ends) {
    if (end.status !== 'completed' || end.scheduleId === null) continue
    if (saidYes(end, schedules.get(end.scheduleId))) yield* finishSchedule(end.scheduleId, { by: 'until', now })
  }
}
finishByUntil.skipsPlain = true as const

/** A guard that the schedule no longer has, because it was edited meanwhile, does not end it. */
function saidYes({ learned }: RunEnd, moved: MovedSchedule | undefined): boolean {
  const asked = learned?.guards
  return asked !== undefined && canonicalJson(moved?.before.spec.options?.until) === canonicalJson(asked)
}
