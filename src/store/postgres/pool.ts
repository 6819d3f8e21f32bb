import { Socket } from 'node:net'
import pg from 'pg'
import { type Clock, systemClock } from '../../core/clock.ts'
import { isSilence } from './refusal.ts'

/** How long running queries may take when the pool is closed. */
const farewellMsMax = 2_000

/** A pool that survives broken connections, and can be closed whatever the server does. */
export class Pool extends pg.Pool {
  readonly #sockets: Sockets
  /** The error with which the server ended a connection. */
  readonly #lastWords = new WeakMap<pg.PoolClient, unknown>()

  constructor(config: pg.PoolConfig) {
    const sockets = new Sockets()
    super({ ...config, stream: () => sockets.make() })
    this.#sockets = sockets
    // The pool listens to idle connections only, and stops before it lends one. A connection that the server ends in between
    // would crash this process without a listener; the next query reports the error.
    this.on('connect', (client) => client.on('error', (error) => this.#lastWords.set(client, error)))
    this.on('error', ignored)
  }

  /** Whether the server ended this connection because a transaction was idle too long. */
  wasSilent(client: pg.PoolClient): boolean {
    return isSilence(this.#lastWords.get(client))
  }

  /**
   * Ends all connections once `usersAreDone`: the driver never answers callers that still wait for one. Connections that do not
   * end in time are cut, because an unresponsive server may never close them, and the caller of `close` should not wait for
   * that.
   */
  async close(usersAreDone: Promise<unknown>, clock: Pick<Clock, 'after'> = systemClock): Promise<void> {
    const takeBack = clock.after(farewellMsMax, () => this.#sockets.cut())
    await usersAreDone
    await this.end()
    await this.#sockets.areClosed()
    takeBack()
  }
}

/**
 * The driver waits for the server to close a connection; only the owner of the socket can end the connection
 * without that.
 */
class Sockets {
  readonly #open = new Set<Socket>()
  #isCut = false

  make(): Socket {
    const socket = new Socket()
    // Connecting resets the socket's write methods.
    socket.once('connect', () => gatherWrites(socket))
    this.#open.add(socket)
    socket.once('close', () => this.#open.delete(socket))
    // Callers that still wait for a connection get one when others lose theirs; it fails like the others once it has
    // been opened.
    if (this.#isCut) queueMicrotask(() => socket.destroy())
    return socket
  }

  cut(): void {
    this.#isCut = true
    for (const socket of this.#open) socket.destroy()
  }

  async areClosed(): Promise<void> {
    await Promise.all([...this.#open].map((socket) => new Promise((resolve) => socket.once('close', resolve))))
  }
}

/**
 * Makes the socket send everything written in one turn as one packet. The driver writes each statement separately, and each write
 * wakes a server that has only a part of its input; on a busy machine the server takes this process's CPU to find that out.
 */
function gatherWrites(socket: Socket): void {
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean
  let isGathering = false
  const gather = (...args: unknown[]) => {
    if (!isGathering) {
      isGathering = true
      socket.cork()
      process.nextTick(() => {
        isGathering = false
        socket.uncork()
      })
    }
    return write(...args)
  }
  Object.assign(socket, { write: gather })
}

function ignored(): void {
  // The next query reports the error.
}
