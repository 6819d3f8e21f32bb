import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import type { Clock } from '../../core/clock.ts'
import { BelfryError } from '../../core/error.ts'
import type { ListenAddress } from './listen-address.ts'

/** A server that is up. */
export interface Serving {
  readonly host: string
  readonly port: number
  /** Takes no more requests, and lets go of those who only listen. */
  close(): Promise<void>
}

/** Whoever sends slower than this keeps a connection for nothing. */
const headersTimeoutMs = 10_000
const requestTimeoutMs = 30_000
const keepAliveMs = 30_000
const connectionsMax = 1_000
/** What is being answered when the server closes may take so long to its end. */
const closeGraceMs = 2_000

/** Answers requests at an address. Port 0 is any that is free. */
export async function serve(
  fetch: (request: Request) => Promise<Response>,
  { host, port }: ListenAddress,
  clock: Pick<Clock, 'after'>,
): Promise<Serving> {
  const server = createAdaptorServer({ fetch }) as Server
  server.headersTimeout = headersTimeoutMs
  server.requestTimeout = requestTimeoutMs
  server.keepAliveTimeout = keepAliveMs
  server.maxConnections = connectionsMax
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
