import type { Attempt } from '../attempt.ts'
import type { Message } from '../message.ts'
import { isSecretReference, type Secret, type SecretResolver } from '../secret.ts'
import { ExchangeFailure } from './exchange-failure.ts'
import { type HttpRequest, headerValueProblem } from './http-target.ts'

export interface Header {
  readonly name: string
  readonly value: string
  readonly isSecret?: boolean
}

/** A request as it goes out. */
export interface Outgoing {
  readonly url: URL
  readonly method: string
  readonly headers: readonly Header[]
  readonly body: Buffer | null
  readonly hasSecretBody: boolean
}

export interface Prepared {
  readonly outgoing: Outgoing
  /** Values to redact in everything that is stored. */
  readonly secrets: readonly Secret[]
}

/** Methods with a body. */
const bodyMethods: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

export interface RequestSources {
  readonly resolver: SecretResolver
  /** The text that is sent instead of the payload, if the run sends a message. */
  readonly message: Message | null
}

/** Builds the request of an attempt, with its secrets filled in. */
export async function prepared(attempt: Attempt, http: HttpRequest, sources: RequestSources): Promise<Prepared> {
  const { resolver, message } = sources
  const headers = await resolver.resolve(http.headers ?? {})
  const body = await resolver.resolve(http.body)
  const method = http.method ?? (http.body === undefined ? 'GET' : 'POST')
  const content =
    message === null ? contentOf(body.value, method, attempt.payload) : messageContent(message, http, body.value)
  const given = givenHeaders(http, headers.value as Readonly<Record<string, string>>)
  return {
    secrets: [...headers.secrets, ...body.secrets],
    outgoing: {
      url: new URL(http.url),
      method,
      headers: [...given, ...ownHeaders(attempt, content).filter(({ name }) => !has(given, name))],
      body: content.bytes,
      hasSecretBody: body.secrets.length > 0,
    },
  }
}

interface Content {
  readonly bytes: Buffer | null
  /** Default headers, which the target may set itself. */
  readonly headers: Readonly<Record<string, string>>
}

const jsonHeaders = { 'content-type': 'application/json' }

/** A message in the form of its receiver; a body of the target replaces it. */
function messageContent(message: Message, { format = 'json', method = 'POST' }: HttpRequest, body: unknown): Content {
  if (body !== undefined || format === 'json') return contentOf(body, method, message.json)
  const written = message.written(format)
  return { bytes: Buffer.from(written.body), headers: written.headers }
}

/** A request with a body method and without its own body carries the run's payload. */
function contentOf(body: unknown, method: string, payload: unknown): Content {
  if (typeof body === 'string') return { bytes: Buffer.from(body), headers: {} }
  const value = body === undefined && bodyMethods.has(method) ? (payload ?? undefined) : body
  if (value === undefined) return { bytes: null, headers: {} }
  return { bytes: Buffer.from(JSON.stringify(value)), headers: jsonHeaders }
}

function givenHeaders(http: HttpRequest, values: Readonly<Record<string, string>>): Header[] {
  return Object.entries(values).map(([name, value]) => {
    const isSecret = isSecretReference(http.headers?.[name])
    const problem = isSecret ? headerValueProblem(value) : null
    if (problem === null) return { name, value, isSecret }
    throw new ExchangeFailure(`the secret for the header ${name} ${problem}`, { retryable: true })
  })
}

/** Belfry's headers. The target may replace all but those that name the attempt. */
function ownHeaders(attempt: Attempt, { headers }: Content): Header[] {
  return [
    ...Object.entries(headers).map(([name, value]) => ({ name, value })),
    { name: 'user-agent', value: 'belfry' },
    // Requests an uncompressed answer, which cannot unpack to more than its size.
    { name: 'accept-encoding', value: 'identity' },
    { name: 'idempotency-key', value: keyValue(attempt.idempotencyKey) },
    { name: 'belfry-run', value: attempt.runId },
    { name: 'belfry-attempt', value: String(attempt.fence) },
    ...(attempt.account === null ? [] : [{ name: 'belfry-account', value: keyValue(attempt.account) }]),
    { name: 'belfry-planned-at', value: new Date(attempt.plannedAt).toISOString() },
    { name: 'traceparent', value: attempt.traceparent },
  ]
}

/** A key may be any text, a header may not. A key that cannot be sent as it is is URL-encoded. */
function keyValue(key: string): string {
  return headerValueProblem(key) === null ? key : encodeURIComponent(key.toWellFormed())
}

export function has(headers: readonly Header[], name: string): boolean {
  return headers.some((header) => header.name.toLowerCase() === name)
}
