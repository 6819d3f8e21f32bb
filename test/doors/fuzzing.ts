import fc from 'fast-check'
import { databaseOf } from '../../src/store/sql-store.ts'
import { all, both } from '../../src/store/statement.ts'
import { Desk } from '../operations/desk.ts'
import { postgresUrl } from '../postgres.ts'

/** A value that no field is glad of. */
export const strange = fc.oneof(
  fc.constantFrom(
    null,
    true,
    -1,
    0,
    1.5,
    1e308,
    Number.MAX_SAFE_INTEGER,
    '',
    ' ',
    '\u0000',
    '\ud800',
    '🔔',
    '../..',
    '-x',
    "'; drop table run; --",
    '{}',
    '[]',
    [],
    {},
    [[[]]],
    { __proto__: null },
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ minLength: 3_000, maxLength: 3_000 }),
  fc.jsonValue({ maxDepth: 3 }),
  fc.constant(JSON.parse(`${'['.repeat(600)}${']'.repeat(600)}`)),
)

/** A desk on each database, for whoever asks both the same. */
export async function desksOf(name: string): Promise<Desk[]> {
  const places = [{}, { url: postgresUrl(), schema: `${name}_${process.pid}` }]
  return Promise.all(places.map((place) => Desk.open(place)))
}

/** How much lies in every table. */
export async function sizes(desk: Desk): Promise<string> {
  const tables = [
    'run',
    'ready',
    'aside',
    'lease',
    'attempt',
    'schedule',
    'schedule_version',
    'queue',
    'queue_version',
    'hint',
    'worker',
    'claim',
    'audit',
    'routine',
    'routine_event',
  ]
  const text = `select ${tables.map((table) => `(select count(*) from belfry.${table}) as ${table}`).join(', ')}`
  return JSON.stringify(await databaseOf(desk.store).read(() => all(both('fuzz sizes', text))))
}
