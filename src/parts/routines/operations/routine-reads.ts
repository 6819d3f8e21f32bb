import { z } from 'zod'
import { limitWords, pageByName } from '../../../operations/fields/basic-fields.ts'
import { onlyGiven } from '../../../operations/fields/only-given.ts'
import { behindLast } from '../../../operations/next-page.ts'
import { everyDoor, operation } from '../../../operations/operation.ts'
import { noted } from '../../../operations/schema/schema-note.ts'
import { cursorBehind, routineEventCursorIn } from '../event-cursor.ts'
import { listRoutineEvents, listRoutines } from '../read-routines.ts'
import { eventsShown, routineShown, routinesShown } from '../show.ts'
import { eventOf, type Routine, type RoutineEvent, routineOf } from './routine-answer.ts'
import { routineName } from './routine-input.ts'
import { absentRoutine, presentRoutine } from './routine-not-found.ts'
import { eventSchema, routineSchema } from './routine-schema.ts'

const looking = {
  noun: 'routine',
  effect: 'read',
  scope: 'read',
  takes: ['name'],
  errors: ['invalid', 'not-found'],
  doors: everyDoor,
} as const

export const get = operation({
  ...looking,
  verb: 'get',
  method: 'GET',
  command: ['routine', 'show'],
  says: 'Show a routine.',
  request: 'a request for a routine',
  input: z.strictObject({ name: routineName }),
  output: routineSchema,
  show: routineShown,
  examples: [{ name: 'deploy' }],
  run: async (context, { name }) => routineOf(await presentRoutine(context, name)),
})

export const list = operation({
  ...looking,
  verb: 'list',
  method: 'GET',
  says: 'List routines by name, a page at a time.',
  request: 'a list of routines',
  input: z.strictObject(pageByName),
  takes: [],
  output: z.array(routineSchema),
  errors: ['invalid'],
  show: routinesShown,
  examples: [{}, { after: 'a', limit: 20 }],
  nextPage: behindLast<Routine>(({ name }) => ({ after: name })),
  run: async ({ store }, page) => (await store.look(listRoutines, onlyGiven(page))).map(routineOf),
})

const eventsMax = 100
const eventsDefault = 20

const eventPlace = noted(
  z.string().refine((text) => routineEventCursorIn(text) !== null),
  {
    expected:
      'the instant and the id of the last event of the previous page, such as 1767603600000/e-15; if an earlier version gave a bare id, begin again at the first page',
  },
)

export const events = operation({
  ...looking,
  verb: 'events',
  says: 'List the events of a routine and their outcomes, newest first, a page at a time.',
  request: 'a request for events',
  input: z.strictObject({
    name: routineName,
    before: eventPlace.describe('The instant (epoch ms) and the id of the last event of the previous page.').optional(),
    limit: z.int().min(1).max(eventsMax).describe(limitWords(eventsDefault)).optional(),
  }),
  output: z.array(eventSchema),
  show: eventsShown,
  examples: [
    { name: 'deploy' },
    { name: 'deploy', limit: 5 },
    { name: 'deploy', before: '1796115600000/e-15', limit: 5 },
  ],
  nextPage: behindLast<RoutineEvent>((last) => ({ before: cursorBehind(last) }), eventsDefault),
  async run(context, { name, ...page }) {
    const found = await context.store.look(listRoutineEvents, name, onlyGiven(page))
    return found === null ? absentRoutine(context, name) : found.map(eventOf)
  },
})
