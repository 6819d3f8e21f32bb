import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startPostgres } from '../../../scripts/postgres-server.mjs'
import { systemClock } from '../../../src/core/clock.ts'
import { migrations, openStore } from '../../../src/open-store.ts'
import { parts } from '../../../src/parts.ts'
import { migrate } from '../../../src/store/migrations/migrate.ts'
import type { Store } from '../../../src/store/port.ts'
import { SqlStore } from '../../../src/store/sql-store.ts'
import { SqliteDatabase } from '../../../src/store/sqlite/database.ts'
import { openHandle } from '../../../src/store/sqlite/driver.ts'
import { TestClock } from '../../../src/testing/test-clock.ts'
import { Desk, verbsAt } from '../desk.ts'
import { checkIn, inEachWard, minute, second } from './ward.ts'

const megabyte = 1024 * 1024

function doctorOf(store: Store, clock = new TestClock()) {
  onTestFinished(() => store.close())
  const { context } = new Desk(store, clock)
  return verbsAt(() => context).store.doctor
}

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-doctor-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'belfry.db')
}

inEachWard((ward) => {
  it.each([
    [99, 'Install the newer Belfry'],
    [0, 'Open the store again'],
  ])('schema: version %i is not the one that this Belfry knows, and wrong', async (version, next) => {
    await ward().sql('delete from belfry.migration')
    await ward().sql(`insert into belfry.migration (version, name, applied_at) values (${version}, 'another', 0)`)
    expect(checkIn(await ward().doctor(), 'schema')).toMatchObject({
      state: 'wrong',
      findings: [{ says: expect.stringContaining(`version ${version},`), next: expect.stringContaining(next) }],
    })
  })

  it('clock: a machine beside the store’s clock is noted from a second on, and wrong from a minute on', async () => {
    const clock = new TestClock(ward().clock.now())
    const { doctor } = verbsAt(() => ({ ...ward().context, clock })).store
    const look = async (apartMs: number) => {
      clock.set(ward().clock.now() + apartMs)
      return checkIn(await doctor(), 'clock')
    }
    expect((await look(second)).state).toBe('ok')
    expect(await look(1.5 * second)).toMatchObject({
      state: 'note',
      findings: [{ says: expect.stringContaining('1s500ms ahead of') }],
    })
    expect((await look(-minute)).state).toBe('note')
    expect(await look(-minute - 1)).toMatchObject({
      state: 'wrong',
      findings: [{ says: expect.stringContaining('behind') }],
    })
  })

  it('clock: a worker that was heard of later than now shows that the clock was set back', async () => {
    const { clock } = ward()
    await ward().worker()
    clock.set(clock.now() - second)
    expect(checkIn(await ward().doctor(), 'clock').state).toBe('ok')
    clock.set(clock.now() - minute)
    expect(checkIn(await ward().doctor(), 'clock')).toMatchObject({
      state: 'wrong',
      findings: [{ subject: 'the store’s clock', says: expect.stringContaining('1m1s later') }],
    })
  })
})

describe('a SQLite file', () => {
  it('whose log has grown too long is noted; fix cuts it back, and a large file is read only when asked to', async () => {
    const file = newFile()
    const store = await openStore(`sqlite:${file}`)
    const doctor = doctorOf(store)
    const handle = openHandle(file)
    onTestFinished(() => handle.close())
    handle.exec(`create table big as select zeroblob(${70 * megabyte}) as body`)
    const before = await doctor()
    expect(checkIn(before, 'store')).toMatchObject({
      state: 'note',
      findings: [{ subject: `${file}-wal`, says: expect.stringMatching(/7[01]\./), next: 'belfry doctor --fix' }],
    })
    handle.exec('drop table big')
    const after = await doctor({ fix: true })
    expect(checkIn(after, 'store')).toMatchObject({
      state: 'ok',
      says: expect.stringMatching(/ 7[01]\.\d MB of it free, and 0\.0 MB in its log/),
      findings: [{ fixed: expect.stringContaining('The log was truncated') }],
    })
    expect(statSync(`${file}-wal`).size).toBe(0)
    expect(checkIn(after, 'integrity').says).toMatch(/^The file of 7[01]\.\d MB was not read; belfry doctor --deep/)
    expect(checkIn(await doctor({ deep: true }), 'integrity').says).toMatch(/^The whole file was read/)
  })

  it('that is damaged is told with what is damaged, without anything being started on it', async () => {
    const file = newFile()
    const store = await openStore(`sqlite:${file}`)
    const doctor = doctorOf(store)
    const handle = openHandle(file)
    onTestFinished(() => handle.close())
    handle.exec(`create table other as select 1 as one; pragma wal_checkpoint(truncate)`)
    const { rootpage } = handle.prepare(`select rootpage from sqlite_schema where name = 'other'`).get() as {
      rootpage: number
    }
    const descriptor = openSync(file, 'r+')
    writeSync(descriptor, Buffer.alloc(200, 0xff), 0, 200, (rootpage - 1) * 4_096)
    closeSync(descriptor)
    expect(checkIn(await doctor(), 'integrity')).toMatchObject({
      state: 'wrong',
      says: expect.stringContaining('The file is damaged: '),
      findings: [{ subject: file, next: expect.stringContaining('restore it from a backup') }],
    })
  })

  it.each([
    ['pragma journal_mode = delete', 'journal_mode', 'delete'],
    ['pragma journal_mode = wal; pragma synchronous = normal', 'synchronous', 'normal'],
  ])('under "%s" may lose what was acknowledged, which is wrong', async (pragmas, setting, is) => {
    const file = newFile()
    const handle = openHandle(file)
    handle.exec(pragmas)
    const database = new SqliteDatabase(handle, file, systemClock)
    await migrate(database, migrations)
    handle.exec(`insert into namespace (id, name, created_at) values (1, 'default', 0)`)
    const doctor = doctorOf(new SqlStore(database, { ns: 1, namespace: 'default', defaultMaxConcurrent: 5, parts }))
    expect(checkIn(await doctor(), 'durability')).toMatchObject({
      state: 'wrong',
      findings: [{ subject: setting, says: expect.stringContaining(`${setting} is ${is}`) }],
    })
  })

  it('that is none, because the store lives in memory, is noted', async () => {
    const desk = await Desk.open()
    expect(checkIn(await doctorOf(desk.store, desk.clock)(), 'durability')).toMatchObject({
      state: 'note',
      findings: [{ subject: 'memory:', next: expect.stringContaining('sqlite:') }],
    })
  })
})

