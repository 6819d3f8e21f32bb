import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Listener } from '../../../src/store/postgres/listen.ts'
import { TestClock } from '../../../src/testing/test-clock.ts'
import { postgresUrl } from '../../postgres.ts'

const channel = 'belfry "listen" test'
let others: pg.Client
let names = 0
let started: Listener[] = []

beforeEach(async () => {
  others = new pg.Client(postgresUrl())
  await others.connect()
})

afterEach(async () => {
  await Promise.all(started.map((listener) => listener.stop()))
  started = []
  await others.end()
})

const notify = (to: string, payload: string) => others.query('select pg_notify($1, $2)', [to, payload])

/** A listener whose pings arrive, unless they are lost, and whose clock stands still until it is told to move. */
function stage({ url = postgresUrl() } = {}) {
  const clock = new TestClock()
  const pingChannel = `belfry ping test ${++names}`
  const pings: { token: string; isLost: boolean }[] = []
  const state = { losesPings: false, cannotPing: false }
  const heard: boolean[] = []
  const told: string[] = []
  const application_name = `listener ${names}`
  const listener = new Listener({
    clock,
    connection: { connectionString: url, application_name },
    channel,
    pingChannel,
    self: 'me',
    heard(what) {
      heard.push(listener.isProven)
      told.push(what)
    },
    async ping(token) {
      pings.push({ token, isLost: state.losesPings })
      if (state.cannotPing) throw new Error('gone')
      if (!state.losesPings) await notify(pingChannel, token)
    },
  })
  started.push(listener)
  const connections = async () => {
    const text = 'select pid from pg_stat_activity where application_name = $1'
    return (await others.query(text, [application_name])).rows.map(({ pid }) => pid as number)
  }
  return { clock, listener, heard, told, pings, state, connections }
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 1))
}

test('it hears nothing for certain before it has heard its own ping, and then tells to look once', async () => {
  const { clock, listener, heard, pings, state } = stage()
  state.losesPings = true
  expect(listener.isProven).toBe(false)
  await until(() => pings.length === 1)
  expect(listener.isProven).toBe(false)
  state.losesPings = false
  clock.advance(5_000)
  await until(async () => {
    clock.advance(200)
    return listener.isProven
  })
  expect(heard).toEqual([true])
})

test('it is called for what others tell, and not for what it tells itself', async () => {
  const { listener, heard } = stage()
  await until(() => listener.isProven)
  await notify(channel, 'me')
  await notify(channel, '')
  await notify(channel, 'somebody')
  await until(() => heard.length === 3)
  await notify(channel, 'me')
  await notify(channel, 'somebody')
  await until(() => heard.length >= 4)
  expect(heard).toHaveLength(4)
})

test('it says what kind of thing happened where it is told so in words it knows, and that it may be anything where not', async () => {
  const { listener, told } = stage()
  await until(() => listener.isProven)
  for (const words of ['somebody work', 'me schedules', 'somebody cancels work', 'somebody', 'somebody work weather']) {
    await notify(channel, words)
  }
  await until(() => told.length >= 6)
  expect(told).toEqual(['anything', 'work', 'work', 'cancels', 'anything', 'anything'])
})

test('a connection that is open but delivers nothing is replaced, and whoever listens is told when it goes and comes', async () => {
  const { clock, listener, heard, pings, state, connections } = stage()
  await until(() => listener.isProven)
  const [first] = await connections()
  state.losesPings = true
  clock.advance(10_000)
  await until(() => pings.length === 2)
  expect(listener.isProven).toBe(true)
  clock.advance(5_000)
  await until(() => !listener.isProven)
  expect(heard).toEqual([true, false])
  state.losesPings = false
  await until(async () => {
    clock.advance(100)
    return listener.isProven
  })
  expect(heard).toEqual([true, false, true])
  await until(async () => (await connections()).length === 1)
  expect(await connections()).not.toEqual([first])
})

test('a connection that delivers its pings is kept', async () => {
  const { clock, listener, heard, pings, connections } = stage()
  await until(() => listener.isProven)
  const before = await connections()
  for (const seen of [2, 3, 4]) {
    clock.advance(10_000)
    await until(() => pings.length === seen)
    await notify(channel, 'after the ping, in the order of commits')
    await until(() => heard.length === seen)
  }
  expect(await connections()).toEqual(before)
  expect(listener.isProven).toBe(true)
})

test('where the ping cannot even be sent nobody knows whether it hears, and it is not believed', async () => {
  const { clock, listener, pings, state } = stage()
  await until(() => listener.isProven)
  state.cannotPing = true
  clock.advance(10_000)
  await until(() => pings.length === 2)
  await until(() => !listener.isProven)
})

test('stopping ends the connection, takes all timers back, and calls nobody', async () => {
  const { clock, listener, heard, connections } = stage()
  await until(() => listener.isProven)
  await listener.stop()
  await until(async () => (await connections()).length === 0)
  clock.advance(600_000)
  expect([listener.isProven, heard]).toEqual([false, [true]])
  expect(await connections()).toEqual([])
})

/** A server that takes connections and does not say a word. */
async function startMute(): Promise<{ url: string; server: Server; sockets: Set<Socket> }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    socket.resume()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `postgres://u@127.0.0.1:${(server.address() as AddressInfo).port}/d`, server, sockets }
}

test('stopping does not wait for a server that does not say a word', async () => {
  const { url, server, sockets } = await startMute()
  const { listener } = stage({ url })
  await until(() => sockets.size === 1)
  await listener.stop()
  await until(() => sockets.size === 0)
  server.close()
})

test('a server that is away is tried again, less and less often', async () => {
  const { url, server, sockets } = await startMute()
  let tries = 0
  server.on('connection', (socket) => {
    tries++
    socket.destroy()
  })
  const { clock, listener } = stage({ url })
  const waits: number[] = []
  for (let turn = 1; turn <= 5; turn++) {
    await until(() => tries === turn && sockets.size === 0)
    const before = clock.monotonic()
    await until(() => {
      clock.advance(10)
      return tries > turn
    })
    waits.push(clock.monotonic() - before)
  }
  expect(waits.at(-1)).toBeGreaterThan(5 * (waits[0] as number))
  await listener.stop()
  server.close()
})
