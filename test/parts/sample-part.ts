import { z } from 'zod'
import type { HoldReason } from '../../src/core/hold-reason.ts'
import type { ScheduleSpec } from '../../src/core/schedule/schedule-spec.ts'
import type { Target } from '../../src/core/target.ts'
import type { AddedFieldContext, BesideField } from '../../src/operations/fields/added-fields.ts'
import { everyDoor, operation } from '../../src/operations/operation.ts'
import type { OperationContext } from '../../src/operations/operation-context.ts'
import type { Part } from '../../src/part.ts'
import { putHold } from '../../src/store/holds/put-hold.ts'
import type { Ends } from '../../src/store/runs/end-hooks.ts'
import { enqueueFrom } from '../../src/store/runs/enqueue.ts'
import { all, both, one, type Step } from '../../src/store/statement.ts'
import type { StoreContext } from '../../src/store/store-context.ts'
import { bellKind, hushKind } from './sample-kinds.ts'
import { memos } from './sample-section.ts'

/** A part of the tests: notes. It uses every seam that a part may use. */

declare module '../../src/core/added.ts' {
  interface AddedToSchedule {
    readonly mood: AddedType<string>
    readonly colour: AddedType<'red' | 'blue'>
  }
  interface AddedToQueue {
    readonly room: AddedType<number>
  }
  interface AddedToRun {
    readonly colour: AddedType<'red' | 'blue'>
  }
}

declare module '../../src/engine/events.ts' {
  interface EngineEvents {
    'note.found': { readonly notes: number }
  }
}

const colour = { input: z.enum(['red', 'blue']).describe('The colour of its notes. Default: none.') }
const mood = {
  input: z.string().min(1).max(20).describe('How it feels. Default: well.'),
  read: (given: unknown, { field, problems }: AddedFieldContext) => {
    if (given === 'angry') problems.push({ field, problem: 'is "angry"', expected: 'a better one' })
    return String(given).trim()
  },
  unfit: (stored: string, { target }: BesideField) =>
    stored === 'lonely' && target == null ? { problem: 'is lonely', expected: 'a target for company' } : null,
  inWords: (stored: string) => `of the mood ${stored}`,
}
const room = { input: z.int().min(1).max(9).describe('How many notes may lie there.') }

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

const findSpecs = both('sample specs', 'select spec from belfry.schedule order by id')

/** What the part reads of its own fields. */
export function* moods(_: StoreContext): Step<(string | undefined)[]> {
  const rows = yield* all<{ spec: string }>(findSpecs)
  return rows.map(({ spec }) => (JSON.parse(spec) as ScheduleSpec).mood)
}

/** Why the part keeps work from starting, and what it writes then. */
const noteSaysNo: HoldReason = {
  code: 'note-says-no',
  firing: 'waits',
  says: 'A note says no: runs are made, and wait.',
  unblocks: 'Reading the note.',
  sentence: ({ subject }) => `A note on the door of ${subject} says no.`,
  lift: () => ({ what: 'Read the note.', words: ['note', 'list'] }),
}

export function* holdByNote(context: StoreContext, queue: string): Step<void> {
  const actor = { name: 'a note', door: 'sample' }
  yield* putHold(context, { scope: 'queue', subject: queue, reason: noteSaysNo, actor })
}

/** What other parts raised. */
export const heard: string[] = []

/** The notes that workers found when they started. */
export const found: Note[] = []

export function* makeRun(context: StoreContext, target: Target = { handler: 'note' }, payload?: unknown): Step<string> {
  return (yield* enqueueFrom(context, 'note', { target, ...(payload !== undefined && { payload }) })).id
}

const insertEnd = both('sample insert end', 'insert into belfry.note_end (run_id, fence, hook) values ($1, $2, $3)')
const findEnds = both('sample find ends', 'select run_id, fence, hook from belfry.note_end order by run_id, hook desc')

function* noteEnds(hook: string, { ends }: Ends<unknown>): Step<void> {
  for (const { runId, fence } of ends) yield* one(insertEnd, runId, fence, hook)
}

export function* listEnds(_: StoreContext): Step<unknown[]> {
  return yield* all(findEnds)
}

const note = z.strictObject({ id: z.int().describe('Its number.'), text: z.string().describe('What it says.') })
const common = { noun: 'note', takes: [], errors: [], doors: everyDoor, examples: [] } as const

