import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { HttpDoor } from '../../../src/doors/http/http-door.ts'
import { type Serving, serve } from '../../../src/doors/http/http-server.ts'
import { type ConnectionLimits, connectionLimits } from '../../../src/doors/http/server-connections.ts'
import { onPorch } from './porch.ts'

const porch = onPorch()
const few: ConnectionLimits = {
  connectionsMax: 4,
  spareMax: 3,
  headersMs: 20_000,
  checkMs: 60_000,
  unreadMs: 60_000,
  stalledMs: 60_000,
  pipelinedMax: 3,
}
/** More than the operating system keeps for a client that does not read. */
const big = 'x'.repeat(16_000_000)
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** The door of a porch behind a server; `/slow` is answered when the test says so, `/big` at once. */
async function serving(limits: ConnectionLimits) {
  const { desk } = porch()
  const door = new HttpDoor({ context: desk.context, events: desk.events, version: '1.2.3' })
  const arrivals: (() => void)[] = []
  const asked: string[] = []
  const slow = async (request: Request) => {
    asked.push(request.url)
    if (request.url.endsWith('/big')) return new Response(big)
    if (!request.url.endsWith('/slow')) return door.fetch(request)
    await new Promise<void>((resolve) => arrivals.push(resolve))
    return new Response('at last')
  }
  const server = await serve(
    () => ({ fetch: slow, fetchSpare: door.fetchSpare }),
    { host: '127.0.0.1', port: 0 },
    systemClock,
    limits,
  )
  ends.push(
    () => server.close(),
    () => door.close(),
    () => {
      for (const release of arrivals) release()
    },
  )
  return { server, arrivals, asked }
}

const heard = new Map<Socket, string>()

/** A connection that says what is given and no more. */
async function opened({ port }: Serving, said = ''): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  ends.push(() => socket.destroy())
  await once(socket, 'connect')
  socket.on('error', () => undefined).on('data', (data) => heard.set(socket, String(data)))
  socket.write(said)
  return socket
}

/** A connection that asks and reads nothing. */
async function unreading({ port }: Serving, said: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').pause()
  ends.push(() => socket.destroy())
  await once(
    socket.on('error', () => undefined),
    'connect',
  )
  socket.write(said)
  return socket
}

async function many(count: number, open: () => Promise<Socket>): Promise<Socket[]> {
  const sockets: Socket[] = []
  for (let index = 0; index < count; index++) sockets.push(await open())
  return sockets
}

/** What a connection of its own is answered. */
async function answer({ port }: Serving, path: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } })
}

const bigRequest = 'GET /big HTTP/1.1\r\nhost: x\r\n\r\n'
const slowRequest = 'GET /slow HTTP/1.1\r\nhost: x\r\n\r\n'
const slowBody = 'POST /slow HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{'

