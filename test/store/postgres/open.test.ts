import { expect, onTestFinished, test } from 'vitest'
import { openPostgres } from '../../../src/store/postgres/open.ts'
import { all, both, one } from '../../../src/store/statement.ts'
import { postgresUrl } from '../../postgres.ts'

test('a process that stops in the middle of a step keeps others from its queue for seconds at the most', async () => {
  const database = await openPostgres(postgresUrl(), { schema: 'silent', connectionsMax: 1, allowNonDurable: false })
  onTestFinished(() => database.close())
  const text = `select setting::int as ms from pg_settings where name = 'idle_in_transaction_session_timeout'`
  const { ms } = (await database.write(() => one<{ ms: number }>(both('test silence', text)))) ?? { ms: 0 }
  expect(ms).toBeGreaterThan(0)
  expect(ms).toBeLessThanOrEqual(5_000)
})

test('whatever the server is set to, nothing of a store is compiled, or planned to read whole tables', async () => {
  const database = await openPostgres(postgresUrl(), { schema: 'planned', connectionsMax: 1, allowNonDurable: false })
  onTestFinished(() => database.close())
  const plans = ['bitmapscan', 'seqscan', 'hashjoin', 'mergejoin', 'memoize']
  const ruledOut = ['jit', ...plans.map((plan) => `enable_${plan}`)]
  const text = `select name from pg_settings where setting = 'on' and name in ('${ruledOut.join("', '")}', 'fsync')`
  const on = await database.read(() => all<{ name: string }>(both('test plans', text)))
  expect(on).toEqual([{ name: 'fsync' }])
})
