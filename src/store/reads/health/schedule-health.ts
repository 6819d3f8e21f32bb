import type { ScheduleSpec } from '../../../core/schedule/schedule-spec.ts'
import { checkInteger } from '../../check.ts'
import type { ScheduleHealth } from '../../health-views.ts'
import { refuseUnfit } from '../../schedules/occurrence-run.ts'
import { scheduleColumns, scheduleRowOf } from '../../schedules/schedule-row.ts'
import { all, both, type Row, type Step } from '../../statement.ts'
import type { StoreContext } from '../../store-context.ts'

const findPage = both(
  'health schedules',
  `select ${scheduleColumns()} from belfry.schedule where ns = $1 and name > $2 and deleted_at is null order by name limit $3`,
)

const pageMax = 1_000

/** Unlike a list of schedules this one reports a damaged row and continues. */
export function* scheduleHealth(
  context: StoreContext,
  { after = '', limit }: { after?: string; limit: number },
): Step<ScheduleHealth[]> {
  checkInteger(limit, 'limit', 1, pageMax)
  return (yield* all(findPage, context.ns, after, limit)).map(healthOf)
}

function healthOf(row: Row): ScheduleHealth {
  const disabledAt = row.disabled_at as number | null
  return {
    name: row.name as string,
    ...readable(row),
    failureCount: row.failure_count as number,
    disabled: disabledAt === null ? null : { at: disabledAt, reason: (row.disabled_reason ?? 'disabled') as string },
    isDone: row.is_done === 1,
    lastEndAt: row.last_end_at as number | null,
    lastSuccessAt: row.last_success_at as number | null,
    nextDueAt: disabledAt === null ? (row.next_due_at as number | null) : null,
  }
}

/** Judges as `fireDue` does when the schedule is due. */
function readable(row: Row): { spec: ScheduleSpec | null; problem: string | null } {
  let spec: ScheduleSpec | null = null
  try {
    const read = scheduleRowOf(row)
    if (typeof read.spec?.timing !== 'object')
      throw new Error(`The stored spec of schedule ${row.name} is not a schedule.`)
    spec = read.spec
    refuseUnfit(read)
    return { spec, problem: null }
  } catch (error) {
    return { spec, problem: (error as Error).message }
  }
}
