import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import type { Clock } from '../../core/clock.ts'
import { BelfryError } from '../../core/error.ts'
import type { ListenAddress } from '../../operations/input/listen-address.ts'
import { type ConnectionLimits, Connections, connectionLimits } from './server-connections.ts'

/** A server that is up. */
export interface Serving {
  readonly host: string
  readonly port: number
  /** Takes no more requests, and lets go of those who only listen. */
  close(): Promise<void>
}

/** What answers the requests of a server. */
export interface Answering {
  readonly fetch: (request: Request) => Promise<Response>
  /** Answers on a connection beyond the limit: health checks, and a refusal to everything else. */
  readonly fetchSpare: (request: Request) => Promise<Response>
}

/** A request must have arrived whole after this time. */
const requestTimeoutMs = 30_000
const keepAliveMs = 30_000
/** What is being answered when the server closes may take so long to its end. */
const closeGraceMs = 2_000

/** Answers requests at an address. Port 0 is any that is free. */
export async function serve(
  answering: () => Answering,
  { host, port }: ListenAddress,
  clock: Pick<Clock, 'after'>,
  limits: ConnectionLimits = connectionLimits,
): Promise<Serving> {
  const connections = new Connections(limits)
  const fetch = async (request: Request, { incoming }: { readonly incoming: Pick<IncomingMessage, 'socket'> }) => {
    // It was read together with others of a connection that is closed by now: nothing is done for it.
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
  const why = isTaken ? 'somebody else listens there' : (cause.code ?? cause.message)
  return new BelfryError('unavailable', `Nobody can listen at ${host}:${port}: ${why}.`, {
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
