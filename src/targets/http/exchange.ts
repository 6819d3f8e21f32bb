import type { Dispatcher } from 'undici'
import { type KeptBody, keptBody, unreadableCoding } from './body.ts'
import { broken, stopped } from './exchange-failure.ts'
import type { Connection, Connections } from './http-connections.ts'
import { keepBytesRange } from './http-target.ts'
import { isRedirect } from './redirect.ts'
import type { Outgoing } from './request.ts'

export interface Answer {
  readonly status: number
  header(name: string): string | undefined
  /** The body; absent where it does not matter, as in a redirect, and where its coding cannot be decoded. */
  readonly body: KeptBody | null
  readonly unreadableCoding: string | null
}

export interface Exchanging {
  readonly signal: AbortSignal
  /** How much of the answer is kept. */
  readonly keepBytes?: number | undefined
}

/**
 * Sends one request and reads its answer. When the signal is aborted, the exchange ends at once, whatever it is doing; the
 * function returns after the connection is closed.
 */
export async function exchange(
  request: Outgoing,
  connections: Connections,
  { signal, keepBytes = keepBytesRange.default }: Exchanging,
): Promise<Answer> {
  const connection = await connections.take(request.url, signal)
  const stage = { doing: `waiting for ${request.url.host} to answer`, brokenBy: 'broke off before it answered' }
  const stop = () => void connections.end(connection)
  signal.addEventListener('abort', stop, { once: true })
  let isReusable = false
  try {
    if (signal.aborted) throw signal.reason
    const response = await sent(request, connection)
    stage.doing = `reading the answer of ${request.url.host}`
    stage.brokenBy = `answered ${response.statusCode}, but its body broke off`
    const answer = await answered(response, keepBytes)
    isReusable = answer.body !== null && !answer.body.isTruncated
    return answer
  } catch (error) {
    throw signal.aborted ? stopped(stage.doing, signal.reason) : broken(request.url.host, stage.brokenBy, error)
  } finally {
    signal.removeEventListener('abort', stop)
    if (isReusable) connections.keep(connection)
    else await connections.end(connection)
  }
}

function sent({ url, method, headers, body }: Outgoing, { client }: Connection): Promise<Dispatcher.ResponseData> {
  return client.request({
    path: `${url.pathname}${url.search}`,
    method,
    headers: headers.flatMap(({ name, value }) => [name, value]),
    body,
  })
}

async function answered({ statusCode, headers, body }: Dispatcher.ResponseData, keepBytes: number): Promise<Answer> {
  // The end of the connection is an error of the body, even where the body is not read.
  body.on('error', () => undefined)
  const header = (name: string) => {
    const value = headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }
  const coding = header('content-encoding') ?? ''
  const unreadable = unreadableCoding(coding)
  const isRead = unreadable === null && !isRedirect(statusCode, header('location'))
  return {
    status: statusCode,
    header,
    unreadableCoding: unreadable,
    body: isRead ? await keptBody(body, coding, keepBytes) : null,
  }
}
