import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openStore } from '../../src/open-store.ts'
import { listRuns } from '../../src/store/reads/list-runs.ts'
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
  expect((await other.look(listRuns, { limit: 10 })).runs).toEqual([])
  await mine.close()
  await other.close()
})

test('a SQLite handle in memory is refused by a store with a file, and any handle by a store in memory, naming both', async () => {
  const mine = await openStore(`sqlite:${join(folder, 'mine.db')}`)
  const inMemory = await openStore('memory:')
  const memory = openHandle(':memory:')
  const handle = openHandle(join(folder, 'mine.db'))
  for (const one of [memory, handle]) one.exec('begin immediate')
  await expect(mine.enqueue([{}], { transaction: memory })).rejects.toMatchObject({
    code: 'invalid',
    message: `The transaction is on a database in memory, and this store is ${join(folder, 'mine.db')}.`,
  })
  await expect(inMemory.enqueue([{}], { transaction: handle })).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringContaining(
      `The transaction is on ${join(folder, 'mine.db')}, and this store is one in memory`,
    ),
  })
  for (const one of [memory, handle]) {
    one.exec('rollback')
    one.close()
  }
  await Promise.all([mine.close(), inMemory.close()])
})

test('a pg client of another database with tables of the same schema is refused, and nothing lands there', async () => {
  const schema = `transaction_both_${process.pid}`
  const name = `transaction_other_${process.pid}`
  const admin = new pg.Client(postgresUrl())
  await admin.connect()
  await admin.query(`create database ${name}`)
  const url = postgresUrl().replace(/\/postgres$/, `/${name}`)
  const [mine, theirs] = [await openStore(postgresUrl(), { schema }), await openStore(url, { schema })]
  const client = new pg.Client(url)
  await client.connect()
  await client.query('begin')
  await expect(mine.enqueue([{}], { transaction: client })).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringMatching(
      new RegExp(`database "${name}" at .*, and this store is .*/postgres \\(schema ${schema}\\)`),
    ),
  })
  await theirs.enqueue([{}], { transaction: client })
  await client.query('commit')
  expect((await theirs.look(listRuns, { limit: 10 })).runs).toHaveLength(1)
  expect((await mine.look(listRuns, { limit: 10 })).runs).toEqual([])
  await Promise.all([client.end(), mine.close(), theirs.close()])
  await admin.query(`drop schema ${schema} cascade`)
  await admin.query(`drop database ${name} with (force)`)
  await admin.end()
})

test.each(['SQLite', 'PostgreSQL'])(
  'an id that was told in a transaction is never given to another run, also after a rollback (%s)',
  async (database) => {
    const schema = `transaction_ids_${process.pid}`
    const file = join(folder, 'mine.db')
    const open = () => (database === 'SQLite' ? openStore(`sqlite:${file}`) : openStore(postgresUrl(), { schema }))
    const begun = async () => {
      if (database === 'SQLite') {
        const handle = openHandle(file)
        handle.exec('begin immediate')
        const end = async (how: string) => {
          handle.exec(how)
          handle.close()
        }
        return { transaction: handle as unknown, end }
      }
      const client = new pg.Client(postgresUrl())
      await client.connect()
      await client.query('begin')
      const end = async (how: string) => {
        await client.query(how)
        await client.end()
      }
      return { transaction: client as unknown, end }
    }
    const told: string[] = []
    const kept: string[] = []
    for (const how of ['rollback', 'rollback', 'commit', 'rollback', 'commit']) {
      // A store that was opened anew is what another process has.
      const store = await open()
      const { transaction, end } = await begun()
      for (let call = 0; call < 2; call++) {
        const ids = (await store.enqueue([{}, {}], { transaction })).map(({ id }) => id)
        expect(ids).toEqual(ids.toSorted())
        told.push(...ids)
        if (how === 'commit') kept.push(...ids)
      }
      await end(how)
      const own = (await store.enqueue([{}])).map(({ id }) => id)
      told.push(...own)
      kept.push(...own)
      await store.close()
    }
    expect(new Set(told).size).toBe(told.length)
    const store = await open()
    expect((await store.look(listRuns, { limit: 100 })).runs.map(({ id }) => id).toSorted()).toEqual(kept.toSorted())
    await store.close()
    if (database === 'SQLite') return
    const client = new pg.Client(postgresUrl())
    await client.connect()
    await client.query(`drop schema ${schema} cascade`)
    await client.end()
  },
)

test('a pg client of another database, and one whose transaction has failed, are refused with what to do', async () => {
  const store = await openStore(postgresUrl(), { schema: `transaction_${process.pid}` })
  const client = new pg.Client(postgresUrl())
  await client.connect()
  const other = new pg.Client(postgresUrl().replace(/\/postgres$/, '/template1'))
  await other.connect()
  await other.query('begin')
  await expect(store.enqueue([{}], { transaction: other })).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringMatching(
      /database "template1" at .*, and this store is postgres:.*\/postgres \(schema transaction_/,
    ),
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
