import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import type { Clock } from '../../core/clock.ts'
import { BelfryError } from '../../core/error.ts'
import type { ListenAddress } from '../../operations/input/listen-address.ts'
import { type ConnectionLimits, Connections, connectionLimits } from './server-connections.ts'

export interface Serving {
  readonly host: string
  readonly port: number
  /** Accepts no more requests, and ends event streams. */
  close(): Promise<void>
}

export interface Answering {
  readonly fetch: (request: Request) => Promise<Response>
  /** Answers on a connection beyond the limit: health checks, and a refusal for everything else. */
  readonly fetchSpare: (request: Request) => Promise<Response>
}

/** The time in which a whole request must arrive. */
const requestTimeoutMs = 30_000
const keepAliveMs = 30_000
/** How long requests in progress may take when the server closes. */
const closeGraceMs = 2_000

/** Listens at an address. Port 0 is any free port. */
export async function serve(
  answering: () => Answering,
  { host, port }: ListenAddress,
  clock: Pick<Clock, 'after'>,
  limits: ConnectionLimits = connectionLimits,
): Promise<Serving> {
  const connections = new Connections(limits)
  const fetch = async (request: Request, { incoming }: { readonly incoming: Pick<IncomingMessage, 'socket'> }) => {
    // It arrived on a connection that is closed by now: do nothing for it.
    if (incoming.socket.destroyed) return new Response(null, { status: 503 })
    return connections.isSpare(incoming.socket) ? answering().fetchSpare(request) : answering().fetch(request)
  }
  const serverOptions = {
    headersTimeout: limits.headersMs,
    connectionsCheckingInterval: limits.checkMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveMs,
  }
  const server = createAdaptorServer({ fetch: fetch as never, serverOptions }) as Server
  connections.watch(server)
  await listening(server, { host, port })
  return { host, port: (server.address() as AddressInfo).port, close: () => closed(server, clock) }
}

function listening(server: Server, { host, port }: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(unheard(cause, { host, port })))
    server.listen(port, host, () => resolve())
  })
}

function unheard(cause: NodeJS.ErrnoException, { host, port }: ListenAddress): BelfryError {
  const isTaken = cause.code === 'EADDRINUSE'
  const why = isTaken ? 'the address is in use' : (cause.code ?? cause.message)
  return new BelfryError('unavailable', `Cannot listen at ${host}:${port}: ${why}.`, {
    hint: isTaken ? 'Choose another with --listen, such as --listen 4748.' : 'Choose another with --listen.',
    details: { host, port, isTaken },
    cause,
  })
}

function closed(server: Server, clock: Pick<Clock, 'after'>): Promise<void> {
  return new Promise((resolve) => {
    const forget = clock.after(closeGraceMs, () => server.closeAllConnections())
    server.close(() => {
      forget()
      resolve()
    })
    server.closeIdleConnections()
  })
}
