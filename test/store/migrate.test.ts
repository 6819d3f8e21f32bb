import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pause, systemClock } from '../../src/core/clock.ts'
import { migrations, openStore, schemaVersion } from '../../src/open-store.ts'
import type { Database } from '../../src/store/database-port.ts'
import { ground } from '../../src/store/migrations/0001-ground.ts'
import { migrate } from '../../src/store/migrations/migrate.ts'
import { spelled } from '../../src/store/migrations/migration.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { databaseOf } from '../../src/store/sql-store.ts'
import { openSqliteMemory } from '../../src/store/sqlite/open.ts'
import { all, both, type Row } from '../../src/store/statement.ts'
import { postgresUrl } from '../postgres.ts'
import { refusalOf } from './refusal.ts'

const schema = `migrate_${process.pid}`
let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'belfry-migrate-'))
})

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  const client = new pg.Client(postgresUrl())
  await client.connect()
  await client.query(`drop schema if exists ${schema}, ${schema}_old, ${schema}_done cascade`)
  await client.end()
})

it('each migration has a number and a name of its own, and the newest is the version of the schema', () => {
  expect(new Set(migrations.map(({ version }) => version)).size).toBe(migrations.length)
  expect(new Set(migrations.map(({ name }) => name)).size).toBe(migrations.length)
  expect(schemaVersion).toBe(Math.max(...migrations.map(({ version }) => version)))
})

it('a migration of a part that was left out before is applied when the part is there', async () => {
  const database = openSqliteMemory()
  const left = migrations.filter(({ name }) => name !== 'routines' && name !== 'newest-events')
  expect(left.length).toBe(migrations.length - 2)
  await migrate(database, left)
  await migrate(database, migrations)
  const found = await database.read(() =>
    all(both('test versions', 'select version from belfry.migration order by version')),
  )
  expect(found.map(({ version }) => version)).toEqual(migrations.map(({ version }) => version))
  await database.close()
})

it('a second empty store of a process gets what the migrations made of the first one: the same tables, indexes and rows', async () => {
  // As from another process: nothing is known of these.
  const asNew = migrations.map((migration) => ({ ...migration }))
  const [first, second] = [openSqliteMemory(), openSqliteMemory()]
  for (const database of [first, second]) await migrate(database, asNew)
  const everything = async (database: Database) => {
    const found = await database.read(() =>
      all<{ type: string; name: string }>(
        both('test schema', 'select type, name, tbl_name, sql from sqlite_master order by rowid'),
      ),
    )
    const counts = found
      .filter(({ type }) => type === 'table')
      .map(({ name }) => database.read(() => all(both(`test rows ${name}`, `select * from ${name}`))))
    return { found, rows: await Promise.all(counts) }
  }
  const [one, other] = [await everything(first), await everything(second)]
  expect(one.found.length).toBeGreaterThan(100)
  const withoutInstants = (text: unknown) =>
    JSON.parse(JSON.stringify(text).replaceAll(/"applied_at":\d+/g, '"applied_at":0'))
  expect(withoutInstants(other)).toEqual(withoutInstants(one))
  await Promise.all([first.close(), second.close()])
})

describe.each([
  ['SQLite', () => `sqlite:${join(folder, 'belfry.db')}`],
  ['PostgreSQL', () => postgresUrl()],
])('a schema on %s', (_, url) => {
  let statements = 0
  const open = () => openStore(url(), { schema })

  async function sql(text: string): Promise<Row[]> {
    const store = await open()
    try {
      return await databaseOf(store).write(() => all(both(`test migrate ${++statements}`, text)))
    } finally {
      await store.close()
    }
  }

  it('has each migration once, however often it is opened', async () => {
    await (await open()).close()
    const found = await sql('select version, name from belfry.migration order by version')
    expect(found).toEqual(migrations.map(({ version, name }) => ({ version, name })))
  })

  it('that a newer Belfry wrote is refused, again and again, and left as it is', async () => {
    await sql(`insert into belfry.migration (version, name, applied_at) values (999, 'from the future', 1)`)
    for (let times = 0; times < 2; times++) {
      const error = await refusalOf(open())
      expect(error).toMatchObject({
        code: 'unavailable',
        message: expect.stringMatching(
          `schema version 999; this Belfry knows versions up to ${schemaVersion} and would misread`,
        ),
        hint: expect.stringMatching(/^Start the newer Belfry/),
        details: { found: 999, known: schemaVersion },
      })
    }
  })
})

describe.each([
  ['SQLite', async () => openSqliteMemory()],
  [
    'PostgreSQL',
    () => openPostgres(postgresUrl(), { schema: `${schema}_old`, connectionsMax: 1, allowNonDurable: true }),
  ],
])('a store of the first schema on %s', (_, open) => {
  let database: Database
  let statements = 0
  const sql = (text: string) => database.write(() => all(both(`test old ${++statements}`, text)))

  beforeAll(async () => {
    database = await open()
    if (database.dialect === 'postgres') await sql('create schema "belfry"')
    for (const statement of ground.statements) await sql(spelled(statement, database.dialect))
    await sql(
      'create table belfry.migration (version integer primary key, name text not null, applied_at bigint not null)',
    )
    await sql(`insert into belfry.migration (version, name, applied_at) values (1, 'ground', 1)`)
  })

  afterAll(() => database.close())

  it('knows of each schedule an instant that is not after the writing of its timing, or after which nothing changes', async () => {
    const known = [
      { told: 'created', anchor: 1_000, grid: 1_000, timed: 1_000 },
      { told: 'created, and had a run', anchor: 5_000, grid: 1_000, timed: 1_000 },
      { told: 'created to start later', anchor: 1_000, grid: 9_000, timed: 1_000 },
      { told: 'created with a start that was over', anchor: 1_000, grid: 500, timed: 1_000 },
      { told: 'edited at 3,000', anchor: 3_000, grid: 3_000, timed: 2_999 },
      { told: 'edited at 3,000, and had a run', anchor: 5_000, grid: 3_000, timed: 2_999 },
      { told: 'edited at 3,000 to start later', anchor: 3_000, grid: 9_000, timed: 3_000 },
      { told: 'edited to start at 9,000, and a run from before ended later', anchor: 9_500, grid: 9_000, timed: 8_999 },
    ]
    for (const [id, { told, anchor, grid }] of known.entries()) {
      await sql(`insert into belfry.schedule (id, ns, name, spec, version, queue_id, hints, anchor_at, grid_anchor_at,
        created_at, updated_at) values (${id}, 1, '${told}', '{', 1, 1, '{}', ${anchor}, ${grid}, 1000, 9999)`)
    }
    await migrate(database, migrations)
    expect(await sql('select name, timed_at from belfry.schedule order by id')).toEqual(
      known.map(({ told, timed }) => ({ name: told, timed_at: timed })),
    )
    expect(await sql('select max(version) as version from belfry.migration')).toEqual([{ version: schemaVersion }])
  })
})

it('a schema that is up to date is opened without the lock that migrations take', async () => {
  const url = postgresUrl()
  await (await openStore(url, { schema: `${schema}_done` })).close()
  const migrator = new pg.Client(url)
  await migrator.connect()
  await migrator.query(`begin; select pg_advisory_xact_lock(hashtextextended('belfry migrations', 0))`)
  const opened = openStore(url, { schema: `${schema}_done` }).then((store) => store.close())
  const isOpen = await Promise.race([opened.then(() => true), pause(systemClock, 5_000).then(() => false)])
  await migrator.query('rollback')
  await migrator.end()
  await opened
  expect(isOpen).toBe(true)
})
