import { Socket } from 'node:net'
import pg from 'pg'
import { type Clock, systemClock } from '../../core/clock.ts'
import { isSilence } from './refusal.ts'

/** How long what is under way may take to end when the pool is closed. */
const farewellMsMax = 2_000

/** A pool whose connections may break off at any moment, and which can be closed whatever the server does. */
export class Pool extends pg.Pool {
  readonly #sockets: Sockets
  /** What the server said of its own accord when it ended a connection. */
  readonly #lastWords = new WeakMap<pg.PoolClient, unknown>()

  constructor(config: pg.PoolConfig) {
    const sockets = new Sockets()
    super({ ...config, stream: () => sockets.make() })
    this.#sockets = sockets
    // The pool listens to idle connections alone, and has stopped listening before it hands one out. One that the server
    // ends in between would end this process if there were no listener; the query that follows reports it.
    this.on('connect', (client) => client.on('error', (error) => this.#lastWords.set(client, error)))
    this.on('error', ignored)
  }

  /** Whether the server has ended this connection because nothing was said on it in the middle of a transaction. */
  wasSilent(client: pg.PoolClient): boolean {
    return isSilence(this.#lastWords.get(client))
  }

  /**
   * Ends all connections once `usersAreDone`: the driver leaves callers that still wait for one without an answer. What has
   * not ended in time is cut off, because a server that does not answer may never take leave, and the caller of `close` is done.
   */
  async close(usersAreDone: Promise<unknown>, clock: Pick<Clock, 'after'> = systemClock): Promise<void> {
    const takeBack = clock.after(farewellMsMax, () => this.#sockets.cut())
    await usersAreDone
    await this.end()
    await this.#sockets.areClosed()
    takeBack()
  }
}

/** The driver asks a server to take leave and waits for it; only the holder of the socket can end it without. */
class Sockets {
  readonly #open = new Set<Socket>()
  #isCut = false

  make(): Socket {
    const socket = new Socket()
    // Connecting gives a socket its own way of writing back.
    socket.once('connect', () => gatherWrites(socket))
    this.#open.add(socket)
    socket.once('close', () => this.#open.delete(socket))
    // Those who wait for a connection get one as others lose theirs; it fails like the others, once it has begun.
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
 * From now on the socket sends in one packet what is written in one turn. The driver writes each statement by itself, and
 * each write wakes a server that then has only a part of what it is to do; on a busy machine it takes this process's place
 * to find that out.
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
  // The error is reported elsewhere; see where this listens.
}
