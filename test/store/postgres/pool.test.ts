import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openStore } from '../../../src/open-store.ts'
import { Pool } from '../../../src/store/postgres/pool.ts'
import { clockNow } from '../../../src/store/statement.ts'
import { TestClock } from '../../../src/testing/test-clock.ts'
import { postgresUrl } from '../../postgres.ts'

let server: Awaited<ReturnType<typeof startMiddleman>>

beforeEach(async () => {
  server = await startMiddleman(new URL(postgresUrl()))
})

afterEach(() => server.stop())

/** Stands before the server and passes everything on, until it is told to do something worse. */
async function startMiddleman(real: URL) {
  const state = { endsNewcomers: false, isFrozen: false, newcomersEnded: 0 }
  const sockets = new Set<Socket>()
  // Whoever says goodbye to a frozen server hears nothing back, so this one does not hang up by itself either.
  const listener = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect(Number(real.port), real.hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
    }
    client.on('data', (chunk) => state.isFrozen || upstream.write(chunk))
    client.on('end', () => state.isFrozen || upstream.end())
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => state.isFrozen || client.destroy())
    upstream.on('data', (chunk) => {
      if (state.isFrozen) return
      if (state.endsNewcomers && isReady(chunk)) {
        state.newcomersEnded++
        client.end(Buffer.concat([chunk, farewell]))
      } else client.write(chunk)
    })
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const url = Object.assign(new URL(real), { port: String((listener.address() as AddressInfo).port) }).href
  const stop = async () => {
    for (const socket of sockets) socket.destroy()
    listener.close()
    await once(listener, 'close')
  }
  return { state, url, stop }
}

/** The server says in the same breath that it is ready and that it ends the connection. */
const farewell = Buffer.from(
  'E\0\0\0\0SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0',
)
farewell.writeInt32BE(farewell.length - 1, 1)

function isReady(chunk: Buffer): boolean {
  return chunk.includes('Z\0\0\0\x05I')
}

test('a connection that the server ends just as it comes up fails its step, and not the process', async () => {
  const store = await openStore(server.url, { schema: 'pool', allowNonDurable: true, connectionsMax: 4 })
  server.state.endsNewcomers = true
  const steps = await Promise.allSettled(Array.from({ length: 4 }, () => store.look(clockNow)))
  const failed = steps.filter(({ status }) => status === 'rejected')
  expect(server.state.newcomersEnded).toBeGreaterThan(0)
  expect(failed.length).toBeGreaterThan(0)
  for (const step of failed) expect(step).toMatchObject({ reason: { code: 'unavailable' } })
  server.state.endsNewcomers = false
  expect(await store.look(clockNow)).toBeGreaterThan(0)
  await store.close()
})

/** A pool with one connection that is idle, the socket of that connection, and a clock that only the test moves. */
async function idlePool() {
  const pool = new Pool({ connectionString: server.url, max: 2 })
  const [client] = (await Promise.all([once(pool, 'connect'), pool.query('select 1')]))[0] as [pg.PoolClient]
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
  return { pool, stream, clock: new TestClock() }
}

test('closing says goodbye and is done once the server has hung up', async () => {
  const { pool, stream, clock } = await idlePool()
  await pool.close(Promise.resolve(), clock)
  expect(stream.destroyed).toBe(true)
})

test('closing cuts off a frozen server that never hangs up', async () => {
  const { pool, stream, clock } = await idlePool()
  server.state.isFrozen = true
  const closed = pool.close(Promise.resolve(), clock)
  await once(stream, 'finish')
  expect(stream.destroyed).toBe(false)
  clock.advance(2_000)
  await closed
  expect(stream.destroyed).toBe(true)
})

test('closing cuts off what is asked of a frozen server also for those who wait for a connection', async () => {
  const { pool, clock } = await idlePool()
  server.state.isFrozen = true
  const asked = [pool.query('select 1'), pool.query('select 2'), pool.query('select 3')]
  const failures = Promise.allSettled(asked)
  const closed = pool.close(failures, clock)
  clock.advance(2_000)
  await closed
  expect((await failures).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
})

test('a store on a frozen server can be closed, and whoever still waits for an answer is told', async () => {
  const store = await openStore(server.url, { schema: 'pool', allowNonDurable: true })
  server.state.isFrozen = true
  const asked = expect(store.look(clockNow)).rejects.toMatchObject({ code: 'unavailable' })
  await store.close()
  await asked
})

test('what was asked before a store was closed is answered, also what still waits for a connection', async () => {
  const store = await openStore(server.url, { schema: 'pool', allowNonDurable: true, connectionsMax: 1 })
  const asked = Array.from({ length: 3 }, () => store.look(clockNow))
  const closed = store.close()
  expect((await Promise.allSettled(asked)).map(({ status }) => status)).toEqual(Array(3).fill('fulfilled'))
  await closed
})

test('what is written in one turn is kept until its end and leaves in one packet', async () => {
  const { pool, stream, clock } = await idlePool()
  const client = await pool.connect()
  const asked = [client.query('select 1'), client.query('select $1::int', [1])]
  expect([stream.writableCorked, stream.writableLength > 0]).toEqual([1, true])
  await Promise.all(asked)
  expect([stream.writableCorked, stream.writableLength]).toEqual([0, 0])
  client.release()
  await pool.close(Promise.resolve(), clock)
})
