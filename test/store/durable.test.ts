import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { openSqliteFile } from '../../src/store/sqlite/open.ts'
import { both, one } from '../../src/store/statement.ts'
import { postgresUrl } from '../postgres.ts'

test('on SQLite a step is answered when it is on the disk, and others may read meanwhile', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-durable-'))
  const database = await openSqliteFile(join(folder, 'belfry.db'))
  onTestFinished(async () => {
    await database.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const text =
    'select (select synchronous from pragma_synchronous) as synchronous, journal_mode from pragma_journal_mode'
  const full = 2
  const settings = await database.write(() => one(both('test pragmas', text)))
  expect(settings).toEqual({ synchronous: full, journal_mode: 'wal' })
})

test('on PostgreSQL a step waits for the disk as its server wants it to', async () => {
  const options = { schema: 'durable', connectionsMax: 1, allowNonDurable: false }
  const database = await openPostgres(postgresUrl(), options)
  onTestFinished(() => database.close())
  const text = `select current_setting('synchronous_commit') as commits, reset_val as wanted
    from pg_settings where name = 'synchronous_commit'`
  expect(await database.write(() => one(both('test settings', text)))).toEqual({ commits: 'on', wanted: 'on' })
})
