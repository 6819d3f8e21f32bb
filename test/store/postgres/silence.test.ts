import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Database } from '../../../src/store/database-port.ts'
import { openPostgres } from '../../../src/store/postgres/open.ts'
import { all, both, run, type Step } from '../../../src/store/statement.ts'
import { postgresUrl } from '../../postgres.ts'

const backend = both('test backend', 'select pg_backend_pid() as pid')
const write = both('test write', 'create temporary table silence_written (n integer) on commit drop')
/** Longer than the server waits for somebody who is silent in the middle of a transaction. */
const longMs = 1_400
let database: Database

beforeEach(async () => {
  database = await openPostgres(postgresUrl(), { schema: 'silence', connectionsMax: 1, allowNonDurable: true })
})
afterEach(() => database.close())

/** Keeps the event loop busy, as a handler that computes does. */
function block(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, longMs)
}

test.each(['write', 'read'] as const)('a %s that the server broke off for its silence is done again', async (kind) => {
  const pids: unknown[] = []
  const step = function* (): Step<string> {
    const [first] = yield* all(backend)
    pids.push(first?.pid)
    // The second time it is as quick as any.
    if (pids.length === 1) block()
    const [second] = yield* all(backend)
    return second?.pid === first?.pid ? 'one session' : 'two sessions'
  }
  expect(await database[kind](step)).toBe('one session')
  expect(pids).toHaveLength(2)
})

test('a write whose process was silent just before its commit is done again: it cannot have been committed', async () => {
  let tries = 0
  const step = function* (): Step<string> {
    yield* run(write)
    yield* all(backend)
    tries += 1
    if (tries === 1) block()
    return 'written'
  }
  expect(await database.write(step)).toBe('written')
  expect(tries).toBe(2)
})
