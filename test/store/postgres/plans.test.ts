import pg from 'pg'
import { expect, test, vi } from 'vitest'
import { openStore } from '../../../src/store/open.ts'
import { postgresText } from '../../../src/store/postgres/database.ts'
import type { Statement } from '../../../src/store/statement.ts'
import { postgresUrl } from '../../postgres.ts'

const statements = vi.hoisted(() => new Set<Statement>())

vi.mock('../../../src/store/statement.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../../src/store/statement.ts')>()
  const kept = (statement: Statement) => {
    statements.add(statement)
    return statement
  }
  const dialects: typeof original.dialects = (...parts) => kept(original.dialects(...parts))
  const both: typeof original.both = (...parts) => kept(original.both(...parts))
  return { ...original, dialects, both }
})

/** Tables that grow for as long as a store lives. */
const growing = /Scan .* on (run|attempt|ready|ledger|result|output)\b/
/** Indexes of whole queues, and the column without which a look at them is no probe; the first of a queue is one. */
const ofQueues = { attempt_ends: 'queue_id', ready_pkey: 'need_id', aside_waiting: ' AND ' }

function isWide(plan: readonly string[], at: number): boolean {
  const [before = '', line = '', condition = ''] = [plan[at - 1], plan[at], plan[at + 1]]
  if (growing.test(line) && !condition.includes(' Cond: ')) return true
  const narrowing = Object.entries(ofQueues).find(([index]) => line.includes(` using ${index} `))?.[1]
  const isHashed = plan.some((other) => other.includes(`hashed ${before.trim()})`))
  const isForOne = /->\s+Limit$/.test(before) || (/SubPlan \d+$/.test(before) && !isHashed)
  return narrowing !== undefined && !condition.includes(narrowing) && !isForOne
}

/** Looks at the first and the last run there is. */
const looksAtEnds = ['prune find span']

/**
 * A statement is planned once for each connection, and that may have been on the first day: a plan that reads a whole
 * table because there is nothing in it yet would be kept until the server next counts its rows.
 */
test('no statement that is planned while the tables are empty reads a whole table that grows', async () => {
  const schema = `plans_${process.pid}`
  const store = await openStore(postgresUrl(), { schema, allowNonDurable: true })
  const client = new pg.Client(postgresUrl())
  await client.connect()
  for (const plan of ['bitmapscan', 'seqscan', 'hashjoin', 'mergejoin', 'memoize']) {
    await client.query(`set enable_${plan} = off`)
  }
  const wholly: string[] = []
  let count = 0
  for (const { name, postgres } of statements) {
    if (postgres === null || name.startsWith('migrat') || looksAtEnds.includes(name)) continue
    count++
    const text = `explain (generic_plan, costs off) ${postgresText(postgres, schema)}`
    const plan = (await client.query<{ 'QUERY PLAN': string }>(text)).rows.map((row) => row['QUERY PLAN'])
    const reads = plan.filter((_, at) => isWide(plan, at))
    wholly.push(...reads.map((line) => `${name}: ${line.trim()}`))
  }
  await client.query(`drop schema ${schema} cascade`)
  await client.end()
  await store.close()
  expect(count).toBeGreaterThan(200)
  expect(wholly).toEqual([])
})
