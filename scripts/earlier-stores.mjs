// Writes the stores that test/store/earlier-stores.test.ts opens: `node scripts/earlier-stores.mjs CHECKOUT` fills a SQLite file and a
// PostgreSQL schema with the code of a built checkout of an earlier commit, and dumps both as SQL text to test/store/earlier/.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { DatabaseSync } from '@photostructure/sqlite'
import pg from 'pg'
import { startPostgres } from './postgres-server.mjs'

const [checkout] = process.argv.slice(2)
assert(checkout !== undefined, 'Name the folder of a checkout that is built.')
const importFrom = (file) => import(pathToFileURL(resolve(checkout, 'dist', file)).href)
const { Belfry } = await importFrom('index.js')
const { TestClock, drain } = await importFrom('testing.js')
const commit = execFileSync('git', ['-C', checkout, 'rev-parse', '--short=7', 'HEAD'], { encoding: 'utf8' }).trim()
const out = new URL('../test/store/earlier/', import.meta.url)
mkdirSync(out, { recursive: true })

/** What stands in a row in place of what the earlier commit wrote. */
const instead = {
  // Who executed it, and where, is of this machine.
  worker: ({ host }) =>
    host === 'printer-1'
      ? {}
      : { name: 'earlier', host: 'earlier.example', pid: 7, boot_id: 'earlier', pid_namespace: 'earlier' },
  // Earlier commits read this, and had no verb that wrote it.
  namespace: ({ name }) => (name === 'stopped' ? { stopped_at: 1780272000000, stopped_reason: 'A fire.' } : {}),
}

process.env.BELFRY_ZONE = 'Europe/Paris'
const scratch = mkdtempSync(join(tmpdir(), 'belfry-earlier-'))
const server = await startPostgres()
try {
  const file = join(scratch, 'belfry.db')
  await fill({ store: `sqlite:${file}` })
  write('sqlite', dumpSqlite(file))
  await fill({ store: server.url })
  write('postgres', await dumpPostgres(server.url))
} finally {
  await server.stop()
  rmSync(scratch, { recursive: true, force: true })
}
// The stores that were filled are still open, as those of a process that is killed.
process.exit()

function write(database, lines) {
  const path = new URL(`${commit}.${database}.sql`, out)
  writeFileSync(path, `${lines.join('\n')}\n`)
  console.log(`${path.pathname} is written.`)
}

/** A store with something of everything in it, at 06:00 on a Monday, and a worker that is killed while it executes a run. */
async function fill({ store }) {
  const clock = new TestClock(Date.parse('2026-06-01T00:00Z'))
  const belfry = await Belfry.open({ store, clock, log: false })
  let hangs
  const isHanging = new Promise((done) => {
    hangs = done
  })
  belfry.handle('work', ({ payload }) => ({ did: payload ?? 'nothing' }))
  belfry.handle('fails', () => {
    throw new Error('the disk is full')
  })
  belfry.handle('hangs', () => {
    hangs()
    return new Promise(() => undefined)
  })
  await belfry.queues.set('once', { maxAttempts: 1 })
  await fillSchedules(belfry)
  await fillStopped({ store, clock })
  await belfry.store.notify({ onFailure: { command: ['true'] } })
  await belfry.tokens.create({ name: 'ci', scope: 'operate' })
  await belfry.config.apply({
    source: 'ops',
    queues: { reports: { maxConcurrent: 3 } },
    schedules: { managed: { every: '2h', queue: 'reports', target: { handler: 'work' } } },
  })
  await belfry.routines.create({ name: 'paid', match: { type: 'paid' }, run: { target: { handler: 'work' } } })
  await belfry.routines.fire('paid', { payload: { type: 'paid', amount: 5 } })
  await belfry.runs.enqueue({ target: { handler: 'work' }, payload: { day: 1 }, idempotencyKey: 'day 1' })
  await belfry.runs.enqueue({ queue: 'once', target: { handler: 'fails' }, payload: 'parked' })
  await drain(belfry, { clock, for: '6h' })
  await fillStandstill(belfry)
  await belfry.start({ slots: 4 })
  await belfry.runs.enqueue({ target: { handler: 'hangs' }, payload: 'left behind' })
  await isHanging
  await belfry.sched.lease('printer-1', { queue: 'letters' })
}

/** A namespace that is stopped. */
async function fillStopped({ store, clock }) {
  const belfry = await Belfry.open({ store, clock, namespace: 'stopped', log: false })
  await belfry.schedules.put({ name: 'tenant', every: '1h', target: { handler: 'work' } })
  await belfry.close()
}

/** A schedule of each timing, and of each way to stand still. */
async function fillSchedules({ schedules }) {
  const target = { handler: 'work' }
  await schedules.put({
    name: 'calendar',
    cron: '30 7,8,9 * * *',
    zone: 'Europe/Paris',
    target,
    payload: { of: 'calendar' },
  })
  await schedules.put({ name: 'interval', every: '1h', target, description: 'From end to start.' })
  await schedules.put({ name: 'grid', every: '30m', from: 'start', target })
  await schedules.put({ name: 'one-shot', at: '2026-06-01T08:00Z', target })
  await schedules.put({ name: 'by-hand', target })
  await schedules.put({ name: 'hinted', cron: '0 0 1 1 *', zone: 'UTC', target })
  await schedules.put({
    name: 'failing',
    every: '1h',
    queue: 'once',
    target: { handler: 'fails' },
    onFailure: { command: ['true'] },
  })
  await schedules.put({ name: 'held', every: '10m', startAt: '2026-06-01T12:00Z', target })
  await schedules.put({ name: 'resting', every: '1h', target })
  await schedules.put({ name: 'old', every: '1h', target })
  await schedules.put({ name: 'interval', every: '1h', target, description: 'Counted from the end of the run before.' })
  await schedules.pause('resting', { reason: 'It rests.' })
  await schedules.delete('old')
}

