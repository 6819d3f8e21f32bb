import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startPostgres } from '../../../scripts/postgres-server.mjs'
import { openStore } from '../../../src/open-store.ts'
import { refuseUnfitServer } from '../../../src/store/postgres/boot.ts'
import { unreachable, withoutPassword } from '../../../src/store/postgres/open.ts'
import { refusalOf, shownOf } from '../refusal.ts'

const password = 'tr0ub4dor'
let folder: string
let server: Awaited<ReturnType<typeof startPostgres>>
let databases = 0

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'belfry-hba-'))
  chmodSync(folder, 0o755)
  writeFileSync(join(folder, 'hba'), 'host all belfry all trust\nhost all all all scram-sha-256\n', { mode: 0o644 })
  server = await startPostgres({ settings: { hba_file: join(folder, 'hba') } })
  await admin(`create role guarded login superuser password '${password}'`)
})

afterAll(async () => {
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs statements on a connection of its own, and answers the first value of the last one. */
async function admin(...texts: string[]): Promise<unknown> {
  const client = new pg.Client(server.url)
  await client.connect()
  try {
    let value: unknown
    for (const text of texts) value = Object.values((await client.query(text)).rows[0] ?? {})[0]
    return value
  } finally {
    await client.end()
  }
}

/** The URL of a new database, whose sessions begin with these settings. */
async function freshDatabase(settings: Record<string, string> = {}): Promise<string> {
  const name = `boot_${++databases}`
  await admin(`create database ${name}`)
  for (const [key, value] of Object.entries(settings)) await admin(`alter database ${name} set ${key} = ${value}`)
  return urlOf({ pathname: `/${name}` })
}

function urlOf(parts: Partial<Record<'pathname' | 'username' | 'password' | 'port', string>>): string {
  return Object.assign(new URL(server.url), parts).href
}

/** Changes a setting of the whole server, and returns once new sessions have it. */
async function setOnServer(name: string, value: string): Promise<void> {
  await admin(`alter system set ${name} = ${value}`, 'select pg_reload_conf()')
  while ((await admin(`show ${name}`)) !== value);
}

function refused(message: RegExp, hint: RegExp) {
  return { code: 'unavailable', message: expect.stringMatching(message), hint: expect.stringMatching(hint) }
}

describe('a server that may lose acknowledged work', () => {
  const risk = (name: string) =>
    refused(
      new RegExp(`may lose acknowledged work: ${name} is off\\.$`),
      new RegExp(`^Turn ${name} on, or .*allowNonDurable`),
    )

  it('is refused when the sessions of the database do not wait for their commits', async () => {
    const url = await freshDatabase({ synchronous_commit: 'off' })
    const error = await refusalOf(openStore(url))
    expect(error).toMatchObject(risk('synchronous_commit'))
    expect(error.details).toEqual({ settings: ['synchronous_commit'] })
  })

  it.each(['fsync', 'full_page_writes'])('is refused when %s is off, and served again once it is on', async (name) => {
    const url = await freshDatabase()
    await setOnServer(name, 'off')
    const error = await refusalOf(openStore(url))
    await setOnServer(name, 'on')
    expect(error).toMatchObject(risk(name))
    await (await openStore(url)).close()
  })

  it('is accepted by whoever says that losing work is acceptable', async () => {
    const url = await freshDatabase({ synchronous_commit: 'off' })
    await (await openStore(url, { allowNonDurable: true })).close()
  })

  it('is not one that waits for its own disk alone', async () => {
    await (await openStore(await freshDatabase({ synchronous_commit: 'local' }))).close()
  })
})

describe('a server that cannot be written to is refused', () => {
  it('with the setting that makes it so', async () => {
    const url = await freshDatabase({ default_transaction_read_only: 'on' })
    expect(await refusalOf(openStore(url))).toMatchObject(
      refused(/ is read-only\.$/, /^default_transaction_read_only is on/),
    )
  })

  it('and a replica is told from a setting', async () => {
    const replica = { ...fitServer, in_recovery: true, read_only: 'on' }
    expect(await refusalOf(boot(replica))).toMatchObject(
      refused(/^PostgreSQL at here is read-only/, /replica; name the primary/),
    )
  })
})

const fitServer = {
  version: 180_000,
  version_text: '18.0',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  read_only: 'off',
  in_recovery: false,
}

/** The checks on what a server would answer that cannot be had here. */
async function boot(settings: typeof fitServer): Promise<{ close(): Promise<void> }> {
  const pool = { query: async () => ({ rows: [settings] }) } as unknown as pg.Pool
  await refuseUnfitServer(pool, 'here', { schema: 'belfry', connectionsMax: 1, allowNonDurable: false })
  return { close: async () => undefined }
}

describe('a server of a version', () => {
  it('before 14 is refused', async () => {
    const old = { ...fitServer, version: 130_022, version_text: '13.22' }
    const message = 'PostgreSQL at here is version 13.22; Belfry needs 14 or later.'
    expect(await refusalOf(boot(old))).toMatchObject({ code: 'unavailable', message })
  })

  it('from 14 on is fit', async () => {
    await boot({ ...fitServer, version: 140_000 })
  })
})

describe('a connection that cannot be had is refused', () => {
  it('when no server runs there', async () => {
    const probe = createServer()
    await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
    const { port } = probe.address() as { port: number }
    await new Promise((resolve) => probe.close(resolve))
    const error = await refusalOf(openStore(urlOf({ port: String(port) })))
    expect(error).toMatchObject(
      refused(/^PostgreSQL at .* does not answer: connect ECONNREFUSED/, /^Check that the server runs/),
    )
  })

  it('when the host has several addresses, with the reason of the first', () => {
    const both = new AggregateError([new Error('connect ECONNREFUSED ::1:5432'), new Error('other')])
    expect(unreachable('here', both)).toMatchObject(
      refused(/here does not answer: connect ECONNREFUSED ::1:5432\./, /server runs/),
    )
  })

  it('when there is no such database', async () => {
    const error = await refusalOf(openStore(urlOf({ pathname: '/nowhere' })))
    expect(error).toMatchObject(
      refused(/refuses the connection: database "nowhere" does not exist/, /^Create the database/),
    )
  })

  it('when the password is wrong', async () => {
    const error = await refusalOf(openStore(urlOf({ username: 'guarded', password: 'a guess' })))
    expect(error).toMatchObject(
      refused(/refuses the connection: password authentication failed/, /user and the password/),
    )
  })
})

describe('the password is never shown', () => {
  it('by a store that is open', async () => {
    const url = new URL(await freshDatabase())
    const store = await openStore(Object.assign(url, { username: 'guarded', password }).href)
    await store.close()
    expect(store.place).toContain('guarded@127.0.0.1')
    expect(store.place).not.toContain(password)
  })

  it.each([
    ['when the server says no', () => urlOf({ username: 'guarded', password: `${password}!` })],
    ['when there is no such database', () => urlOf({ username: 'guarded', password, pathname: '/nowhere' })],
    ['when no server runs there', () => urlOf({ username: 'guarded', password, port: '1' })],
    ['when it is a parameter', () => `postgres://guarded@127.0.0.1:1/x?password=${password}`],
    ['when there is no such host', () => `postgres://guarded:${password}@nowhere.invalid/x`],
    ['when the URL cannot be read', () => `postgres://guarded:${password}#@127.0.0.1/x`],
    ['when a slash in it ends the host', () => `postgres://guarded:12/${password}@127.0.0.1/x`],
    ['when a question mark in it ends the host', () => `postgres://guarded:12?${password}@127.0.0.1/x`],
    ['when the kind of database is unknown', () => `mysql://guarded:${password}@127.0.0.1/x`],
    ['when the host was forgotten', () => `mysql://guarded:${password}`],
    ['when a slash was forgotten', () => `postgres:/guarded:${password}@127.0.0.1/x`],
  ])('%s', async (_, url) => {
    const error = await refusalOf(openStore(url()))
    expect(shownOf(error)).not.toContain(password)
    expect(error.hint).toBeTruthy()
  })

  it('in a URL, of which all else is', () => {
    expect(withoutPassword(`postgres://me:${password}@host:5433/db?sslmode=require`)).toBe(
      'postgres://me@host:5433/db?sslmode=require',
    )
    expect(withoutPassword(`postgres://host/db?user=me@there&password=${password}`)).toBe(
      'postgres://host/db?user=me%40there',
    )
  })
})
