import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import { openHandle } from '../../src/store/sqlite/driver.ts'
import { postgresUrl } from '../postgres.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'belfry-transaction-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('a SQLite handle of another Belfry file is refused, and nothing lands in that file', async () => {
  const mine = await openStore(`sqlite:${join(folder, 'mine.db')}`)
  const other = await openStore(`sqlite:${join(folder, 'other.db')}`)
  const handle = openHandle(join(folder, 'other.db'))
  handle.exec('begin immediate')
  await expect(mine.enqueue([{}], { transaction: handle })).rejects.toThrow(/other\.db.*mine\.db/)
  handle.exec('commit')
  handle.close()
  expect((await other.read.runs({ limit: 10 })).runs).toEqual([])
  await mine.close()
  await other.close()
})

test('a pg client of another database, and one whose transaction has failed, are refused with what to do', async () => {
  const store = await openStore(postgresUrl(), { schema: `transaction_${process.pid}` })
  const client = new pg.Client(postgresUrl())
  await client.connect()
  const other = new pg.Client(postgresUrl().replace(/\/postgres$/, '/template1'))
  await other.connect()
  await other.query('begin')
  await expect(store.enqueue([{}], { transaction: other })).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringContaining('without the tables'),
  })
  await client.query('begin')
  await client.query('select nonsense').catch(() => undefined)
  await expect(store.enqueue([{}], { transaction: client })).rejects.toMatchObject({
    code: 'invalid',
    hint: expect.stringContaining('rollback'),
  })
  await client.query('rollback')
  await client.query(`drop schema transaction_${process.pid} cascade`)
  await Promise.all([client.end(), other.end(), store.close()])
})
