import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { arrayText } from '../../../src/store/postgres/array.ts'
import { postgresUrl } from '../../postgres.ts'

let client: pg.Client

beforeAll(async () => {
  client = new pg.Client(postgresUrl())
  await client.connect()
})

afterAll(() => client.end())

test('texts come back as they went in, whatever a PostgreSQL array makes of their characters', async () => {
  const texts = [
    '',
    'NULL',
    null,
    'a,b',
    '{"a":["\\"\\\\"]}',
    ' x ',
    '\\',
    '"',
    '{}',
    'ü\n\t',
    "'",
    '$1',
    '\u007f\u2028\\"',
    '"🔔\\',
    '\u0001"\\',
  ]
  const { rows } = await client.query('select t from unnest($1::text[]) with ordinality as i (t, n) order by n', [
    arrayText(texts),
  ])
  expect(rows.map(({ t }) => t)).toEqual(texts)
})

test('numbers come back as they went in, and absent ones as absent', async () => {
  const numbers = [0, -5, null, Number.MAX_SAFE_INTEGER]
  const { rows } = await client.query('select n from unnest($1::bigint[]) with ordinality as i (n, o) order by o', [
    arrayText(numbers),
  ])
  expect(rows.map(({ n }) => (n === null ? null : Number(n)))).toEqual(numbers)
})
