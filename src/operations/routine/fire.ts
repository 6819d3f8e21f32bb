import { z } from 'zod'
import type { NewEvent } from '../../store/routine-steps.ts'
import { throwAbsentRoutine } from '../absent.ts'
import type { OperationContext } from '../context.ts'
import { key, payload } from '../fields.ts'
import { onlyGiven } from '../only-given.ts'
import { everyDoor, operation } from '../operation.ts'
import { inWordsOf } from '../problem.ts'
import { eventType, routineName } from './input.ts'
import { eventTaken } from './output.ts'
import { type EventTaken, takenOf } from './view.ts'

export const fire = operation({
  noun: 'routine',
  verb: 'fire',
  says: 'Takes an event in for a routine, as if it had been sent; what it says is handed on as data.',
  request: 'an event',
  effect: 'write',
  scope: 'operate',
  rehearses: true,
  input: z.strictObject({
    name: routineName,
    payload: payload.describe('What the event says: any JSON of at most 256 KB. Default: null.').optional(),
    type: eventType.optional(),
    deliveryId: key
      .describe('The same id makes one run at most, however often it comes. Default: one of its own.')
      .optional(),
  }),
  takes: ['name'],
  output: eventTaken,
  errors: ['invalid', 'not-found'],
  doors: everyDoor,
  examples: [
    { name: 'deploy', type: 'push', payload: { ref: 'refs/heads/main' }, deliveryId: 'by hand 1' },
    { name: 'deploy', payload: { ref: 'refs/heads/other' } },
  ],
  run: (context, { payload: said = null, ...event }) =>
    takeEvent(context, { ...onlyGiven(event), name: event.name, payload: said }),
})

interface Sent extends Omit<NewEvent, 'actor'> {
  readonly name: string
}

/** Hands an event to its routine, in the name of whoever asks. */
export async function takeEvent(context: OperationContext, { name, ...event }: Sent): Promise<EventTaken> {
  const { store, actor } = context
  const answer = await inWordsOf(
    'The event',
    (problem) => problem,
    () => store.fireRoutine(name, { ...event, actor }),
  )
  return answer.answer === 'not-found' ? throwAbsentRoutine(context, name) : takenOf(answer)
}
