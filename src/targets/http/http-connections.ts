import type { Socket } from 'node:net'
import type { Client } from 'undici'
import { systemClock } from '../../core/clock.ts'
import { connect, type Route } from './connect.ts'

/** A connection to one origin. It carries one exchange at a time. */
export interface Connection {
  readonly client: Client
  readonly socket: Socket
  readonly key: string
}

/**
 * How long an unused connection is kept. Servers close unused ones by themselves, most after 2 to 5 seconds or more, and a
 * request that is sent at just that moment fails although nothing is wrong. It cannot simply be sent again, because the server
 * may have received it. So a connection is reused only by requests in quick succession, for which opening a new connection each
 * time would run out of ports.
 */
const unusedMsMax = 1_000
/** The client would end an unused connection by itself, perhaps while it is being taken; our own timer is always first. */
const clientPatienceMs = 60_000

let undici: Promise<typeof import('undici')> | undefined

/**
 * The connections of this process to targets. The number in use is unlimited: a target that hangs holds only its own. The guard
 * checked the address of each connection when it was opened, and a connection stays with that address.
 */
export class Connections {
  readonly #route: Route
  readonly #all = new Set<Connection>()
  readonly #unused = new Map<string, Connection[]>()
  /** Cancels the timer of each unused connection. */
  readonly #reprieves = new Map<Connection, () => void>()

  constructor(route: Route) {
    this.#route = route
  }

  /** How many are open, in use or not. */
  get size(): number {
    return this.#all.size
  }

  /** An open unused connection, or a new one. The caller returns it by `keep` or ends it by `end`. */
  async take(url: URL, signal: AbortSignal): Promise<Connection> {
    const unused = this.#unused.get(url.origin) ?? []
    for (let connection = unused.pop(); connection !== undefined; connection = unused.pop()) {
      this.#reprieve(connection)
      if (!connection.socket.destroyed) return connection
    }
    // The HTTP client is loaded at the first request: loading takes as long as the rest of a worker's start, and
    // many workers never send a request.
    undici ??= import('undici')
    const { Client } = await undici
    const socket = await connect(url, this.#route, signal)
    return this.#added(Client, { key: url.origin, socket })
  }

  /** Keeps the connection for the next request. If the server wanted to end it, it is already closed at this point. */
  keep(connection: Connection): void {
    if (connection.socket.destroyed || !this.#all.has(connection)) return
    const unused = this.#unused.get(connection.key)
    if (unused === undefined) this.#unused.set(connection.key, [connection])
    else unused.push(connection)
    this.#reprieves.set(
      connection,
      systemClock.after(unusedMsMax, () => void this.end(connection)),
    )
  }

  /** Ends the connection whatever it is doing, and resolves when it is closed. */
  async end(connection: Connection): Promise<void> {
    this.#dropped(connection)
    await connection.client.destroy()
    // A client without a request has not yet taken over its connection.
    connection.socket.destroy()
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map((connection) => this.end(connection)))
  }

  #added(OneClient: typeof Client, { key, socket }: { key: string; socket: Socket }): Connection {
    const client = new OneClient(key, {
      connect: once(socket),
      pipelining: 1,
      // The attempt's own timeout covers the whole exchange; these timeouts would cut a longer one
      // short.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: clientPatienceMs,
      keepAliveMaxTimeout: clientPatienceMs,
    })
    const connection = { client, socket, key }
    this.#all.add(connection)
    client.once('disconnect', () => void this.end(connection))
    return connection
  }

  #reprieve(connection: Connection): void {
    this.#reprieves.get(connection)?.()
    this.#reprieves.delete(connection)
  }

  #dropped(connection: Connection): void {
    this.#reprieve(connection)
    this.#all.delete(connection)
    const unused = this.#unused.get(connection.key)
    if (unused === undefined) return
    // The oldest is the first in the list and the first to end, so it is found at once.
    const at = unused.indexOf(connection)
    if (at >= 0) unused.splice(at, 1)
    if (unused.length === 0) this.#unused.delete(connection.key)
  }
}

/**
 * Hands over the checked connection. A client that has lost its connection gets no other one, because that
 * would be unchecked.
 */
function once(socket: Socket) {
  let isGiven = false
  return (_options: unknown, answer: (...answer: [null, Socket] | [Error, null]) => void) => {
    const isLost = isGiven || socket.destroyed
    isGiven = true
    // The connection is passed asynchronously: a client that gets it synchronously does not use it.
    queueMicrotask(() => {
      if (isLost) answer(Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' }), null)
      else answer(null, socket)
    })
  }
}
