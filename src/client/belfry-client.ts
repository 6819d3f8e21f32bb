import { BelfryError, type ErrorCode } from '../core/error.ts'
import { jsonProblem, plainData } from '../core/json/json.ts'
import { bind, type Verbs } from '../operations/bind.ts'
import { errorCodes } from '../operations/error-codes.ts'
import { instantOf } from '../operations/input/instant.ts'
import { read } from '../operations/input/read-input.ts'
import { quoted, refusal, refuse } from '../operations/input/refuse-input.ts'
import { waitMsMax } from '../operations/input/wait-input.ts'
import { type AnyOperation, subjectOf } from '../operations/operation.ts'
import type { OperationContext } from '../operations/operation-context.ts'
import { fromDoors } from '../operations/schema/answer-encoding.ts'
import { type Route, routeOf } from '../routes.ts'
import { bindNouns, type NounVerbs } from '../table.ts'

export interface ClientOptions {
  /** The address of the server: `http://127.0.0.1:4747`, with its base path if it has one. */
  readonly url: string
  readonly token: string
  /** Replaces the runtime's own. */
  readonly fetch?: (request: Request) => Promise<Response>
  /** How long one answer may take. */
  readonly timeoutMs?: number
  /** Aborts all running and later calls. */
  readonly signal?: AbortSignal
}

const timeoutMsDefault = 30_000

interface Manner {
  readonly isRehearsal?: boolean | undefined
  /** Aborts this one call. */
  readonly signal?: AbortSignal | undefined
}

