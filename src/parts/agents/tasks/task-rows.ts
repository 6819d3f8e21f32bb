import { formatId } from '../../../core/id.ts'
import type { Sweeping } from '../../../store/prune/sweep.ts'
import { scheduleViewOf } from '../../../store/reads/find-schedule.ts'
import { missedReason } from '../../../store/runs/ready-aside.ts'
import { hasWork } from '../../../store/schedules/free-name.ts'
import { scheduleColumns, scheduleRowOf } from '../../../store/schedules/schedule-row.ts'
import { all, both, one, type Row, type Step, thereIsNo } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import type { ScheduleView } from '../../../store/views.ts'

/** A task: its schedule, and whether it has work under way. */
export interface TaskView extends ScheduleView {
  readonly isLive: boolean
  /** The run that waits for a person's decision. */
  readonly missedRun: string | null
  /** When an attempt of the task last started; not when its run was created. */
  readonly lastStartedAt: number | null
  /** The newest run of the task, and how it ended; `parked` where it waits for a person; null where it has not ended. */
  readonly lastRun: { readonly id: string; readonly end: string | null } | null
}

const missedRun = `(select a.run_id from belfry.aside a join belfry.run d on d.id = a.run_id
  where a.kind = 'parked' and a.reason = '${missedReason}' and a.ns = s.ns and d.schedule_id = s.id limit 1)`
/**
 * The newest runs may still wait, so a few runs are read. Each run is looked up by a subquery: the database may turn a join round, and read
 * every run at work.
 */
const lastStart = `(select max(coalesce((select l.leased_at from belfry.lease l where l.run_id = r.id),
    (select max(a.started_at) from belfry.attempt a where a.run_id = r.id))) from
  (select id from belfry.run where ns = s.ns and schedule_id = s.id order by id desc limit 5) r)`
const lastRun = `(select r.id from belfry.run r where r.ns = s.ns and r.schedule_id = s.id order by r.id desc limit 1)`
/** The end is compared through coalesce, so that PostgreSQL reads only the attempts of this run, and not all ended attempts. */
const lastEnd = `coalesce((select a.ends from belfry.attempt a where a.run_id = ${lastRun} and coalesce(a.ends, '') <> '' limit 1),
    (select p.kind from belfry.aside p where p.run_id = ${lastRun} and p.kind = 'parked'))`
const columns = `${scheduleColumns('s')}, ${missedRun} as missed_run, ${lastStart} as last_start, ${lastRun} as last_run, ${lastEnd} as last_end_of,
  (select w.run_id from belfry.schedule_run w where w.schedule_id = s.id limit 1) as live_run`
const tasks = 'belfry.task t join belfry.schedule s on s.id = t.schedule_id'
/** A task that was deleted before it finished is left out: nothing is planned for it, but `is_done` is not set. */
const isKept = '(s.deleted_at is null or s.is_done = 1)'
/** Tasks that finished long ago are closed, so that the query finds the others among few rows. */
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
const countOfAgent = both(
  'tasks count of agent',
  `select count(*) as count from ${tasks} where t.ns = $1 and t.project = $2 and t.author = $3 and t.caller = 'agent' and t.run_id is null
    and ${isUnfinished}`,
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
  const { missed_run: missed, live_run: live, last_start: lastStartedAt, last_run: last, last_end_of: end } = row
  const missedRun = missed == null ? null : formatId('run', missed as number)
  return {
    ...scheduleViewOf(scheduleRowOf(row)),
    isLive: live != null,
    missedRun,
    lastStartedAt: lastStartedAt as number | null,
    lastRun: last == null ? null : { id: formatId('run', Number(last)), end: end as string | null },
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
  /** Whether finished tasks are listed too. */
  readonly all?: boolean
}

/** Tasks in the order of their creation. */
export function* listTasks(
  { ns }: StoreContext,
  { after = '', limit, project = '', all: isAll = false }: TaskPage,
): Step<TaskView[]> {
  return (yield* all(isAll ? listAll : listUnfinished, ns, after, project, limit)).map(taskOf)
}

export function* unfinishedTasks({ ns }: StoreContext, project: string): Step<number> {
  return (yield* one<{ count: number }>(countUnfinished, ns, project))?.count ?? 0
}

/** How many unfinished tasks an agent has planned in a project outside of runs. */
export function* unfinishedOfAgent({ ns }: StoreContext, project: string, author: string): Step<number> {
  return (yield* one<{ count: number }>(countOfAgent, ns, project, author))?.count ?? 0
}

export interface AskedTask {
  readonly project: string
  readonly author: string
  /** A hash of the request: prompt and timing as the caller gave them. */
  readonly askedAs: string
}

/** The task that was requested in the same words since an instant. */
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
  /** The schedule in whose run an agent planned the task. */
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

/** How long a finished task keeps its name, and can be edited to run again. */
const finishedMs = 7 * 86_400_000

/** Deletes tasks that finished long ago, and removes task rows whose schedule was removed by retention. */
export function* sweepTasks({ context: { ns }, now, rowsLeft }: Sweeping): Step<number> {
  const retired = yield* all(retire, ns, now, now - finishedMs, rowsLeft)
  const closed = yield* all(close, ns, rowsLeft)
  const removed = yield* all(removeForgotten, ns, rowsLeft)
  return Math.max(retired.length, closed.length, removed.length)
}
