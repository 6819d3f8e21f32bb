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
  /** Where the server is: `http://127.0.0.1:4747`, with its base path if it has one. */
  readonly url: string
  readonly token: string
  /** In place of the runtime's own. */
  readonly fetch?: (request: Request) => Promise<Response>
  /** How long one answer may take. */
  readonly timeoutMs?: number
  /** Ends everything that is being asked, and whatever is asked after it. */
  readonly signal?: AbortSignal
}

const timeoutMsDefault = 30_000

interface Manner {
  readonly isRehearsal?: boolean | undefined
  /** Ends this one call. */
  readonly signal?: AbortSignal | undefined
}

/** How long a server may hold a request, and what ends it before. */
interface Held {
  readonly waitMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

interface Asking {
  readonly url: URL
  readonly headers: Headers
  readonly signal: AbortSignal
}

/** The verbs of every noun, as the table and the parts have them. */
export interface BelfryClient extends NounVerbs {}

/**
 * The verbs of a server, with the face of the library: the same names, inputs, answers and errors. What only a caller in
 * the same process can give has no place here, and is refused.
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

  /** Calls a verb with an input as every door takes it; with `isRehearsal` it tells what it would do, and does nothing. */
  async call(operation: AnyOperation, input: unknown, { isRehearsal = false, signal }: Manner = {}): Promise<unknown> {
    if (operation.compose !== undefined) {
      return operation.compose((verb, given) => this.call(verb, given, { signal }) as never, input, signal)
    }
    if (operation.doors.http !== true) throw new BelfryError('invalid', operation.doors.http)
    const request = this.#request(operation, (input ?? {}) as Record<string, unknown>, { isRehearsal, signal })
    const isWrite = operation.effect !== 'read' && !isRehearsal
    return fromDoors(operation.output, await this.#answered(request, { isWrite }))
  }

  /** What time it is by the clock of the store. */
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
    // There is no context here: the server has its own.
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

  /** What every request has. */
  #asking(path: string, { waitMs = 0, signal: own }: Held = {}): Asking {
    const { token, timeoutMs = timeoutMsDefault, signal } = this.#options
    // A server that was asked to wait may take so much longer.
    const timeout = AbortSignal.timeout(timeoutMs + waitMs)
    return {
      url: new URL(this.#base + path),
      headers: new Headers({ authorization: `Bearer ${token}`, accept: 'application/json' }),
      signal: AbortSignal.any([timeout, signal, own].filter((each) => each !== undefined)),
    }
  }

  /** What the server answered; what it refused is thrown as it was thrown there. */
  async #answered(request: Request, { isWrite }: { readonly isWrite: boolean }): Promise<unknown> {
    const { fetch = globalThis.fetch } = this.#options
    const [response, text] = await this.#reached(async () => {
      const answer = await fetch(request)
      return [answer, await answer.text()] as const
    }, isWrite)
    const { status } = response
    const led = response.headers.get('location')
    if (status >= 300 && status < 400 && led !== null) throw this.#ledAway(led, request.url)
    // What is no JSON is told apart from every JSON value.
    const body = jsonIn(text)
    if (!response.ok) throw problemIn(body?.value) ?? this.#unread(status, isWrite)
    if (body === null) throw this.#unread(status, isWrite)
    return body.value
  }

  /** A server that answers nothing may have done what it was asked for, unless nobody could ask it. */
  async #reached<Answer>(asking: () => Promise<Answer>, isWrite: boolean): Promise<Answer> {
    try {
      return await asking()
    } catch (cause) {
      const isLate = cause instanceof Error && cause.name === 'TimeoutError'
      const code = isLate ? 'TimeoutError' : reasonOf(cause)
      const why = inWords[code] ?? (uncertified.test(code) ? `its certificate is not believed here, ${code}` : code)
      if (isWrite && !neverAsked.test(code)) throw this.#unknown(why, cause)
      throw new BelfryError('unavailable', `The server at ${this.#base} cannot be reached: ${why}.`, {
        hint: uncertified.test(code)
          ? 'Where an authority of your own has signed it, name the file of that one in NODE_EXTRA_CA_CERTS.'
          : 'Look whether it runs there: `belfry up` says where it listens.',
        cause,
      })
    }
  }

  #unknown(why: string, cause?: unknown): BelfryError {
    const message = `Nobody knows whether the server at ${this.#base} did it: ${why}.`
    return new BelfryError('commit-unknown', message, {
      hint: 'Look whether it was done before it is asked again.',
      cause,
    })
  }

  /** Whoever follows shows what is sent to whoever it leads to, and most who follow do not send it again. */
  #ledAway(location: string, from: string): BelfryError {
    const to = URL.canParse(location, from) ? new URL(location, from) : null
    const place = to === null ? '' : ` ${to.origin}${to.pathname.replace(/\/api\/.*$/, '')}`
    return new BelfryError('unavailable', `What answers at ${this.#base} is no server, and leads elsewhere.`, {
      hint: `Name the server by its own address${place === '' ? '' : `:${place}, if that is it`}.`,
    })
  }

  /** Something before the server answered, or something that is none. Its status is believed all the same. */
  #unread(status: number, isWrite: boolean): BelfryError {
    const why = `something answered with status ${status}, and nothing that could be read`
    if (isWrite && (status === 502 || status === 504)) return this.#unknown(why)
    const code = codesOfStatus[status] ?? 'failure'
    return new BelfryError(code, `The server answered with status ${status}, and nothing that could be read.`, {
      hint: `Look whether it is Belfry that answers at ${this.#base}, and what stands before it.`,
    })
  }
}

