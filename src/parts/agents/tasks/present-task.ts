import { absent, namesMax } from '../../../operations/not-found.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { findTask, listTasks, type TaskView } from './task-rows.ts'

/** The task with this id or name; refuses an unknown one. */
export async function presentTask({ store }: OperationContext, idOrName: string): Promise<TaskView> {
  const found = await store.look(findTask, idOrName)
  if (found !== null) return found
  const known = await store.look(listTasks, { limit: namesMax, all: true })
  const names = known.flatMap(({ spec: { name, task } }) => [name, task?.id ?? name])
  throw absent('task', idOrName, names, 'List tasks with `belfry task list --all`.')
}
