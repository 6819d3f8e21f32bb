import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openStore } from '../../../src/open-store.ts'
import type { Store } from '../../../src/store/port.ts'
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
const growing = ['run', 'attempt', 'ready', 'ledger', 'result', 'output']
/** Tables of what is under way: full at one time, and empty when the server's vacuum happens to come by. */
const churning = ['ready', 'aside', 'lease', 'schedule_run', 'dedupe', 'hint', 'notice']
/** Indexes of whole queues, and the column without which a look at them is no probe; the first of a queue is one. */
const ofQueues = {
  attempt_ends: 'queue_id',
  ready_pkey: 'need_id',
  aside_waiting: ' AND ',
  aside_key: 'queue_id',
  aside_parked: 'queue_id',
}

function isWide(plan: readonly string[], at: number, tables: readonly string[]): boolean {
  const [before = '', line = '', condition = ''] = [plan[at - 1], plan[at], plan[at + 1]]
  const table = / Scan .*\bon (\w+)/.exec(line)?.[1]
  const isHashed = plan.some((other) => other.includes(`hashed ${before.trim()})`))
  const isKept = isHashed || before.endsWith('Materialize')
  if (table !== undefined && tables.includes(table) && (isKept || !condition.includes(' Cond: '))) return true
  const narrowing = Object.entries(ofQueues).find(([index]) => line.includes(` using ${index} `))?.[1]
  const isForOne = /->\s+Limit$/.test(before) || (/SubPlan \d+$/.test(before) && !isHashed)
  return narrowing !== undefined && !condition.includes(narrowing) && !isForOne
}

/** Looks at the first and the last run there is. */
const looksAtEnds = ['prune find span']
/** Goes once through all that is in flight: every lease and every settle would pay for an index that made it less. */
const readsLeases = [
  'lease of claim',
  'reclaim find',
  'reclaim find of queue',
  'reclaim find of workers',
  'prune find workers',
  'health leases',
  'read leases of workers',
  'read next instants',
  'list leased runs',
  'stop leased count',
  'stop leased cancel',
  'stop leased release',
  'ceiling reserve at work',
  'stop leased count',
  'stop leased cancel',
  'stop leased release',
]
/** Goes once through the live runs of all schedules, or through the keys with a gate, looking each of them up. */
const readsLiveRuns = [
  'repair find gates',
  'repair find behind ended',
  'health overlaps',
  'plan find kept',
  'stats count held',
  'stats count overlap',
]

let store: Store
let client: pg.Client
const schema = `plans_${process.pid}`

beforeAll(async () => {
  await loadAll()
  store = await openStore(postgresUrl(), { schema, allowNonDurable: true })
  client = new pg.Client(postgresUrl())
  await client.connect()
  for (const plan of ['bitmapscan', 'seqscan', 'hashjoin', 'mergejoin', 'memoize']) {
    await client.query(`set enable_${plan} = off`)
  }
})

afterAll(async () => {
  await client.query(`drop schema ${schema} cascade`)
  await client.end()
  await store.close()
})

/** A statement is known from when its module is loaded, and a verb is loaded by who asks for it. */
async function loadAll(): Promise<void> {
  const source = new URL('../../../src/', import.meta.url)
  const modules = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /^(store|parts)\/.+\.ts$/.test(path),
  )
  for (const path of modules) await import(fileURLToPath(new URL(path, source)))
}

/** The statements whose plans, made now, read one of the tables as a whole, with the line that says so; one of them may be meant. */
async function readsOfWhole(tables: readonly string[], once: readonly string[] = []): Promise<string[]> {
  const wholly: string[] = []
  let count = 0
  for (const { name, postgres } of statements) {
    if (postgres === null || name.startsWith('migrat') || looksAtEnds.includes(name)) continue
    count++
    const text = `explain (generic_plan, costs off) ${postgresText(postgres, schema)}`
    const plan = (await client.query<{ 'QUERY PLAN': string }>(text)).rows.map((row) => row['QUERY PLAN'])
    const reads = plan.filter((_, at) => isWide(plan, at, tables))
    wholly.push(...reads.slice(once.includes(name) ? 1 : 0).map((line) => `${name}: ${line.trim()}`))
  }
  expect(count).toBeGreaterThan(200)
  return wholly
}

/**
 * A statement is planned once for each connection, and that may have been on the first day: a plan that reads a whole
 * table because there is nothing in it yet would be kept until the server next counts its rows.
 */
test('no statement that is planned while the tables are empty reads a whole table that grows', async () => {
  expect(await readsOfWhole(growing)).toEqual([])
})

test('nor one that is planned when vacuum has just seen that nothing is under way', async () => {
  for (const table of churning) await client.query(`vacuum analyze ${schema}.${table}`)
  expect(await readsOfWhole([...growing, ...churning], [...readsLeases, ...readsLiveRuns])).toEqual([])
})

test('nor one that is planned when a herd is over and vacuum has been there', async () => {
  for (const table of churning) await herd(table)
  expect(await readsOfWhole([...growing, ...churning], [...readsLeases, ...readsLiveRuns])).toEqual([])
})

/** Fills a table and empties it again: what is left of its indexes is larger than all that is in them. */
async function herd(table: string): Promise<void> {
  const columns = `select column_name as name, data_type as type from information_schema.columns
    where table_schema = '${schema}' and table_name = '${table}'`
  const { rows } = await client.query<{ name: string; type: string }>(columns)
  const values = rows.map(({ name, type }) => {
    if (name === 'kind') return `(array['key', 'waiting', 'parked', 'held'])[n % 4 + 1]`
    return type === 'text' ? `'t' || n` : type === 'smallint' ? '1' : 'n'
  })
  const names = rows.map(({ name }) => name).join(', ')
  await client.query(
    `insert into ${schema}.${table} (${names}) select ${values.join(', ')} from generate_series(1, 20000) n`,
  )
  await client.query(`delete from ${schema}.${table}`)
  await client.query(`vacuum analyze ${schema}.${table}`)
}

test('no statement changes a row in line: it would be leased and stay there (see reprioritise.ts)', () => {
  const changing = [...statements].filter(({ postgres }) => /update\s+belfry\.ready\b/.test(postgres ?? ''))
  expect(changing).toEqual([])
})