/** How long a server may hold a request, and the signal that aborts it. */
interface Held {
  readonly waitMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

interface Asking {
  readonly url: URL
  readonly headers: Headers
  readonly signal: AbortSignal
}

/** The verbs of every noun, from the table and the parts. */
export interface BelfryClient extends NounVerbs {}

/**
 * The verbs of a server, with the interface of the library: the same names, inputs, answers and errors. Options that only a
 * caller in the same process can give are refused.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor assigns every verb that the interface declares.
export class BelfryClient {
  readonly #options: ClientOptions
  readonly #base: string

  constructor(options: ClientOptions) {
    this.#options = options
    this.#base = options.url.replace(/\/+$/, '')
    Object.assign(
      this,
      bindNouns((operations) => this.#bound(operations)),
    )
  }

  /** Calls a verb with an input as every door takes it; with `isRehearsal` it returns what it would do, and does nothing. */
  async call(operation: AnyOperation, input: unknown, { isRehearsal = false, signal }: Manner = {}): Promise<unknown> {
    if (operation.compose !== undefined) {
      return operation.compose((verb, given) => this.call(verb, given, { signal }) as never, input, signal)
    }
    if (operation.doors.http !== true) throw new BelfryError('invalid', operation.doors.http)
    const request = this.#request(operation, (input ?? {}) as Record<string, unknown>, { isRehearsal, signal })
    const isWrite = operation.effect !== 'read' && !isRehearsal
    return fromDoors(operation.output, await this.#answered(request, { isWrite }))
  }

  /** The time by the clock of the store. */
  async now(): Promise<number> {
    const { url, ...how } = this.#asking('/api/now')
    const asked = new Request(url, { ...how, redirect })
    const { now } = ((await this.#answered(asked, { isWrite: false })) ?? {}) as { readonly now?: unknown }
    const read = typeof now === 'string' ? instantOf(now) : null
    if (read === null || !('at' in read)) throw this.#unread(200, false)
    return read.at
  }

  #bound<Operations extends Readonly<Record<string, AnyOperation>>>(operations: Operations): Verbs<Operations> {
    const remote = Object.entries(operations).map(([verb, operation]) => {
      return [
        verb,
        { ...operation, call: (_: unknown, input: unknown, local?: unknown) => this.#called(operation, input, local) },
      ]
    })
    // Needs no context: the server has its own.
    return bind(Object.fromEntries(remote) as Operations, () => undefined as unknown as OperationContext)
  }

  #called(operation: AnyOperation, input: unknown, local: unknown): Promise<unknown> {
    const { signal, ...rest } = (local ?? {}) as { readonly signal?: AbortSignal }
    const [given] = Object.keys(rest)
    if (given === undefined) return this.call(operation, input, { signal: signalIn(operation, signal) })
    throw new BelfryError('invalid', `${given} cannot be given over HTTP.`, { hint: 'Open the store in this process.' })
  }

  #request(operation: AnyOperation, input: Record<string, unknown>, { isRehearsal, signal: own }: Manner): Request {
    const route = routeOf(operation)
    const { method, path, subject } = route
    const { [subject ?? '']: about, ...rest } = input
    refuseUnplaced(route, input)
    const placed = path.replace(/\{\w+\}/, () => encodeURIComponent(String(about ?? '')))
    const { url, headers, signal } = this.#asking(placed, { waitMs: waitMsIn(operation, input), signal: own })
    if (isRehearsal === true) headers.set('belfry-dry-run', 'true')
    if (isInAddress(route)) {
      for (const [field, value] of Object.entries(rest)) if (value !== undefined) addTo(url.searchParams, field, value)
      return new Request(url, { method, headers, signal, redirect })
    }
    const unsaid = jsonProblem(rest, { converts: true })
    if (unsaid !== null) {
      const field = unsaid.path.replace(/^\./, '')
      throw refusal(subjectOf(operation.request), [{ field, problem: unsaid.problem, expected: plainData }])
    }
    headers.set('content-type', 'application/json')
    return new Request(url, { method, headers, signal, redirect, body: JSON.stringify(rest) })
  }

  #asking(path: string, { waitMs = 0, signal: own }: Held = {}): Asking {
    const { token, timeoutMs = timeoutMsDefault, signal } = this.#options
    // A server that was asked to wait may take this much longer to answer.
    const timeout = AbortSignal.timeout(timeoutMs + waitMs)
    return {
      url: new URL(this.#base + path),
      headers: new Headers({ authorization: `Bearer ${token}`, accept: 'application/json' }),
      signal: AbortSignal.any([timeout, signal, own].filter((each) => each !== undefined)),
    }
  }

  /** The server's answer; its errors are thrown as they were thrown there. */
  async #answered(request: Request, { isWrite }: { readonly isWrite: boolean }): Promise<unknown> {
    const { fetch = globalThis.fetch } = this.#options
    const [response, text] = await this.#reached(async () => {
      const answer = await fetch(request)
      return [answer, await answer.text()] as const
    }, isWrite)
    const { status } = response
    const led = response.headers.get('location')
    if (status >= 300 && status < 400 && led !== null) throw this.#ledAway(led, request.url)
    // `jsonIn` answers null for invalid JSON only: JSON itself may be null.
    const body = jsonIn(text)
    if (!response.ok) throw problemIn(body?.value) ?? this.#unread(status, isWrite)
    if (body === null) throw this.#unread(status, isWrite)
    return body.value
  }

  /** A server that does not answer may have done the work, unless it was not reached. */
  async #reached<Answer>(asking: () => Promise<Answer>, isWrite: boolean): Promise<Answer> {
    try {
      return await asking()
    } catch (cause) {
      const isLate = cause instanceof Error && cause.name === 'TimeoutError'
      const code = isLate ? 'TimeoutError' : reasonOf(cause)
      const why = inWords[code] ?? (uncertified.test(code) ? `its certificate is not trusted, ${code}` : code)
      if (isWrite && !neverAsked.test(code)) throw this.#unknown(why, cause)
      throw new BelfryError('unavailable', `The server at ${this.#base} cannot be reached: ${why}.`, {
        hint: uncertified.test(code)
          ? 'If your own authority signed it, name the file of its certificate in NODE_EXTRA_CA_CERTS.'
          : 'Check that it runs there: `belfry up` prints its address.',
        cause,
      })
    }
  }

  #unknown(why: string, cause?: unknown): BelfryError {
    const message = `The server at ${this.#base} may or may not have done it: ${why}.`
    return new BelfryError('commit-unknown', message, {
      hint: 'Check whether it was done before you try again.',
      cause,
    })
  }

  /** A redirect would send the token and payload to another server, and most clients do not repeat a body. */
  #ledAway(location: string, from: string): BelfryError {
    const to = URL.canParse(location, from) ? new URL(location, from) : null
    const place = to === null ? '' : ` ${to.origin}${to.pathname.replace(/\/api\/.*$/, '')}`
    return new BelfryError('unavailable', `${this.#base} is not a Belfry server: it redirects.`, {
      hint: `Give the server’s own address${place === '' ? '' : `, such as ${place}`}.`,
    })
  }

  /** A proxy or another program answered. The status of the answer still counts. */
  #unread(status: number, isWrite: boolean): BelfryError {
    const why = `the answer has status ${status} and an unreadable body`
    if (isWrite && (status === 502 || status === 504)) return this.#unknown(why)
    const code = codesOfStatus[status] ?? 'failure'
    return new BelfryError(code, `The answer has status ${status} and an unreadable body.`, {
      hint: `Check that Belfry answers at ${this.#base}, and check the proxy in front of it.`,
    })
  }
}

