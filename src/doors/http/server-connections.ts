import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How many connections a server keeps, and how long a silent one lasts. */
export interface ConnectionLimits {
  readonly connectionsMax: number
  /** Further connections on which only `/live` and `/ready` are answered. */
  readonly spareMax: number
  /** The headers of a request must have arrived after this time. */
  readonly headersMs: number
  /** How often the server looks for connections that are over their time. A silent one lasts `headersMs + checkMs` at most. */
  readonly checkMs: number
  /** When the client has taken nothing of an answer for this time, the connection may give way to a new one. */
  readonly unreadMs: number
  /** When it has taken nothing for this time more, the connection is closed. */
  readonly stalledMs: number
  /** Requests of one connection that are answered at the same time. A client that sends more without waiting is cut off. */
  readonly pipelinedMax: number
}

export const connectionLimits: ConnectionLimits = {
  connectionsMax: 1_000,
  spareMax: 50,
  headersMs: 9_000,
  checkMs: 1_000,
  unreadMs: 1_000,
  stalledMs: 8_000,
  pipelinedMax: 8,
}

type OwnLimits = Omit<ConnectionLimits, 'headersMs' | 'checkMs'>

/**
 * Decides which connection gives way when a server has too many. A client that opens connections and says nothing must
 * not keep others out, so a new connection takes the place of the one that has been silent longest, then of one whose
 * request has not arrived whole, then of one whose client does not read its answer. A request that is being answered to a
 * client that reads is never cut off for another: while all connections are being answered, a new one is spare, and serves
 * health checks alone.
 *
 * A client that sends requests and never reads would otherwise be answered for ever, since an answer ends when it is sent
 * whole. Only what was written and not taken counts: an answer that is still waited for, or an event stream in which
 * nothing happens, is quiet and has nothing unsent.
 */
export class Connections {
  readonly #limits: OwnLimits
  readonly #open = new Set<Socket>()
  /** Connections without a request, the one that has been silent longest first. */
  readonly #silent = new Set<Socket>()
  /** Connections whose request has a body that has not arrived whole. */
  readonly #sending = new Set<Socket>()
  /** Connections whose client takes nothing of what was written to it, the one found so first at the beginning. */
  readonly #stalled = new Set<Socket>()
  readonly #spare = new Set<Socket>()
  /** How many requests of a connection are being answered: a client may send several without waiting. */
  readonly #asked = new WeakMap<Socket, number>()

  constructor(limits: OwnLimits) {
    this.#limits = limits
  }

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.#opened(socket))
    // Before the request is answered, so that one too many is not.
    server.prependListener('request', (incoming, outgoing) => this.#began(incoming, outgoing))
    // Node measures how long nothing was read or written, and counts what the client has taken of a long write.
    server.setTimeout(this.#limits.unreadMs, (socket) => this.#quiet(socket))
    // Beyond this the operating system's connection is dropped without a look at it.
    server.maxConnections = this.#limits.connectionsMax + this.#limits.spareMax
  }

  isSpare(socket: Socket): boolean {
    return this.#spare.has(socket)
  }

  #opened(socket: Socket): void {
    socket.once('close', () => this.#forget(socket))
    const isFull = this.#open.size >= this.#limits.connectionsMax
    const idlest = isFull ? (firstOf(this.#silent) ?? firstOf(this.#sending) ?? this.#firstStalled) : undefined
    if (isFull && idlest === undefined) {
      this.#serveHealth(socket)
    } else {
      if (idlest !== undefined) this.#end(idlest)
      this.#open.add(socket)
      this.#silent.add(socket)
    }
  }

  /** One spare place stays free, so that the operating system's next connection is looked at too. */
  #serveHealth(socket: Socket): void {
    this.#spare.add(socket)
    const oldest = firstOf(this.#spare)
    if (this.#spare.size >= this.#limits.spareMax && oldest !== undefined) this.#end(oldest)
  }

  #began(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { socket } = incoming
    const asked = (this.#asked.get(socket) ?? 0) + 1
    this.#asked.set(socket, asked)
    outgoing.once('close', () => this.#answered(socket))
    if (asked > this.#limits.pipelinedMax) this.#end(socket)
    if (!this.#open.has(socket)) return
    this.#silent.delete(socket)
    if (hasBody(incoming)) {
      this.#sending.add(socket)
      incoming.once('end', () => this.#sending.delete(socket))
    }
  }

  /** Nothing was read or written for a while. A connection that waits for its answer has nothing unsent, and stays. */
  #quiet(socket: Socket): void {
    const wasStalled = this.#stalled.delete(socket)
    const isStalled = socket.writableLength > 0
    // It was answered, and has been kept for a next request for as long as the server keeps one.
    const isKept = !isStalled && this.#asked.get(socket) === 0
    if (isKept || (isStalled && (wasStalled || !this.#open.has(socket)))) {
      this.#end(socket)
    } else if (isStalled) {
      this.#stalled.add(socket)
      socket.setTimeout(this.#limits.stalledMs)
    } else if (wasStalled) {
      socket.setTimeout(this.#limits.unreadMs)
    }
  }

  get #firstStalled(): Socket | undefined {
    for (const socket of this.#stalled) if (socket.writableLength > 0) return socket
    return undefined
  }

  #answered(socket: Socket): void {
    const left = (this.#asked.get(socket) ?? 1) - 1
    this.#asked.set(socket, left)
    // The client has read an answer to its end: what it does with the next is measured anew.
    if (this.#stalled.delete(socket) && left > 0) socket.setTimeout(this.#limits.unreadMs)
    if (left > 0 || !this.#open.has(socket)) return
    this.#sending.delete(socket)
    this.#silent.add(socket)
  }

  #end(socket: Socket): void {
    this.#forget(socket)
    socket.destroy()
  }

  #forget(socket: Socket): void {
    for (const sockets of [this.#open, this.#silent, this.#sending, this.#stalled, this.#spare]) sockets.delete(socket)
  }
}

function firstOf(sockets: ReadonlySet<Socket>): Socket | undefined {
  const [first] = sockets
  return first
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