const listOfNotes = {
  ...common,
  verb: 'list',
  says: 'Lists notes.',
  request: 'a list of notes',
  effect: 'read',
  scope: 'read',
  input: z.strictObject({}),
  output: z.array(note),
  run: ({ store }: OperationContext) => store.look(listNotes),
} as const

export const noteOperations = {
  write: operation({
    ...common,
    verb: 'write',
    says: 'Writes a note.',
    tool: { name: 'jot', sets: ['pencil'] },
    inRun: true,
    request: 'a note',
    effect: 'write',
    scope: 'operate',
    input: z.strictObject({ text: z.string().describe('What it says.') }),
    output: note,
    run: ({ store }, { text }) => store.do(writeNote, text),
  }),
  list: operation({
    ...listOfNotes,
    method: 'GET',
    show: {
      columns: [
        ['NUMBER', 'id', 'count'],
        ['SAYS', 'text', 'text'],
      ],
    },
  }),
}

export const sample = {
  name: 'sample',
  migrations: [
    {
      version: 1_000,
      name: 'sample',
      statements: [
        'create table belfry.note (id integer primary key, text {text} not null)',
        'create table belfry.memo (name {text} not null primary key, text {text} not null, source {text} not null)',
        'create table belfry.note_end (run_id bigint not null, fence int not null, hook {text} not null)',
      ],
    },
  ],
  *ending(_, ends) {
    yield* noteEnds('ending', ends)
    return []
  },
  *ended(_, ends) {
    yield* noteEnds('ended', ends)
  },
  config: [memos],
  events: { 'note.found': { level: 'info', say: ({ notes }) => `There are ${notes} notes.` } },
  methods: {
    /** Looks for notes. */
    async findNotes({ context, events }, least: number) {
      const notes = (await context.store.look(listNotes)).length
      if (notes >= least) events.tell('note.found', { notes })
      return { close: () => undefined }
    },
  },
  commands: [
    {
      name: 'jot',
      says: 'Writes a note of its file.',
      usage: '[FILE] [flags]',
      file: 'The file.',
      options: [{ flags: '--loud', says: 'Writes it in capitals.' }],
      load:
        async () =>
        async ({ file, loud }, { world }) => {
          world.stdout.write(loud === true ? String(file).toUpperCase() : String(file))
          return 0
        },
    },
  ],
  up: {
    options: [{ flags: '--notes <n>', says: 'How many notes to look for.' }],
    load:
      async () =>
      async ({ notes }) => ({
        said: { listenFromConfig: 'none' },
        begin: async (worker) => void (await worker.method('findNotes', Number(notes ?? 0))),
      }),
  },
  kinds: [bellKind, hushKind],
  messages: {
    note: (payload) => ({
      json: { note: payload },
      written: (format) => ({ body: `${format} ${payload}`, headers: {} }),
    }),
  },
  fields: { schedule: { mood, colour }, queue: { room }, run: { colour } },
  *written(_, stored) {
    if ('room' in stored) yield* one(insertEnd, 0, Number(stored.room), 'written')
  },
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
      says: 'Whether notes wait.',
      unblocks: 'Read them.',
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
  async begins({ payload }) {
    return payload === 'not today' ? { skip: 'a note says no' } : { go: true }
  },
  concludesFor: ({ payload }) => payload === 'and then?',
  async concludes({ runId }) {
    return `after ${runId}`
  },
  *hears(_, raised) {
    yield* all(findNotes)
    heard.push(...raised.map(({ reason }) => reason))
  },
  async recovers({ store }) {
    found.push(...(await store.look(listNotes)))
  },
  holdReasons: { 'note-says-no': noteSaysNo },
  nouns: {
    note: {
      says: 'A note.',
      plural: 'notes',
      operations: noteOperations,
      otherWords: { memo: 'note', 'note ls': 'list' },
    },
    queue: { operations: { noteAll: operation({ ...listOfNotes, noun: 'queue', verb: 'noteAll' }) } },
  },
  origins: { note: { sentence: () => 'A note asked for it.', asked: 'by a note' } },
  async knowsToken(_, token) {
    if (!token.startsWith('belfry_note_')) return null
    const within = { run: 'r-1', attempt: 1, project: '/srv/app', profile: 'claude', depth: 0 }
    return token.endsWith('0') ? { name: 'a note', scope: 'operate', kind: 'agent', within } : 'The note is torn.'
  },
  routes: async () => (app) => {
    app.get('/sample', ({ text }) => text('a route of the sample'))
  },
  paths: { '/sample': { get: { summary: 'A route of the sample.' } } },
} as const satisfies Part
