import { jsonProblem } from '../../core/json/json.ts'
import type { EndFacts } from '../../core/run/expect.ts'
import type { Ended } from '../attempt.ts'
import { redact, redactor } from '../redact.ts'
import type { Secret } from '../secret.ts'
import { textOf } from './body.ts'
import type { Answer } from './exchange.ts'
import { retryAfterMs } from './retry-after.ts'

/** The stored result of a run that called an endpoint. */
export interface HttpResult {
  readonly status: number
  /** A few headers that help to understand the answer; none that could contain credentials. */
  readonly headers: Readonly<Record<string, string>>
  /** JSON where the content type says so, else text. Absent where it is neither. */
  readonly body?: unknown
  readonly durationMs: number
  /** Whether the body was longer than the kept part. */
  readonly truncated?: true
  /** Whether the body is not text. */
  readonly binary?: true
  /** Whether the body has a content coding that was not requested and cannot be decoded. */
  readonly unreadableCoding?: string
  /** The redirects that were followed, without queries. */
  readonly redirects?: readonly string[]
}

export interface AnswerContext {
  readonly secrets: readonly Secret[]
  readonly redirects: readonly URL[]
  readonly durationMs: number
  readonly now: number
  /** How much of the answer the target keeps. */
  readonly keepBytes?: number | undefined
}

const keptHeaders = [
  'content-type',
  'content-length',
  'etag',
  'last-modified',
  'location',
  'retry-after',
  'x-request-id',
]
const keptHeaderLengthMax = 500
/** The store keeps a result up to this size whole, and a longer one only on request; otherwise it would keep an unreadable beginning. */
const resultBytesMax = 100 * 1024

interface Read {
  readonly text?: string
  readonly json?: unknown
  readonly isTruncated?: boolean
  readonly isBinary?: boolean
}

/** Turns the last answer into the facts to judge and the result to store. */
export function endedBy(answer: Answer, context: AnswerContext): Ended {
  const { secrets, redirects, durationMs, now, keepBytes = 0 } = context
  const read = readOf(answer, secrets)
  const after = answer.header('retry-after')
  const waitMs = after === undefined ? undefined : retryAfterMs(after, now)
  const facts: EndFacts = {
    status: answer.status,
    ...(read.text !== undefined && { text: read.text }),
    ...(read.json !== undefined && { json: read.json }),
    ...(read.isTruncated && { incomplete: 'the body is longer than what is kept of it' }),
    ...(waitMs !== undefined && { retryAfterMs: waitMs }),
    // A server that refuses because of a limit has not begun the work.
    ...(isLimit(answer.status) && {
      rateLimited: {
        ...(waitMs !== undefined ? { resetAt: now + waitMs } : after !== undefined && { resetText: after }),
        window: `HTTP ${answer.status}`,
        hasBegun: false,
      },
    }),
  }
  const visited = redirects.map(({ origin, pathname }) => redact(`${origin}${pathname}`, secrets))
  const result = {
    status: answer.status,
    headers: headersOf(answer, secrets),
    durationMs,
    ...(read.isBinary && { binary: true as const }),
    ...(answer.unreadableCoding !== null && {
      unreadableCoding: redact(answer.unreadableCoding, secrets).slice(0, 60),
    }),
    ...(visited.length > 0 && { redirects: visited }),
  }
  const bytesMax = Math.max(resultBytesMax, keepBytes)
  const whole = { facts, result: withBody(result, read, bytesMax) }
  return bytesMax > resultBytesMax ? { ...whole, resultBytesMax: bytesMax } : whole
}

/** Too many requests, or the server takes none at present. */
function isLimit(status: number): boolean {
  return status === 429 || status === 503
}

function readOf({ body, header }: Answer, secrets: readonly Secret[]): Read {
  if (body === null) return {}
  const contentType = header('content-type') ?? ''
  const { isTruncated } = body
  const plain = textOf(body, contentType)
  if (plain.includes('\0')) return { isTruncated, isBinary: true }
  const stream = redactor(secrets)
  // A cut text may end with the beginning of a secret, so what the redactor holds back is dropped.
  const text = stream.add(plain) + (isTruncated ? '' : stream.end())
  const json = isTruncated || !/^[^;]*[/+]json\s*(;|$)/i.test(contentType) ? undefined : jsonOf(text)
  return { text, isTruncated, ...(json !== undefined && { json }) }
}

/** JSON that is nested too deep to be written again stays text. */
function jsonOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return jsonProblem(value) === null ? value : undefined
  } catch {
    return undefined
  }
}

function headersOf({ header }: Answer, secrets: readonly Secret[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const name of keptHeaders) {
    const value = header(name)
    if (value !== undefined) headers[name] = redact(value, secrets).slice(0, keptHeaderLengthMax).toWellFormed()
  }
  return headers
}

/** The body as far as it fits: JSON whole or not at all, text up to a limit. */
function withBody(
  result: Omit<HttpResult, 'body' | 'truncated'>,
  { text, json, isTruncated }: Read,
  bytesMax: number,
): HttpResult {
  const mark = isTruncated ? { truncated: true as const } : {}
  if (text === undefined) return { ...result, ...mark }
  const whole = { ...result, ...mark, body: json === undefined ? text : json }
  if (sizeOf(whole) <= bytesMax) return whole
  const rest = { ...result, truncated: true as const }
  return { ...rest, body: fitting(text, bytesMax - sizeOf({ ...rest, body: '' })) }
}

/** Nearly the longest beginning of a text whose JSON fits the limit. */
function fitting(text: string, bytesMax: number): string {
  let part = text
  for (let size = sizeOf(part); size - 2 > bytesMax; size = sizeOf(part)) {
    part = part.slice(0, Math.floor((part.length * bytesMax) / size)).toWellFormed()
  }
  return part
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
