import { formatId } from '../../../core/id.ts'
import type { ScheduleSpec } from '../../../core/schedule/schedule-spec.ts'
import type { Target } from '../../../core/target.ts'
import { missedReason } from '../../../store/runs/ready-aside.ts'
import { all, both, clockNow, one, type Row, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import type { AgentTarget } from '../agent-target.ts'
import type { InboxTarget } from '../inbox/kind.ts'

/** A missed one-shot whose run waits for a person's decision. */
export interface MissedRun {
  readonly run: string
  readonly name: string
  readonly spec: ScheduleSpec
  readonly target: Target | null
  readonly plannedAt: number
  readonly askedAt: number
}

const waiting = `select a.run_id, a.at, d.occurrence_at, d.target, s.name, s.spec from belfry.aside a
  join belfry.run d on d.id = a.run_id join belfry.schedule s on s.id = d.schedule_id
  where a.ns = $1 and a.kind = 'parked' and a.reason = '${missedReason}'`
const listed = both('missed list', `${waiting} and a.run_id > $2 order by a.run_id limit $3`)
const ofSchedule = both('missed of schedule', `${waiting} and d.schedule_id = $2`)

/** A task that is this late was not looked at when it came due: a worker would have fired or missed it. */
const unseenMs = 60_000
const unseen = both(
  'missed unseen',
  `select count(*) as count from belfry.task t join belfry.schedule s on s.id = t.schedule_id
    where t.ns = $1 and t.is_open = 1 and s.deleted_at is null and s.disabled_at is null and s.next_due_at < $2`,
)

/** How many tasks came due while no worker looked: what is missed of them is decided when the first one does. */
export function* unseenTasks({ ns }: StoreContext): Step<number> {
  const now = yield* clockNow()
  return (yield* one<{ count: number }>(unseen, ns, now - unseenMs))?.count ?? 0
}

const rowsMax = 1_000

function missedRunOf(row: Row): MissedRun {
  return {
    run: formatId('run', row.run_id as number),
    name: row.name as string,
    spec: JSON.parse(row.spec as string) as ScheduleSpec,
    target: row.target === null ? null : (JSON.parse(row.target as string) as Target),
    plannedAt: row.occurrence_at as number,
    askedAt: row.at as number,
  }
}

/** The missed one-shots that wait for a decision, or those of one schedule, oldest first. */
export function* missedOf(
  { ns }: StoreContext,
  { scheduleId, after = 0 }: { readonly scheduleId?: number; readonly after?: number } = {},
): Step<MissedRun[]> {
  const rows =
    scheduleId === undefined ? yield* all(listed, ns, after, rowsMax) : yield* all(ofSchedule, ns, scheduleId)
  return rows.map(missedRunOf)
}

/** The prompt that a missed run hands over. */
export function promptOf(target: Target | null): string {
  const { agent, inbox } = (target ?? {}) as unknown as Partial<AgentTarget & InboxTarget>
  return agent?.prompt ?? inbox?.prompt ?? `The prompt in ${agent?.promptFile}.`
}
