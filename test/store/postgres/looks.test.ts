import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Database } from '../../../src/store/database-port.ts'
import { openPostgres } from '../../../src/store/postgres/open.ts'
import { both, one, type Step } from '../../../src/store/statement.ts'
import { postgresUrl } from '../../postgres.ts'

const backend = both('test backend', 'select pg_backend_pid() as pid')
let database: Database

beforeEach(async () => {
  database = await openPostgres(postgresUrl(), { schema: 'looks', connectionsMax: 5, allowNonDurable: true })
})
afterEach(() => database.close())

function* look(): Step<unknown> {
  return (yield* one(backend))?.pid
}

test('looks one after the other are had on one connection', async () => {
  const pids = new Set<unknown>()
  for (let count = 0; count < 10; count++) pids.add(await database.read(look))
  pids.add(await database.write(look))
  expect(pids.size).toBe(1)
})

test('looks at the same time do not wait for each other', async () => {
  const pids = await Promise.all([database.read(look), database.read(look)])
  expect(new Set(pids).size).toBe(2)
})
