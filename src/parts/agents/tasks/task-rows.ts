import { formatId } from '../../../core/id.ts'
import type { Sweeping } from '../../../store/prune/sweep.ts'
import { scheduleViewOf } from '../../../store/reads/find-schedule.ts'
import { missedReason } from '../../../store/runs/ready-aside.ts'
import { hasWork } from '../../../store/schedules/free-name.ts'
import { scheduleColumns, scheduleRowOf } from '../../../store/schedules/schedule-row.ts'
import { all, both, one, type Row, type Step, thereIsNo } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import type { ScheduleView } from '../../../store/views.ts'

/** A task: its schedule, and whether work of it is under way. */
export interface TaskView extends ScheduleView {
  readonly isLive: boolean
  /** The run that waits for the decision of a person. */
  readonly missedRun: string | null
  /** When an attempt of it last started; not when its run was made. */
  readonly lastStartedAt: number | null
}

const missedRun = `(select a.run_id from belfry.aside a join belfry.run d on d.id = a.run_id
  where a.kind = 'parked' and a.reason = '${missedReason}' and a.ns = s.ns and d.schedule_id = s.id limit 1)`
/** The newest runs may wait, so a few are looked at. Each is looked up by itself: a join may be turned round, and read all that is at work. */
const lastStart = `(select max(coalesce((select l.leased_at from belfry.lease l where l.run_id = r.id),
    (select max(a.started_at) from belfry.attempt a where a.run_id = r.id))) from
  (select id from belfry.run where ns = s.ns and schedule_id = s.id order by id desc limit 5) r)`
const columns = `${scheduleColumns('s')}, ${missedRun} as missed_run, ${lastStart} as last_start,
  (select w.run_id from belfry.schedule_run w where w.schedule_id = s.id limit 1) as live_run`
const tasks = 'belfry.task t join belfry.schedule s on s.id = t.schedule_id'
/** A task that was deleted was not finished: nothing is planned for it, and no decision says so. */
const isKept = '(s.deleted_at is null or s.is_done = 1)'
/** Those that finished long ago are closed, so that the others are found among few. */
const isUnfinished = `(t.is_open = 1 and s.deleted_at is null and (s.is_done = 0 or ${hasWork}))`

const findById = both('tasks find', `select ${columns} from ${tasks} where t.ns = $1 and t.id = $2 and ${isKept}`)
const findByName = both(
  'tasks find by name',
  `select ${columns} from belfry.schedule s join belfry.task t on t.schedule_id = s.id
    where s.ns = $1 and s.name = $2 and s.deleted_at is null`,
)
const listed = (which: string) => `select ${columns} from ${tasks} where t.ns = $1 and ${which}
  and t.schedule_id > coalesce((select schedule_id from belfry.task where ns = $1 and id = $2), 0)
  and ($3 = '' or t.project = $3) order by t.schedule_id limit $4`