describe('a PostgreSQL server', () => {
  let server: Awaited<ReturnType<typeof startPostgres>>
  beforeAll(async () => {
    server = await startPostgres({ settings: { fsync: 'off', full_page_writes: 'off' } })
  })
  afterAll(() => server.stop())
  const sockets = new Set<Socket>()

  /** Stands between a store and its server, and lets in whom it is told to. */
  async function startDoorkeeper(lets: (greeting: string) => boolean) {
    const { hostname, port } = new URL(server.url)
    const keeper = createServer((client) => {
      const upstream = connect(Number(port), hostname)
      for (const socket of [client, upstream]) {
        sockets.add(socket.on('error', () => undefined))
        socket.on('close', () => (socket === client ? upstream : client).destroy())
      }
      client.once('data', (greeting) => {
        if (lets(greeting.toString('latin1'))) {
          upstream.write(greeting)
          client.pipe(upstream)
        } else client.destroy()
      })
      upstream.pipe(client)
    })
    await new Promise<void>((resolve) => keeper.listen(0, '127.0.0.1', resolve))
    const close = () => {
      keeper.close()
      for (const socket of sockets) socket.destroy()
    }
    onTestFinished(close)
    const url = Object.assign(new URL(server.url), { port: String((keeper.address() as AddressInfo).port) }).href
    return { url, close }
  }

  it('whose settings may lose what was acknowledged is wrong, setting by setting, also once it is open', async () => {
    const url = `${server.url}?options=-c%20synchronous_commit%3Doff`
    const doctor = doctorOf(await openStore(url, { schema: 'risky', allowNonDurable: true }))
    const { findings, state } = checkIn(await doctor(), 'durability')
    expect(state).toBe('wrong')
    expect(findings.map(({ subject }) => subject)).toEqual(['fsync', 'synchronous_commit', 'full_page_writes'])
    expect(findings[0]?.next).toContain('alter system set fsync = on; select pg_reload_conf()')
  })

  it('whose notifications arrive is heard, by a real connection within the time that there is', async () => {
    const store = await openStore(server.url, { schema: 'heard', allowNonDurable: true })
    const doctor = doctorOf(store)
    expect(store.hears()).toBe(false)
    expect(checkIn(await doctor(), 'listeners')).toMatchObject({ state: 'ok', findings: [] })
  })

  it('whose notifications do not arrive is wrong, with the pooler as the likely reason', async () => {
    let refused: () => void
    const isRefused = new Promise<void>((resolve) => {
      refused = resolve
    })
    const { url } = await startDoorkeeper((greeting) => {
      if (!greeting.includes('belfry listen')) return true
      refused()
      return false
    })
    const clock = new TestClock()
    const doctor = doctorOf(await openStore(url, { schema: 'deaf', allowNonDurable: true }), clock)
    const answer = doctor()
    await isRefused
    clock.advance(5_000)
    expect(checkIn(await answer, 'listeners')).toMatchObject({
      state: 'wrong',
      findings: [{ says: expect.stringContaining('within 5s'), next: expect.stringContaining('PgBouncer') }],
    })
  })

  it('that went away is told as a store that does not answer, and nothing else is looked at', async () => {
    const { url, close } = await startDoorkeeper(() => true)
    const doctor = doctorOf(await openStore(url, { schema: 'away', allowNonDurable: true }))
    close()
    const answer = await doctor({ fix: true })
    expect(answer.ok).toBe(false)
    expect(answer.checks.map(({ check, state }) => [check, state])).toEqual([['store', 'wrong']])
    expect(answer.checks[0]?.findings).toMatchObject([{ says: expect.stringMatching(/No connection|broke off/) }])
  })
})
