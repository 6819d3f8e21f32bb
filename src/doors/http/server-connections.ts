import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How many connections a server keeps, and how long a silent one lasts. */
export interface ConnectionLimits {
  readonly connectionsMax: number
  /** Further connections that serve only `/live` and `/ready`. */
  readonly spareMax: number
  /** The time in which the headers of a request must arrive. */
  readonly headersMs: number
  /** How often overdue connections are closed. A silent one lasts at most `headersMs + checkMs`. */
  readonly checkMs: number
  /** A client that has read nothing of a response for this time may lose its connection to a new one. */
  readonly unreadMs: number
  /** After this further time without reading, the connection is closed. */
  readonly stalledMs: number
  /** Requests of one connection that are answered at the same time. A client that pipelines more is disconnected. */
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
 * Decides which connection gives way when a server has too many. A client that opens connections and sends nothing must not
 * keep others out, so a new connection replaces the one that has been silent longest, then one whose request is incomplete,
 * then one whose client does not read its response. A response to a client that reads is never cut off: while all
 * connections are busy, a new one is spare and serves health checks only.
 *
 * A client that sends requests and never reads would otherwise hold its connection for ever, because a response ends only when
 * it is sent completely. Only unsent bytes count: a pending response, or a quiet event stream, has none.
 */
export class Connections {
  readonly #limits: OwnLimits
  readonly #open = new Set<Socket>()
  /** Connections without a request, the longest silent first. */
  readonly #silent = new Set<Socket>()
  /** Connections whose request body is incomplete. */
  readonly #sending = new Set<Socket>()
  /** Connections whose client does not read what was written, in the order in which they were found. */
  readonly #stalled = new Set<Socket>()
  readonly #spare = new Set<Socket>()
  /** Requests of a connection in progress: a client may pipeline several. */
  readonly #asked = new WeakMap<Socket, number>()

  constructor(limits: OwnLimits) {
    this.#limits = limits
  }

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.#opened(socket))
    // Checked before the request is answered, so that one too many is not answered.
    server.prependListener('request', (incoming, outgoing) => this.#began(incoming, outgoing))
    // Node's socket timeout measures reads and writes, and counts progress of a long write.
    server.setTimeout(this.#limits.unreadMs, (socket) => this.#quiet(socket))
    // Node drops connections beyond this limit without an event.
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

  /** Keeps one spare place free, so that the next connection can be judged too. */
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

  /** The socket was idle for a while. A connection that waits for its response has no unsent bytes, and stays. */
  #quiet(socket: Socket): void {
    const wasStalled = this.#stalled.delete(socket)
    const isStalled = socket.writableLength > 0
    // It was answered, and its keep-alive time is over.
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
    // The client has read a whole response: the next one is measured from zero.
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
