import { z } from 'zod'
import { BelfryError } from '../../../core/error.ts'
import { reason } from '../../../operations/fields/basic-fields.ts'
import { onlyGiven } from '../../../operations/fields/only-given.ts'
import { inWordsOf, quoted, refuse } from '../../../operations/input/refuse-input.ts'
import { throwAbsentSchedule } from '../../../operations/not-found.ts'
import { everyDoor, operation } from '../../../operations/operation.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { plainText } from '../../../operations/schedule/plain-text.ts'
import { freedName } from '../../../operations/schema/output-schema.ts'
import { deleted } from '../../../operations/show.ts'
import { findSchedule } from '../../../store/reads/find-schedule.ts'
import type { RoutineSwitch } from '../routine-spec.ts'
import { showRoutineMade, showRoutineSwitched } from '../show.ts'
import { createRoutine, deleteRoutine, switchRoutine } from '../write-routine.ts'
import { type Routine, routineOf } from './routine-answer.ts'
import { readRoutine, routineInput, routineName } from './routine-input.ts'
import { absentRoutine, presentRoutine } from './routine-not-found.ts'
import { routineMade, routineSchema } from './routine-schema.ts'

const changing = { noun: 'routine', takes: ['name'], errors: ['invalid', 'not-found'], doors: everyDoor } as const

export const create = operation({
  ...changing,
  verb: 'create',
  fieldsAs: 'schedule.put',
  method: 'POST',
  says: 'Create a routine; the same routine again changes nothing, and a name in use with another spec is refused.',
  request: 'a routine',
  effect: 'write',
  scope: 'admin',
  rehearses: true,
  input: routineInput,
  output: routineMade,
  errors: ['invalid', 'not-found', 'conflict'],
  show: showRoutineMade,
  examples: [
    {
      name: 'release',
      type: ['push'],
      match: { ref: 'refs/heads/main', 'repository.full_name': { in: ['ada/engine', 'ada/notes'] } },
      schedule: 'report',
      signing: { style: 'github', secret: { secret: 'GITHUB_HOOK' } },
    },
    {
      name: 'paid',
      match: { type: { matches: '^invoice\\.' }, 'data.test': { exists: false } },
      run: { queue: 'mail', target: { handler: 'thank' }, payload: { tone: 'warm' }, timeout: '1m' },
      signing: { style: 'standard', secret: { secret: 'BILLING_HOOK' } },
    },
  ],
  async judge(context, reading) {
    const { spec, problems } = readRoutine(reading, context)
    refuse('The routine', problems)
    const { store, actor } = context
    const { name, enabled } = reading.value as { name: string; enabled?: boolean }
    if (spec.schedule !== undefined) await refuseAbsentSchedule(context, spec.schedule)
    const disabledReason = enabled === false ? `created so by ${actor.name}` : undefined
    const written = await inWordsOf(
      'The routine',
      (problem) => problem,
      () => store.do(createRoutine, { name, spec, ...onlyGiven({ disabledReason }) }, { actor }),
    )
    if (written.answer === 'exists') throw taken(name)
    return { created: written.answer === 'created', ...routineOf(written.routine) }
  },
})

/** An unknown schedule is most often misspelt. A schedule that is deleted later shows in the events. */
async function refuseAbsentSchedule(context: OperationContext, name: string): Promise<void> {
  const found = await context.store.look(findSchedule, name)
  if (found === null || found.deletedAt !== null) await throwAbsentSchedule(context, name)
}

function taken(name: string): BelfryError {
  return new BelfryError('conflict', `A routine ${quoted(name)} exists already with another spec.`, {
    hint: 'Choose another name, or delete it first.',
    details: { routine: name },
  })
}

export const remove = operation({
  ...changing,
  verb: 'delete',
  method: 'DELETE',
  idempotent: true,
  asksFirst: true,
  says: 'Delete a routine and free its name; its runs go on.',
  request: 'a deletion of a routine',
  effect: 'destructive',
  scope: 'admin',
  rehearses: true,
  input: z.strictObject({ name: routineName }),
  output: freedName,
  show: ({ name: gone }, sheet) => deleted(`routine ${plainText(gone)}`, sheet),
  examples: [{ name: 'deploy' }],
  async run(context, { name }) {
    const { store, actor } = context
    const answer = await store.do(deleteRoutine, name, { actor })
    return answer === 'deleted' ? { name, deleted: true as const } : absentRoutine(context, name)
  },
})

export const enable = operation({
  ...changing,
  verb: 'enable',
  idempotent: true,
  says: 'Enable a routine; events that came meanwhile have no effect.',
  request: 'an enabling of a routine',
  effect: 'write',
  scope: 'operate',
  input: z.strictObject({ name: routineName }),
  output: routineSchema,
  show: showRoutineSwitched,
  examples: [{ name: 'deploy' }],
  run: (context, { name }) => switched(context, name, null),
})

export const disable = operation({
  ...changing,
  verb: 'disable',
  idempotent: true,
  says: 'Disable a routine: record its events, but create no runs until it is enabled.',
  request: 'a disabling of a routine',
  effect: 'write',
  scope: 'operate',
  input: z.strictObject({ name: routineName, reason: reason.optional() }),
  output: routineSchema,
  show: showRoutineSwitched,
  examples: [{ name: 'deploy' }, { name: 'deploy', reason: 'We move to a new data centre.' }],
  run: (context, { name, reason: why }) => switched(context, name, why ?? `asked for by ${context.actor.name}`),
})

async function switched(
  context: OperationContext,
  name: string,
  disabledReason: RoutineSwitch['disabledReason'],
): Promise<Routine> {
  const { store, actor } = context
  const answer = await store.do(switchRoutine, name, { disabledReason, actor })
  return answer === 'not-found' ? absentRoutine(context, name) : routineOf(await presentRoutine(context, name))
}
