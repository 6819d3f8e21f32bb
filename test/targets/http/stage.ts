import { createServer as createHttpServer, type IncomingMessage, type RequestListener } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import type { Attempt, Ended } from '../../../src/targets/attempt.ts'
import type { HttpResult } from '../../../src/targets/http/answer.ts'
import type { HostAddress, Lookup } from '../../../src/targets/http/connect.ts'
import { type HttpExecutor, type HttpExecutorOptions, httpExecutor } from '../../../src/targets/http/http-executor.ts'
import type { HttpRequest } from '../../../src/targets/http/http-target.ts'
import { secretResolver } from '../../../src/targets/secret.ts'

export const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

export function attemptOf(http: unknown, changed: Partial<Attempt> = {}): Attempt {
  return {
    runId: 'r-11',
    fence: 2,
    claimId: 'c',
    queue: 'default',
    scheduleId: null,
    plannedAt: 0,
    source: 'direct',
    idempotencyKey: 'key-1',
    traceparent,
    target: { http },
    payload: undefined,
    signal: new AbortController().signal,
    clock: systemClock,
    output: () => undefined,
    usage: () => undefined,
    account: null,
    utilisation: () => undefined,
    state: () => undefined,
    drained: async () => undefined,
    ...changed,
  }
}

/** Names that lead to this machine, as a resolver would know them. */
export const toLoopback: Lookup = async (host) => {
  if (host.endsWith('.test') || host === 'localhost') return [{ address: '127.0.0.1', family: 4 }]
  throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
}

export const addresses = (...all: string[]): HostAddress[] =>
  all.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

interface Caller extends HttpExecutor {
  call(http: HttpRequest, changed?: Partial<Attempt>): Promise<Ended & { result: HttpResult }>
}

/** An executor that is closed with the test, in which it is a failure to leave anything behind. */
export function caller(options: Partial<HttpExecutorOptions> & { env?: Record<string, string> } = {}): Caller {
  const { env = {}, ...rest } = options
  const secrets = secretResolver({ env, folder: null })
  const executor = httpExecutor({ network: {}, secrets, lookup: toLoopback, ...rest })
  onTestFinished(() => executor.close())
  return {
    ...executor,
    call: async (http, changed) => {
      const ended = await executor.execute(attemptOf(http, changed))
      return { ...ended, result: ended.result as HttpResult }
    },
  }
}

export interface Seen {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** A server of HTTP that remembers what it was asked. */
export async function witness(answer: RequestListener = (_, response) => response.end()) {
  const seen: Seen[] = []
  const server = createHttpServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method, url, headers } = request
    seen.push({ method, url, headers, body: Buffer.concat(chunks).toString() })
    answer(request, response)
  })
  const port = await listening(server)
  return { seen, port, url: `http://127.0.0.1:${port}`, server }
}

/** A server that speaks no HTTP by itself: what is sent and answered are bytes. */
export async function wire(onConnection: (socket: Socket) => void) {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    onConnection(socket)
  })
  const port = await listening(server)
  return { sockets, port, url: `http://127.0.0.1:${port}` }
}

export async function listening(server: Server, host = '127.0.0.1'): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return (server.address() as AddressInfo).port
}

/** Answers one request with these bytes, whatever it says. */
export const answering = (text: string) => (socket: Socket) => socket.once('data', () => socket.write(text))

/** What a promise of something else comes to, with the way to fulfil it. */
export function signal<Value = void>(): { promise: Promise<Value>; give: (value: Value) => void } {
  let give: (value: Value) => void = () => undefined
  const promise = new Promise<Value>((resolve) => {
    give = resolve
  })
  return { promise, give }
}