/** What waits when the worker is killed. */
async function fillStandstill({ queues, runs, schedules }) {
  await schedules.hint('hinted', { every: '20m', ttl: '12h', reason: 'It is busy.' })
  await schedules.hint('hinted', { at: '2026-06-01T06:15Z', ttl: '30m', reason: 'Look once.' })
  await schedules.run('held')
  await schedules.pause('held', { until: '2026-06-01T13:00Z', reason: 'The disk is full.' })
  await queues.set('mail', { maxConcurrent: 1 })
  await runs.enqueue({ queue: 'mail', target: { handler: 'work' }, payload: 'mail', dedupeKey: 'mail' })
  await queues.pause('mail', { reason: 'The server moves.' })
  await runs.enqueue({ target: { handler: 'work' }, notBefore: '2026-06-01T09:00Z', payload: 'later' })
  await runs.enqueue({ queue: 'letters', target: null, payload: 'for a host' })
}

function dumpSqlite(file) {
  const database = new DatabaseSync(file)
  const all = (sql) => database.prepare(sql).all()
  const made = all(
    "select type, name, sql from sqlite_schema where sql is not null and name not like 'sqlite_%' order by rowid",
  )
  const tables = made.filter(({ type }) => type === 'table').map(({ name }) => name)
  const [{ application_id: application }] = all('pragma application_id')
  const [{ user_version: version }] = all('pragma user_version')
  return [
    `pragma application_id = ${application};`,
    `pragma user_version = ${version};`,
    'begin;',
    ...made.filter(({ type }) => type === 'table').map(({ sql }) => `${sql};`),
    ...tables.flatMap((table) => insertsOf(table, all(`select * from "${table}"`))),
    ...made.filter(({ type }) => type !== 'table').map(({ sql }) => `${sql};`),
    'commit;',
  ]
}

/** The tables of the schema `belfry`, by names without a schema: they are put into any. */
async function dumpPostgres(url) {
  const client = new pg.Client({ connectionString: url })
  // Integers of 64 bits are texts, and go into the text as they are.
  await client.connect()
  await client.query('set search_path to belfry')
  const rows = async (sql, ...params) => (await client.query(sql, params)).rows
  const tables = await rows(`select c.oid, c.relname as name, array_to_string(c.reloptions, ', ') as options
    from pg_class c where c.relnamespace = 'belfry'::regnamespace and c.relkind = 'r' order by c.oid`)
  const lines = []
  for (const {
    sequence,
    type,
    last,
  } of await rows(`select sequencename as sequence, data_type as type, last_value as last
    from pg_sequences where schemaname = 'belfry'`)) {
    lines.push(`create sequence ${sequence} as ${type};`)
    if (last !== null) lines.push(`select setval('${sequence}', ${last});`)
  }
  for (const { oid, name, options } of tables) {
    const columns = await rows(
      `select format('%I %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
        case when a.attcollation <> t.typcollation then format(' collate %I', o.collname) end,
        case when a.attnotnull then ' not null' end,
        ' default ' || pg_get_expr(d.adbin, d.adrelid)) as text
      from pg_attribute a join pg_type t on t.oid = a.atttypid
      left join pg_collation o on o.oid = a.attcollation
      left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where a.attrelid = $1 and a.attnum > 0 and not a.attisdropped order by a.attnum`,
      oid,
    )
    const constraints = await rows(
      `select format('constraint %I %s', conname, pg_get_constraintdef(oid, true)) as text
      from pg_constraint where conrelid = $1 and contype <> 'n' order by conname`,
      oid,
    )
    const parts = [...columns, ...constraints].map(({ text }) => `  ${text}`)
    lines.push(`create table ${name} (\n${parts.join(',\n')}\n)${options === null ? '' : ` with (${options})`};`)
  }
  for (const { name } of tables) lines.push(...insertsOf(name, await rows(`select * from ${name}`)))
  const indexes = await rows(`select pg_get_indexdef(i.indexrelid, 0, true) as text from pg_index i
    join pg_class c on c.oid = i.indexrelid where c.relnamespace = 'belfry'::regnamespace
    and not exists (select from pg_constraint where conindid = i.indexrelid) order by c.relname`)
  await client.end()
  return ['begin;', ...lines, ...indexes.map(({ text }) => `${text};`), 'commit;']
}

function insertsOf(table, rows) {
  return rows.map((row) => {
    const all = Object.entries({ ...row, ...instead[table]?.(row) })
    const names = all.map(([name]) => `"${name}"`).join(', ')
    return `insert into "${table}" (${names}) values (${all.map(([, value]) => literal(value)).join(', ')});`
  })
}

function literal(value) {
  if (value === null) return 'null'
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  if (typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`
  assert(ArrayBuffer.isView(value), `A value of the type ${typeof value} is in the store.`)
  return `x'${Buffer.from(value).toString('hex')}'`
}
