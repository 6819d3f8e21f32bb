import { BelfryError } from '../core/error.ts'
import { listQueues } from '../store/reads/find-queue.ts'
import { findRun } from '../store/reads/find-run.ts'
import { findSchedule, listSchedules } from '../store/reads/find-schedule.ts'
import type { RunView, ScheduleView } from '../store/views.ts'
import { nearest } from './input/nearest-name.ts'
import { quoted } from './input/refuse-input.ts'
import type { OperationContext } from './operation-context.ts'

/** How many existing names are compared with an unknown name. */
export const namesMax = 1_000

/** The schedule with this name, or the deleted one with this id; refuses an unknown one. */
export async function presentSchedule(context: OperationContext, name: string): Promise<ScheduleView> {
  return (await context.store.look(findSchedule, name)) ?? (await throwAbsentSchedule(context, name))
}

export async function throwAbsentSchedule({ store }: OperationContext, name: string): Promise<never> {
  const known = (await store.look(listSchedules, { limit: namesMax })).map(({ spec }) => spec.name)
  const otherwise =
    known.length === 0
      ? 'This store has no schedules; check that it is the right store.'
      : 'List schedules with `belfry schedule list`.'
  throw absent('schedule', name, known, otherwise)
}

export async function throwAbsentQueue({ store }: OperationContext, name: string): Promise<never> {
  const known = (await store.look(listQueues)).map((queue) => queue.name)
  throw absent('queue', name, known, 'A queue exists once a run or a policy names it.')
}

/** The run with this id; refuses an unknown or removed one. */
export async function presentRun({ store }: OperationContext, id: string): Promise<RunView> {
  const found = await store.look(findRun, id)
  if (found === null) throw absentRun(id)
  return found
}

export function absentRun(id: string): BelfryError {
  return new BelfryError('not-found', `There is no run ${quoted(id)}.`, {
    hint: 'It never existed here, or retention removed it: the history of its schedule is kept longer.',
    details: { id },
  })
}

/** The refusal of an unknown name, with the nearest known one. */
export function absent(noun: string, name: string, known: readonly string[], otherwise: string): BelfryError {
  const meant = nearest(name, known)
  return new BelfryError('not-found', `There is no ${noun} ${quoted(name)}.`, {
    hint: meant === undefined ? otherwise : `Did you mean ${quoted(meant)}?`,
    details: { [noun]: name, ...(meant !== undefined && { nearest: meant }) },
  })
}
