import type { ScheduleSpec } from '../../core/schedule/schedule-spec.ts'
import { missedReason } from '../runs/ready-aside.ts'
import { both, one, type Step } from '../statement.ts'
import { type ScheduleRow, saveSchedules } from './schedule-row.ts'

/** Whether a schedule `s` has a run that has not ended, or one that waits for a person's decision. */
export const hasWork = `(coalesce((select 1 from belfry.schedule_run w where w.schedule_id = s.id limit 1),
  (select 1 from belfry.aside a join belfry.run d on d.id = a.run_id
    where a.kind = 'parked' and a.reason = '${missedReason}' and a.ns = s.ns and d.schedule_id = s.id limit 1)) is not null)`
const findWork = both('free name find work', `select 1 as found from belfry.schedule s where s.id = $1 and ${hasWork}`)

/**
 * Gives away the name of a task that has finished: nothing more is planned, and none of its runs waits. Its row stays until
 * retention removes it. Returns whether the name is free. The caller has locked the row.
 */
export function* freesName(found: ScheduleRow, wanted: ScheduleSpec, now: number): Step<boolean> {
  const { spec, nextDecision, managedBy } = found
  const isFinished = spec.task !== undefined && nextDecision?.source === 'none' && managedBy === null
  if (!isFinished || wanted.task?.id === spec.task?.id) return false
  if ((yield* one(findWork, found.id)) !== undefined) return false
  yield* saveSchedules([{ ...found, wakeAt: null, deletedAt: now }])
  return true
}
