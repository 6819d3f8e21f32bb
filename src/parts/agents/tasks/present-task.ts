import { absent, namesMax } from '../../../operations/not-found.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { servedSession } from '../inbox/served-session.ts'
import { findTask, listTasks, type TaskView } from './task-rows.ts'

/** A task, and the caller's context on the store that keeps it. */
export interface PresentTask extends TaskView {
  readonly home: OperationContext
}

/** The task with this id or name, of the session that this process serves or of the store. An unknown task is refused. */
export async function presentTask(context: OperationContext, idOrName: string): Promise<PresentTask> {
  const own = servedSession(context)?.opened(context)
  for (const home of [own, context]) {
    const found = home == null ? null : await home.store.look(findTask, idOrName)
    if (home != null && found !== null) return { ...found, home }
  }
  const known = await ownAndKept(context, { limit: namesMax, all: true })
  const names = known.flatMap(({ spec: { name, task } }) => [name, task?.id ?? name])
  throw absent('task', idOrName, names, 'List tasks with `belfry task list --all`.')
}

type Page = Parameters<typeof listTasks>[1]

/** A page of tasks: those of the session first, then those of the store. */
export async function ownAndKept(context: OperationContext, page: Page): Promise<TaskView[]> {
  const { after, limit } = page
  const own = servedSession(context)?.opened(context)
  const { after: _, ...rest } = page
  const all = own == null ? [] : await own.store.look(listTasks, { ...rest, limit: namesMax })
  const place = all.findIndex(({ spec }) => spec.task?.id === after)
  const mine = (after === undefined || place >= 0 ? all.slice(place + 1) : []).slice(0, limit)
  if (mine.length === limit) return mine
  const behind = after === undefined || place >= 0 ? {} : { after }
  return [...mine, ...(await context.store.look(listTasks, { ...rest, ...behind, limit: limit - mine.length }))]
}