const listAll = both('tasks list all', listed(isKept))
const listUnfinished = both('tasks list', listed(isUnfinished))
const countUnfinished = both(
  'tasks count',
  `select count(*) as count from ${tasks} where t.ns = $1 and t.project = $2 and ${isUnfinished}`,
)
const findSame = both(
  'tasks find same',
  `select ${columns} from ${tasks} where t.ns = $1 and t.project = $2 and t.is_open = 1 and t.created_at > $3 and t.author = $4 and t.asked_as = $5
    and s.deleted_at is null order by t.created_at desc limit 1`,
)
const insert = both(
  'tasks insert',
  `insert into belfry.task (schedule_id, ns, id, project, author, caller, run_id, asked_as, created_at, expires_at, parent_id, depth)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
)
const findIds = both('tasks find ids', ({ texts }) => `select id from belfry.task where ns = $1 and id ${texts('$2')}`)
const retire = both(
  'tasks retire',
  `update belfry.schedule set deleted_at = $2 where id in (select s.id from ${tasks}
    where t.ns = $1 and t.is_open = 1 and s.deleted_at is null and s.is_done = 1 and s.managed_by is null
      and coalesce(s.last_end_at, s.updated_at) <= $3 and not ${hasWork} limit $4) returning id`,
)
const close = both(
  'tasks close',
  `update belfry.task set is_open = 0 where schedule_id in (select t.schedule_id from ${tasks}
    where t.ns = $1 and t.is_open = 1 and s.deleted_at is not null limit $2) returning id`,
)
const removeForgotten = both(
  'tasks remove forgotten',
  `delete from belfry.task where schedule_id in (select t.schedule_id from belfry.task t
    where t.ns = $1 and ${thereIsNo('from belfry.schedule s where s.id = t.schedule_id')} limit $2) returning id`,
)

function taskOf(row: Row): TaskView {
  const { missed_run: missed, live_run: live, last_start: lastStartedAt } = row
  const missedRun = missed == null ? null : formatId('run', missed as number)
  return {
    ...scheduleViewOf(scheduleRowOf(row)),
    isLive: live != null,
    missedRun,
    lastStartedAt: lastStartedAt as number | null,
  }
}

/** A task by its id, or by its name while it has one. */
export function* findTask({ ns }: StoreContext, idOrName: string): Step<TaskView | null> {
  const row = (yield* one(findById, ns, idOrName)) ?? (yield* one(findByName, ns, idOrName))
  return row === undefined ? null : taskOf(row)
}

export interface TaskPage {
  readonly after?: string
  readonly limit: number
  readonly project?: string
  /** Also those that have finished. */
  readonly all?: boolean
}

/** Tasks in the order in which they were made. */
export function* listTasks(
  { ns }: StoreContext,
  { after = '', limit, project = '', all: isAll = false }: TaskPage,
): Step<TaskView[]> {
  return (yield* all(isAll ? listAll : listUnfinished, ns, after, project, limit)).map(taskOf)
}

export function* unfinishedTasks({ ns }: StoreContext, project: string): Step<number> {
  return (yield* one<{ count: number }>(countUnfinished, ns, project))?.count ?? 0
}

export interface AskedTask {
  readonly project: string
  readonly author: string
  /** What was asked for, as a hash of prompt and timing as they were given. */
  readonly askedAs: string
}

/** The task that was asked for in the same words since an instant. */
export function* sameTask(
  { ns }: StoreContext,
  { project, author, askedAs }: AskedTask,
  since: number,
): Step<TaskView | null> {
  const row = yield* one(findSame, ns, project, since, author, askedAs)
  return row === undefined ? null : taskOf(row)
}

export interface NewTaskRow extends AskedTask {
  readonly scheduleId: number
  readonly id: string
  readonly caller: string
  readonly runId: number | null
  readonly createdAt: number
  readonly expiresAt: number | null
  /** The schedule in whose run an agent planned it. */
  readonly parentId: number | null
  readonly depth: number
}

export function* insertTask({ ns }: StoreContext, row: NewTaskRow): Step<void> {
  const { scheduleId, id, project, author, caller, runId, askedAs, createdAt, expiresAt, parentId, depth } = row
  const made = [createdAt, expiresAt, parentId, depth] as const
  yield* one(insert, scheduleId, ns, id, project, author, caller, runId, askedAs, ...made)
}

/** The first of these ids that no task has. */
export function* freeId({ ns }: StoreContext, ids: readonly string[]): Step<string | undefined> {
  const taken = new Set((yield* all<{ id: string }>(findIds, ns, JSON.stringify(ids))).map(({ id }) => id))
  return ids.find((id) => !taken.has(id))
}

/** How long a finished task keeps its name, and can be edited into another. */
const finishedMs = 7 * 86_400_000

/** Deletes tasks that finished long ago, and removes the rows of those that retention has removed. */
export function* sweepTasks({ context: { ns }, now, rowsLeft }: Sweeping): Step<number> {
  const retired = yield* all(retire, ns, now, now - finishedMs, rowsLeft)
  const closed = yield* all(close, ns, rowsLeft)
  const removed = yield* all(removeForgotten, ns, rowsLeft)
  return Math.max(retired.length, closed.length, removed.length)
}
