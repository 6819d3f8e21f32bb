import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import type { AnyOperation, Noun } from '../../src/operations/operation.ts'
import { operations } from '../../src/table.ts'
import { lendSchema, returnSchema } from '../lent-schema.ts'
import { Desk } from '../operations/desk.ts'
import { about, type Known, stages, type VerbName } from '../operations/stages.ts'
import { postgresUrl } from '../postgres.ts'
import { type Door, doors, type Said, tokenFor } from './all-doors.ts'

const databases = ['SQLite', 'PostgreSQL'] as const

interface Lent {
  readonly desk: Desk
  leave(): Promise<void>
}

async function openDesk(database: (typeof databases)[number]): Promise<Lent> {
  const schema = database === 'SQLite' ? null : lendSchema()
  const desk = await Desk.open(schema === null ? {} : { url: postgresUrl(), schema })
  desk.token = await tokenFor(desk)
  const leave = async () => {
    await desk.store.close()
    if (schema !== null) await returnSchema(schema)
  }
  return { desk, leave }
}

/** A desk of its own on that database, on which the stage of a verb is set. */
async function deskFor(database: (typeof databases)[number]): Promise<Desk> {
  const { desk, leave } = await openDesk(database)
  onTestFinished(leave)
  return desk
}

/** What an agent steers is bounded, and a person's word supersedes a look: the answer depends on who asks, and a caller over MCP is an agent. */
const steering: ReadonlySet<string> = new Set(['update', 'revert', 'pause', 'clearHints'])

/** The doors that the table lists for a verb, and the library as an agent calls it where that makes a difference. */
function listed({ doors: own, noun, verb }: AnyOperation): (keyof typeof ways)[] {
  const isSteering = noun === 'schedule' && steering.has(verb)
  return (Object.keys(ways) as (keyof typeof ways)[]).filter((way) =>
    way === 'agent' ? isSteering : own[way] === true,
  )
}

const agent: Door = ({ context, ...desk }, ...asked) =>
  doors.library({ ...desk, context: { ...context, actor: { ...context.actor, kind: 'agent' } } } as Desk, ...asked)
const ways = { ...doors, agent }

interface Asked {
  readonly operation: AnyOperation
  readonly example: Record<string, unknown>
  readonly isStaged: boolean
}

/** What every listed door says on every database: those that change something each on a desk of its own. */
async function saidBy({ operation, example, isStaged }: Asked): Promise<Map<string, Said>> {
  const said = new Map<string, Said>()
  const name = `${operation.noun} ${operation.verb}` as VerbName
  for (const database of databases) {
    let staged: { readonly desk: Desk; readonly known: Known } | null = null
    for (const door of listed(operation)) {
      if (staged === null || operation.effect !== 'read') {
        const isFresh = isStaged || begins.has(operation.verb)
        const desk: Desk = isFresh ? await deskFor(database) : await emptyDesk(door, database)
        staged = { desk, known: isStaged ? await stages[name](desk) : {} }
      }
      const input = isStaged ? about(staged.known, example) : example
      said.set(`${door} on ${database}`, told(operation, await ways[door](staged.desk, operation, input)))
    }
  }
  return said
}

/** Without what is of the moment: a doctor counts bytes, a tick takes its time, and that a token was used is noted a little later. */
function told({ noun, verb }: AnyOperation, said: Said): Said {
  if (!('answer' in said)) return said
  if (noun === 'token' && verb === 'list') {
    return { answer: (said.answer as Record<string, unknown>[]).map((token) => ({ ...token, usedAt: null })) }
  }
  if (noun === 'corpus' && verb === 'tick') return untimed(said)
  if (noun !== 'store' || verb !== 'doctor') return said
  const { ok, checks } = said.answer as { ok: boolean; checks: { check: string; state: string; findings: unknown }[] }
  return { answer: { ok, checks: checks.map(({ check, state, findings }) => ({ check, state, findings })) } }
}

/** Without what each stage of a tick took. */
function untimed(said: Said): Said {
  return JSON.parse(JSON.stringify(said, (key, value) => (key === 'ms' ? null : value)))
}

/** Verbs that may be the first thing anybody does. */
const begins: ReadonlySet<string> = new Set([
  ...['create', 'put', 'enqueue', 'enqueueMany', 'set', 'apply'],
  // What an agent plans counts against its quota.
  ...['wake', 'loop'],
  ...['importWorkflow', 'importCrontab', 'importClaude', 'importCronicorn'],
])
const emptyDesks = new Map<string, Lent>()

/** A desk on which nothing is, for verbs that find nothing there. */
async function emptyDesk(door: string, database: (typeof databases)[number]): Promise<Desk> {
  const found = emptyDesks.get(`${door} ${database}`)
  if (found !== undefined) return found.desk
  const lent = await openDesk(database)
  emptyDesks.set(`${door} ${database}`, lent)
  return lent.desk
}

/** Files that share this module share its desks as well: the next one must not be led to one that was left. */
async function leaveEmptyDesks(): Promise<void> {
  const lent = [...emptyDesks.values()]
  emptyDesks.clear()
  await Promise.all(lent.map(({ leave }) => leave()))
}

/** The doctor looks at the database itself, and a lease is of the process that asks. */
function isOfDatabase({ noun, verb }: AnyOperation): boolean {
  return noun === 'store' && verb === 'doctor'
}

function expectAlike(operation: AnyOperation, said: ReadonlyMap<string, Said>): void {
  const shown = operation.noun === 'task' ? withoutDrawn : (each: unknown) => each
  for (const database of databases) {
    const where = isOfDatabase(operation) ? database : 'SQLite'
    const byPerson = said.get(`library on ${where}`)
    const byAgent = said.get(`agent on ${where}`) ?? byPerson
    for (const [place, each] of said) {
      const first = /^(mcp|agent) /.test(place) ? byAgent : byPerson
      if (place.endsWith(database)) expect(shown(each), place).toEqual(shown(first))
    }
  }
}

/** The id of a task is drawn, and doors that share a desk have drawn before. Its spread follows from it. */
function withoutDrawn(said: unknown): unknown {
  const text = JSON.stringify(said ?? null, (key, value) => (/^(nextDueAt|dueAt)$/.test(key) ? null : value))
  return JSON.parse(text.replace(/\b[0-9a-f]{8}\b/g, '<drawn>'))
}

/** Tells of every verb of these nouns that it is the same everywhere. Several files share the work. */
export function areAlike(...nouns: Noun[]): void {
  afterAll(leaveEmptyDesks)
  const examples = operations
    .filter(({ noun }) => nouns.includes(noun))
    .flatMap((operation) =>
      operation.examples.map((example) => [`${operation.noun} ${operation.verb}`, example, operation] as const),
    )

  describe('every verb is the same through every door that lists it, on both databases', () => {
    it.each(examples)('%s %j', async (_, example, operation) => {
      const said = await saidBy({ operation, example: example as Record<string, unknown>, isStaged: true })
      expect(said.size).toBe(2 * listed(operation).length)
      expectAlike(operation, said)
      // An agent may be refused what a person may do; that it is refused alike is compared above.
      const isSteered = said.has('agent on SQLite')
      for (const [place, each] of said) {
        if (!isSteered || !/^(mcp|agent) /.test(place)) expect(each, place).toHaveProperty('answer')
      }
    })

    it.each(examples.filter(([, example]) => Object.keys(example).length > 0))(
      'also where nothing is there: %s %j',
      async (_, example, operation) => {
        const said = await saidBy({ operation, example: example as Record<string, unknown>, isStaged: false })
        expectAlike(operation, said)
      },
    )
  })
}
