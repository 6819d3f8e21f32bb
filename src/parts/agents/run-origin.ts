import { parseId } from '../../core/id.ts'
import { both, one, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'

const find = both(
  'agents find origin',
  `select s.name, v.actor, t.id as task from belfry.schedule s
    left join belfry.task t on t.schedule_id = s.id
    left join belfry.schedule_version v on v.schedule_id = s.id and v.version = s.version
    where s.ns = $1 and s.id = $2`,
)

export interface RunOriginNames {
  readonly schedule?: string
  /** The id of the task, if the schedule is one. */
  readonly task?: string
  /** The author of the current version of the schedule. */
  readonly author?: string
}

/** The origin of a run, in names. */
export function* runOrigin({ ns }: StoreContext, scheduleId: string | null): Step<RunOriginNames> {
  const id = scheduleId === null ? null : parseId('schedule', scheduleId)
  const row =
    id === null ? undefined : yield* one<{ name: string; actor: string | null; task: string | null }>(find, ns, id)
  if (row === undefined) return {}
  const { name: schedule, actor, task } = row
  return { schedule, ...(actor !== null && { author: actor }), ...(task !== null && { task }) }
}
