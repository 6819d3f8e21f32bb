import type { Actor } from '../../../store/audit/actor.ts'
import { canonicalJson } from '../../../store/check.ts'
import { lockManaged } from '../../../store/managed.ts'
import type { Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { makeTask, type NewTask } from '../tasks/put-task.ts'
import { findTask } from '../tasks/task-rows.ts'

export type BroughtTask = NewTask & { readonly spec: { readonly name: string } }

export interface Brought {
  readonly id: string
  readonly answer: 'created' | 'unchanged'
  /** Whether the existing task differs. */
  readonly isOther: boolean
}

/** Creates the tasks whose names do not exist yet, all or none. An existing task stays unchanged. */
export function* bringTasks(
  context: StoreContext,
  tasks: readonly BroughtTask[],
  { actor }: { readonly actor: Actor },
): Step<Brought[]> {
  yield* lockManaged(context)
  const brought: Brought[] = []
  for (const task of tasks) {
    const found = yield* findTask(context, task.spec.name)
    if (found?.spec.task === undefined) {
      brought.push({ id: (yield* makeTask(context, task, { actor })).id, answer: 'created', isOther: false })
      continue
    }
    const said = ({ timing, target }: Pick<NewTask['spec'], 'timing' | 'target'>) => canonicalJson({ timing, target })
    const isOther = said(found.spec) !== said(task.spec)
    brought.push({ id: found.spec.task.id, answer: 'unchanged', isOther })
  }
  return brought
}
bringTasks.rehearses = true as const
