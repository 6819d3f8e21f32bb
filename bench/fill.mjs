import pg from 'pg'
import { databaseOf } from '../dist/store/sql-store.js'
import { all, both } from '../dist/store/statement.js'

const chunk = 100_000
const firstId = 1_000_000_000
let statements = 0

/**
 * Fills a store with very many rows, which one by one through its verbs would take minutes. One row of each table was
 * written by the verb; the others are its copies with an id of their own, column by column as the table has them now.
 */
export function filler(store) {
  const database = databaseOf(store)
  const isSqlite = database.dialect === 'sqlite'
  const write = (text) => database.write(() => all(both(`bench ${++statements}`, text)))
  const newest = async (table, by) => {
    const [row] = await write(`select * from belfry.${table} order by ${by} desc limit 1`)
    return row
  }
  const copy = async (table, { by, given, count }) => {
    const row = await newest(table, by)
    const columns = Object.keys(row)
    const values = columns.map((column) => given[column] ?? literal(row[column]))
    for (let from = 0; from < count; from += chunk) {
      const to = Math.min(from + chunk, count)
      const series = isSqlite
        ? `with recursive i(n) as (select ${from + 1} union all select n + 1 from i where n < ${to})`
        : `with i(n) as (select generate_series(${from + 1}, ${to}))`
      await write(`insert into belfry.${table} (${columns.join(', ')}) ${series} select ${values.join(', ')} from i`)
    }
  }
  const id = `${firstId} + n`
  return {
    write,
    newest,
    /** Runs that lie ready, like the one that was enqueued last. */
    async ready(count) {
      await copy('run', { by: 'id', given: { id }, count })
      await copy('ready', { by: 'run_id', given: { run_id: id }, count })
    },
    /** Runs that have ended, like the one that ended last; `given` tells other columns of them, as expressions over n. */
    async ended(count, given = {}) {
      await copy('run', { by: 'id', given: { id, ...given }, count })
      await copy('attempt', { by: 'run_id', given: { run_id: id }, count })
    },
    /** Schedules like the one that was put last; `at` tells where their next instants lie, an expression over n. */
    async schedules(count, at) {
      const seed = await newest('schedule', 'id')
      const named = (column) =>
        `replace(${literal(column)}, ${literal(`"${seed.name}"`)}, ${literal(`"${seed.name}-`)} || n || '"')`
      const audit = await newest('audit', 'id')
      const instants = at === undefined ? {} : { next_run_at: at, next_due_at: at, wake_at: at }
      const name = `${literal(`${seed.name}-`)} || n`
      await copy('schedule', { by: 'id', given: { id, name, spec: named(seed.spec), ...instants }, count })
      await copy('schedule_version', { by: 'schedule_id', given: { schedule_id: id, spec: named(seed.spec) }, count })
      await copy('audit', { by: 'id', given: { id, subject: `${literal(`${audit.subject}-`)} || n` }, count })
    },
  }
}

/** The first copied schedule's id is one more than this. */
export const copiesAfter = firstId

/** What autovacuum would have done by the time a table has grown that large. */
export async function settleDown(place) {
  if (place.url === undefined) return
  const client = new pg.Client({ connectionString: place.url })
  await client.connect()
  await client.query('vacuum analyze')
  await client.query('checkpoint')
  await client.end()
}

function literal(value) {
  if (value === null) return 'null'
  return typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`
}