/** How long a call asks the server to wait; what is wrong with it is told by whoever judges the input. */
function waitMsIn({ input: schema, request }: AnyOperation, input: Record<string, unknown>): number {
  if (!('wait' in schema.shape)) return 0
  const { value } = read(schema, input, request)
  const { wait, waitMs } = value as { readonly wait?: number; readonly waitMs?: number }
  return Math.max(0, Math.min(wait ?? waitMs ?? 0, waitMsMax))
}

/** What only some verbs take is refused by the others, as in the library. */
function signalIn({ local, request }: AnyOperation, signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined) return undefined
  refuse(subjectOf(request), read(local, { signal }, `the options of ${request}`).problems)
  return signal
}

/** What those answer that stand before a server, or in its place. */
const codesOfStatus: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthenticated',
  403: 'not-allowed',
  429: 'too-many',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
}

/** A redirect is told and never followed: a token and a payload are for the server that was named. */
const redirect = 'manual'

/** What goes wrong before anything was sent. */
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
    // It is told by whoever wanted to read it, with the status that it came with.
    return null
  }
}

/** Whether all that is asked for stands in the address. */
function isInAddress({ method }: Route): boolean {
  return method === 'GET' || method === 'DELETE'
}

/**
 * An address has only texts, in which a number and its digits are the same, and no place for a name that is missing: what is
 * wrong there shows here or nowhere. A body is for the server to judge, together with what only it knows.
 */
function refuseUnplaced(route: Route, input: Record<string, unknown>): void {
  const { operation, subject } = route
  if (subject === null && !isInAddress(route)) return
  const problems = [...read(operation.input, input, operation.request).problems]
  const about = subject === null ? undefined : input[subject]
  if (subject !== null && typeof about === 'string' && !canStandInAddress(about)) {
    const expected = 'its id where it has one, another name, or the store opened in this process'
    problems.push({ field: subject, problem: `is ${quoted(about)}, which no address can hold`, expected })
  }
  if (!isInAddress(route) && problems.every(({ field }) => field !== subject)) return
  refuse(subjectOf(operation.request), problems)
}

/** Whoever reads an address takes dots for steps in it, however they are written, and half a letter cannot be written at all. */
function canStandInAddress(name: string): boolean {
  return name !== '.' && name !== '..' && name.isWellFormed()
}

/** A list is given item by item, and one without items as nothing. */
function addTo(query: URLSearchParams, field: string, value: unknown): void {
  if (Array.isArray(value) && value.length === 0) query.append(field, '')
  for (const item of Array.isArray(value) ? (value as unknown[]) : [value]) query.append(field, textOf(item))
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

/** The error that the server told, as it was thrown there; null where it told none of ours. */
function problemIn(body: unknown): BelfryError | null {
  const { code, detail, hint, details } = (body ?? {}) as Readonly<Record<string, unknown>>
  if (typeof code !== 'string' || !Object.hasOwn(errorCodes, code) || typeof detail !== 'string') return null
  return new BelfryError(code as ErrorCode, detail, {
    ...(typeof hint === 'string' && { hint }),
    ...(typeof details === 'object' && details !== null && { details: details as Readonly<Record<string, unknown>> }),
  })
}