/** How long a call asks the server to wait; the server itself refuses an invalid value. */
function waitMsIn({ input: schema, request }: AnyOperation, input: Record<string, unknown>): number {
  if (!('wait' in schema.shape)) return 0
  const { value } = read(schema, input, request)
  const { wait, waitMs } = value as { readonly wait?: number; readonly waitMs?: number }
  return Math.max(0, Math.min(wait ?? waitMs ?? 0, waitMsMax))
}

/** Options that only some verbs take; the other verbs refuse them, as in the library. */
function signalIn({ local, request }: AnyOperation, signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined) return undefined
  refuse(subjectOf(request), read(local, { signal }, `the options of ${request}`).problems)
  return signal
}

/** Statuses of proxies in front of a server. */
const codesOfStatus: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthenticated',
  403: 'not-allowed',
  429: 'too-many',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
}

/** A redirect is reported and never followed: a token and a payload are for the named server. */
const redirect = 'manual'

/** Errors before anything was sent. */
const neverAsked =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|EPROTO|CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/

const uncertified = /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_)/

const inWords: Readonly<Record<string, string>> = {
  TimeoutError: 'it did not answer in time',
  UND_ERR_SOCKET: 'it closed the connection',
  ECONNRESET: 'it closed the connection',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it speaks HTTP there, and no HTTPS',
}

function jsonIn(text: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    // The reader of the response reports the problem, with its status.
    return null
  }
}

/** Whether the whole input goes into the URL. */
function isInAddress({ method }: Route): boolean {
  return method === 'GET' || method === 'DELETE'
}

/**
 * A URL has only text: a number and its digits look the same, and a missing name has no place. Such mistakes are found here or
 * nowhere. The server checks a body, because only the server knows its schema.
 */
function refuseUnplaced(route: Route, input: Record<string, unknown>): void {
  const { operation, subject } = route
  if (subject === null && !isInAddress(route)) return
  const problems = [...read(operation.input, input, operation.request).problems]
  const about = subject === null ? undefined : input[subject]
  if (subject !== null && typeof about === 'string' && !canStandInAddress(about)) {
    const expected = 'an id, another name, or a store opened in this process'
    problems.push({ field: subject, problem: `is ${quoted(about)}, which cannot be part of a URL`, expected })
  }
  if (!isInAddress(route) && problems.every(({ field }) => field !== subject)) return
  refuse(subjectOf(operation.request), problems)
}

/** URL parsers read dots as path steps, however they are escaped, and half a surrogate pair cannot be written. */
function canStandInAddress(name: string): boolean {
  return name !== '.' && name !== '..' && name.isWellFormed()
}

/** A list of texts is given item by item, and an empty list not at all; a list of objects is one JSON text. */
function addTo(query: URLSearchParams, field: string, value: unknown): void {
  if (Array.isArray(value) && value.length === 0) query.append(field, '')
  const isList = Array.isArray(value) && !value.some((item) => typeof item === 'object')
  for (const item of isList ? (value as unknown[]) : [value]) query.append(field, textOf(item))
}

function textOf(value: unknown): string {
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  const { code } = (thrown.cause ?? {}) as { readonly code?: string }
  return code ?? thrown.message
}

/** The server's error as the server threw it; null where the body is not an error. */
function problemIn(body: unknown): BelfryError | null {
  const { code, detail, hint, details } = (body ?? {}) as Readonly<Record<string, unknown>>
  if (typeof code !== 'string' || !Object.hasOwn(errorCodes, code) || typeof detail !== 'string') return null
  return new BelfryError(code as ErrorCode, detail, {
    ...(typeof hint === 'string' && { hint }),
    ...(typeof details === 'object' && details !== null && { details: details as Readonly<Record<string, unknown>> }),
  })
}
