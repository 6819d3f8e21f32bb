import { BelfryError } from '../core/error.ts'
import { listQueues } from '../store/reads/find-queue.ts'
import { findRun } from '../store/reads/find-run.ts'
import { findSchedule, listSchedules } from '../store/reads/find-schedule.ts'
import type { RunView, ScheduleView } from '../store/views.ts'
import { nearest } from './input/nearest-name.ts'
import { quoted } from './input/refuse-input.ts'
import type { OperationContext } from './operation-context.ts'

/** As many names as are looked through for the one that was meant. */
export const namesMax = 1_000

/** The schedule that has this name now, or of a deleted one the id; a name that nobody has is refused. */
export async function presentSchedule(context: OperationContext, name: string): Promise<ScheduleView> {
  return (await context.store.look(findSchedule, name)) ?? (await throwAbsentSchedule(context, name))
}

export async function throwAbsentSchedule({ store }: OperationContext, name: string): Promise<never> {
  const known = (await store.look(listSchedules, { limit: namesMax })).map(({ spec }) => spec.name)
  const otherwise =
    known.length === 0
      ? 'This store has no schedules at all; look whether it is the one you mean.'
      : 'List those that exist with `belfry schedule list`.'
  throw absent('schedule', name, known, otherwise)
}

export async function throwAbsentQueue({ store }: OperationContext, name: string): Promise<never> {
  const known = (await store.look(listQueues)).map((queue) => queue.name)
  throw absent('queue', name, known, 'A queue exists from the first run or setting that names it.')
}

/** The run that has this id; one that is not, or not any more, is refused. */
export async function presentRun({ store }: OperationContext, id: string): Promise<RunView> {
  const found = await store.look(findRun, id)
  if (found === null) throw absentRun(id)
  return found
}

export function absentRun(id: string): BelfryError {
  return new BelfryError('not-found', `There is no run ${quoted(id)}.`, {
    hint: 'It never existed here, or retention has removed it: the history of its schedule outlives it.',
    details: { id },
  })
}

/** Nothing has this name: told with the nearest that something has. */
export function absent(noun: string, name: string, known: readonly string[], otherwise: string): BelfryError {
  const meant = nearest(name, known)
  return new BelfryError('not-found', `There is no ${noun} ${quoted(name)}.`, {
    hint: meant === undefined ? otherwise : `Did you mean ${quoted(meant)}?`,
    details: { [noun]: name, ...(meant !== undefined && { nearest: meant }) },
  })
}
