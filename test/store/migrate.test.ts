import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrations, schemaVersion } from '../../src/store/migrations/all.ts'
import { openStore } from '../../src/store/open.ts'
import { databaseOf } from '../../src/store/sql-store.ts'
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
  await client.query(`drop schema if exists ${schema} cascade`)
  await client.end()
})

it('the migrations are numbered from 1 without a gap, and each has a name of its own', () => {
  expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, index) => index + 1))
  expect(new Set(migrations.map(({ name }) => name)).size).toBe(migrations.length)
  expect(schemaVersion).toBe(migrations.length)
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
