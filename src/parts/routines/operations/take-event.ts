import { z } from 'zod'
import { BelfryError } from '../../../core/error.ts'
import { limitedCaller, refuseOtherPayload } from '../../../operations/caller-scope.ts'
import { key, payload } from '../../../operations/fields/basic-fields.ts'
import { onlyGiven } from '../../../operations/fields/only-given.ts'
import { inWordsOf, quoted } from '../../../operations/input/refuse-input.ts'
import { everyDoor, operation } from '../../../operations/operation.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { findSchedule } from '../../../store/reads/find-schedule.ts'
import { fireRoutine } from '../fire-routine.ts'
import { findRoutine } from '../read-routines.ts'
import type { NewEvent } from '../routine-spec.ts'
import { showEventTaken } from '../show.ts'
import { type EventTaken, hookOf, takenOf } from './routine-answer.ts'
import { eventType, routineName } from './routine-input.ts'
import { absentRoutine } from './routine-not-found.ts'
import { eventTaken } from './routine-schema.ts'

export const fire = operation({
  noun: 'routine',
  verb: 'fire',
  says: 'Fire a routine with an event, as if it had been delivered; its payload is passed on as data.',
  request: 'an event',
  effect: 'write',
  scope: 'operate',
  rehearses: true,
  input: z.strictObject({
    name: routineName,
    payload: payload.describe('The payload of the event: any JSON of at most 256 KB. Default: null.').optional(),
    type: eventType.optional(),
    deliveryId: key
      .describe('The id of the delivery: the same id creates at most one run. Default: a new id.')
      .optional(),
  }),
  takes: ['name'],
  output: eventTaken,
  errors: ['invalid', 'not-found', 'quota'],
  doors: everyDoor,
  show: showEventTaken,
  examples: [
    { name: 'deploy', type: 'push', payload: { ref: 'refs/heads/main' }, deliveryId: 'by hand 1' },
    { name: 'deploy', payload: { ref: 'refs/heads/other' } },
  ],
  async run(context, { payload: said = null, ...event }) {
    if (said !== null) await refuseUnsigned(context, event.name)
    return takeEvent(context, { ...onlyGiven(event), name: event.name, payload: said })
  },
})

/**
 * Refuses a payload from a caller below admin where an admin relied on signed events. A model below admin may also not pass a payload to a
 * program or to a request with a secret, because a model may act on untrusted text.
 */
async function refuseUnsigned(context: OperationContext, name: string): Promise<void> {
  const { scope, actor, store } = context
  if (scope === undefined || scope === 'admin') return
  const spec = (await store.look(findRoutine, name))?.spec
  if (spec?.signing !== undefined) throw unsigned(context, name)
  if (actor.door !== 'mcp' || spec === undefined) return
  const schedule = spec.schedule === undefined ? null : await store.look(findSchedule, spec.schedule)
  refuseOtherPayload(context, spec.run?.target ?? schedule?.spec.target)
}

function unsigned(context: OperationContext, name: string): BelfryError {
  const { scope } = context
  const message = `The events of routine ${quoted(name)} are signed, so only an admin may fire it with a payload; ${limitedCaller(context)} has the scope ${scope}.`
  return new BelfryError('not-allowed', message, {
    hint: `Fire it without a payload, or send a signed event to ${hookOf(name)}.`,
    details: { has: scope, needs: 'admin' },
  })
}

interface Sent extends Omit<NewEvent, 'actor'> {
  readonly name: string
}

/** Fires a routine with an event, in the name of the caller. */
export async function takeEvent(context: OperationContext, { name, ...event }: Sent): Promise<EventTaken> {
  const { store, actor } = context
  const answer = await inWordsOf(
    'The event',
    (problem) => problem,
    () => store.do(fireRoutine, name, { ...event, actor }),
  )
  return answer.answer === 'not-found' ? absentRoutine(context, name) : takenOf(answer)
}
