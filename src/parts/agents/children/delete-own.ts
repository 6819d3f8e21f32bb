import { BelfryError } from '../../../core/error.ts'
import { parseId } from '../../../core/id.ts'
import type { Actor } from '../../../store/audit/actor.ts'
import { runIdOf } from '../../../store/leases/settle.ts'
import { both, one, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { deleteTask } from '../tasks/delete-task.ts'
import { lockedParent } from './child-rows.ts'

const find = both(
  'children find own',
  'select caller, parent_id, run_id from belfry.task where schedule_id = $1 and ns = $2',
)

/** Deletes a task for an agent: a task that an agent planned; for an agent in a run, only a child of the run's schedule. */
export function* deleteOwn(
  context: StoreContext,
  { name, schedule }: { readonly name: string; readonly schedule: string },
  { actor }: { readonly actor: Actor },
): Step<void> {
  const { within } = actor
  const parent = within === undefined ? null : yield* lockedParent(context, within)
  const row = yield* one<{ caller: string; parent_id: number | null; run_id: number | null }>(
    find,
    parseId('schedule', schedule),
    context.ns,
  )
  const isOfRun = within !== undefined && row?.run_id === runIdOf({ runId: within.run })
  const isChild = parent === null ? isOfRun && row?.parent_id === null : row?.parent_id === parent.id
  if (row?.caller !== 'agent' || (within !== undefined && !isChild)) throw notOwn(name, within !== undefined)
  yield* deleteTask(context, { name, schedule }, { cancelLeased: false, actor })
}
deleteOwn.rehearses = true as const

function notOwn(name: string, isInRun: boolean): BelfryError {
  const says = isInRun ? 'was not planned by a run of this schedule' : 'was made by a person'
  return new BelfryError('not-allowed', `Task ${name} ${says}.`, {
    hint: 'Ask a person to delete it.',
    details: { caller: 'agent', reason: 'not-own' },
  })
}
