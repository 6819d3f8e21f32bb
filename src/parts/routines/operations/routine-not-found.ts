import { absent, namesMax } from '../../../operations/not-found.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { findRoutine, listRoutines } from '../read-routines.ts'
import type { RoutineView } from '../routine-spec.ts'

/** The routine with this name; refuses an unknown one. */
export async function presentRoutine(context: OperationContext, name: string): Promise<RoutineView> {
  return (await context.store.look(findRoutine, name)) ?? (await absentRoutine(context, name))
}

export async function absentRoutine({ store }: OperationContext, name: string): Promise<never> {
  const known = (await store.look(listRoutines, { limit: namesMax })).map((routine) => routine.name)
  throw absent('routine', name, known, 'List routines with `belfry routine list`.')
}
