import { z } from 'zod'
import { everyDoor, operation } from '../../src/operations/operation.ts'
import type { Part } from '../../src/part.ts'
import type { StoreContext } from '../../src/store/context.ts'
import { enqueueFrom } from '../../src/store/runs/enqueue.ts'
import { all, both, one, type Step } from '../../src/store/statement.ts'

/** A part of the tests: notes. It uses every seam that a part may use. */

const insertNote = both('sample insert', 'insert into belfry.note (text) values ($1) returning id, text')
const findNotes = both('sample find', 'select id, text from belfry.note order by id')
const removeNotes = both('sample remove', 'delete from belfry.note returning id')

interface Note {
  readonly id: number
  readonly text: string
}

function* writeNote(_: StoreContext, text: string): Step<Note> {
  return (yield* one<{ id: number; text: string }>(insertNote, text)) as Note
}

function* listNotes(_: StoreContext): Step<Note[]> {
  return yield* all<{ id: number; text: string }>(findNotes)
}

export function* makeRun(context: StoreContext): Step<string> {
  return (yield* enqueueFrom(context, 'note', { target: { handler: 'note' } })).id
}

const note = z.strictObject({ id: z.int().describe('Its number.'), text: z.string().describe('What it says.') })
const common = { noun: 'note', takes: [], errors: [], doors: everyDoor, examples: [] } as const

export const noteOperations = {
  write: operation({
    ...common,
    verb: 'write',
    says: 'Writes a note.',
    request: 'a note',
    effect: 'write',
    scope: 'operate',
    input: z.strictObject({ text: z.string().describe('What it says.') }),
    output: note,
    run: ({ store }, { text }) => store.do(writeNote, text),
  }),
  list: operation({
    ...common,
    verb: 'list',
    says: 'Lists notes.',
    request: 'a list of notes',
    effect: 'read',
    scope: 'read',
    input: z.strictObject({}),
    output: z.array(note),
    run: ({ store }) => store.look(listNotes),
  }),
}

export const sample = {
  name: 'sample',
  migrations: [
    {
      version: 16,
      name: 'sample',
      statements: ['create table belfry.note (id integer primary key, text {text} not null)'],
    },
  ],
  sweeps: [
    function* () {
      return (yield* all(removeNotes)).length
    },
  ],
  *namesQueue(_, queue) {
    const notes = yield* all<{ text: string }>(findNotes)
    return { note: queue === 'notes' ? notes.map(({ text }) => text) : [] }
  },
  checks: [
    {
      check: 'notes',
      means: 'Whether notes wait.',
      next: 'Read them.',
      async look({ store }) {
        const notes = await store.look(listNotes)
        return { says: `There are ${notes.length} notes.` }
      },
    },
  ],
  duties: [
    {
      name: 'sample',
      everyMs: 1_000,
      async tick({ store }) {
        await store.do(writeNote, 'by a duty')
      },
    },
  ],
  nouns: { note: { says: 'A note.', plural: 'notes', operations: noteOperations } },
  origins: { note: { sentence: () => 'A note asked for it.', asked: 'by a note' } },
  shows: async () => ({
    'note list': (notes: readonly Note[]) => notes.map(({ id, text }) => `${id} ${text}`).join('\n'),
  }),
  otherWords: { memo: 'note', 'note ls': 'list' },
  routes: async () => (app) => {
    app.get('/sample', ({ text }) => text('a route of the sample'))
  },
  paths: { '/sample': { get: { summary: 'A route of the sample.' } } },
} as const satisfies Part