describe('silent connections do not shut the HTTP door', () => {
  it('more silent connections than the server keeps leave it open to verbs and health checks', async () => {
    const { server } = await serving(few)
    const silent = await many(20, () => opened(server))
    for (const path of ['/live', '/ready', '/openapi.json']) expect((await answer(server, path)).status, path).toBe(200)
    const first = silent[0] as Socket
    if (!first.closed) await once(first, 'close')
  })

  it.each([
    ['half a header', 'GET /live HTTP/1.1\r\nhos'],
    ['half a body', slowBody],
  ])('connections that send %s and stop give way like silent ones', async (_, said) => {
    const { server } = await serving(few)
    await many(20, () => opened(server, said))
    expect((await answer(server, '/ready')).status).toBe(200)
    expect((await answer(server, '/docs')).status).toBe(200)
  })

  it('a silent connection is closed after the time for headers, at the next look of the server', async () => {
    const { server } = await serving({ ...few, headersMs: 50, checkMs: 10 })
    await once(await opened(server), 'close')
    await once(await opened(server, 'GET /live HTTP/1.1\r\n'), 'close')
  })

  it('by default that is within 10 s', () => {
    expect(connectionLimits.headersMs + connectionLimits.checkMs).toBeLessThanOrEqual(10_000)
  })

  it('while every connection is being answered health checks have room, and other requests are told to come back', async () => {
    const { server, arrivals } = await serving(few)
    const busy = await many(few.connectionsMax, () => opened(server, slowRequest))
    await expect.poll(() => arrivals.length).toBe(few.connectionsMax)
    await many(10, () => opened(server))
    for (let check = 0; check < 10; check++) {
      expect((await answer(server, '/live')).status).toBe(200)
      expect((await answer(server, '/ready')).status).toBe(200)
    }
    const refused = await answer(server, '/openapi.json')
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await refused.json()).toMatchObject({ code: 'unavailable' })
    // What was being answered is answered to its end.
    for (const release of arrivals) release()
    for (const socket of busy) await expect.poll(() => heard.get(socket)).toContain('200 OK')
    expect((await answer(server, '/openapi.json')).status).toBe(200)
  })

  it('a connection that has been answered counts as silent again', async () => {
    const { server } = await serving(few)
    const kept = await many(few.connectionsMax, () => opened(server, 'GET /live HTTP/1.1\r\nhost: x\r\n\r\n'))
    for (const socket of kept) await expect.poll(() => heard.get(socket)).toContain('200 OK')
    expect((await answer(server, '/openapi.json')).status).toBe(200)
  })
})

describe('clients that ask and never read do not shut the HTTP door', () => {
  it('a connection whose answers are not read gives way to a new one', async () => {
    const { server, asked } = await serving({ ...few, unreadMs: 20 })
    await many(few.connectionsMax, () => unreading(server, bigRequest.repeat(few.pipelinedMax)))
    await expect.poll(() => asked.length).toBe(few.connectionsMax * few.pipelinedMax)
    await expect.poll(async () => (await answer(server, '/openapi.json')).status, { timeout: 10_000 }).toBe(200)
  })

  it('an answer of which nothing is taken is closed, though no other connection wants its place', async () => {
    const { server } = await serving({ ...few, unreadMs: 20, stalledMs: 20 })
    const accepted = new Promise<Socket>((resolve) => {
      const listen = (message: unknown) => resolve((message as { socket: Socket }).socket)
      subscribe('net.server.socket', listen)
      ends.push(() => unsubscribe('net.server.socket', listen))
    })
    await unreading(server, bigRequest)
    const socket = await accepted
    if (!socket.closed) await once(socket, 'close')
  })

  it('by default that is within 10 s', () => {
    expect(connectionLimits.unreadMs + connectionLimits.stalledMs).toBeLessThanOrEqual(10_000)
  })

  it('an answer that is waited for is not cut off for it', async () => {
    const { server, arrivals, asked } = await serving({ ...few, unreadMs: 20 })
    const waiting = await many(few.connectionsMax - 1, () => opened(server, slowRequest))
    await expect.poll(() => arrivals.length).toBe(waiting.length)
    await unreading(server, bigRequest)
    await expect.poll(() => asked.length).toBe(few.connectionsMax)
    // By then the others have been quiet for longer than the one that gives way.
    await expect.poll(async () => (await answer(server, '/openapi.json')).status, { timeout: 10_000 }).toBe(200)
    for (const release of arrivals) release()
    for (const socket of waiting) await expect.poll(() => heard.get(socket)).toContain('200 OK')
  })

  it('a client that sends more requests than are answered at once, without waiting, is cut off', async () => {
    const { server, arrivals } = await serving(few)
    const patient = await opened(server, slowRequest.repeat(few.pipelinedMax))
    await expect.poll(() => arrivals.length).toBe(few.pipelinedMax)
    await once(await opened(server, slowRequest.repeat(500)), 'close')
    expect(arrivals.length).toBe(2 * few.pipelinedMax)
    for (const release of arrivals) release()
    await expect.poll(() => heard.get(patient)).toContain('200 OK')
  })
})
