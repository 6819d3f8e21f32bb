import { type Context, Hono } from 'hono'
import { BelfryError } from '../../core/error.ts'
import type { Events } from '../../engine/events.ts'
import { refusalOfLeftOut } from '../../features.ts'
import type { Method } from '../../operations/door-facts.ts'
import { refusalOf } from '../../operations/input/unreadable-input.ts'
import { subjectOf } from '../../operations/operation.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import { recordRefusal } from '../../operations/refuse-agent.ts'
import { atDoors } from '../../operations/schema/answer-encoding.ts'
import { loadRoutes, signedPaths } from '../../parts-face.ts'
import { type Route, routes } from '../../routes.ts'
import { Authenticator, type AuthenticatorOptions, type Caller } from './authenticator.ts'
import { etagOf } from './etag.ts'
import { HeldRequests } from './held-requests.ts'
import { HttpProblem, isUnforeseen, problemResponse } from './problem-details.ts'
import { inputOf, isRehearsal } from './read-request.ts'
import { serviceEndpoints } from './service-endpoints.ts'
import { ServiceRoutes } from './service-routes.ts'

const partRoutes = await loadRoutes()

export interface HttpDoorOptions extends Omit<AuthenticatorOptions, 'store' | 'clock'> {
  readonly context: OperationContext
  readonly version: string
  readonly events: Events
  readonly isWorking?: () => boolean
  /** Resolves references to secrets; without it no webhook can be verified. */
  readonly secretOf?: (reference: { readonly secret: string }) => Promise<string>
  /** The path it is mounted at; empty at the root. */
  readonly basePath?: string
  /** Receives unexpected errors. */
  readonly onUnforeseen?: (error: unknown) => void
}

/** The verbs over HTTP: a function from requests to responses, so that it can be part of any server. */
export class HttpDoor {
  readonly #options: HttpDoorOptions
  readonly #gate: Authenticator
  readonly #app: Hono
  readonly #around: ServiceRoutes
  readonly #basePath: string
  readonly #waiting = new HeldRequests()

  constructor(options: HttpDoorOptions) {
    this.#options = options
    const { store, clock } = options.context
    this.#gate = new Authenticator({ ...options, store, clock })
    this.#basePath = (options.basePath ?? '').replace(/\/+$/, '')
    this.#around = new ServiceRoutes({ ...options, gate: this.#gate, basePath: this.#basePath })
    this.#app = this.#routed(new Hono().basePath(this.#basePath === '' ? '/' : this.#basePath))
  }

  readonly fetch = async (request: Request): Promise<Response> => {
    try {
      const { pathname } = new URL(request.url)
      const isSigned = signedPaths.some((path) => pathname.startsWith(`${this.#basePath}${path}`))
      this.#gate.refuseStrangeOrigin(request, { isSigned })
      return locked(await this.#app.fetch(request))
    } catch (error) {
      return locked(this.#refused(error))
    }
  }

  /** Answers on a connection beyond the server's limit, which is reserved for health checks. */
  readonly fetchSpare = async (request: Request): Promise<Response> => {
    const path = new URL(request.url).pathname.slice(this.#basePath.length)
    const response =
      path === '/live' || path === '/ready' ? await this.fetch(request) : locked(this.#refused(tooManyConnections()))
    response.headers.set('connection', 'close')
    return response
  }

  /** Frees what it watches; later requests are still answered. */
  close(): void {
    this.#waiting.close()
    this.#around.close()
  }

  #routed(app: Hono): Hono {
    this.#around.addTo(app)
    for (const add of partRoutes) add(app, { ...this.#options, gate: this.#gate })
    for (const route of routes) {
      const path = route.path.replace(/\{(\w+)\}/g, ':$1')
      app.on(route.method, path, (c) => this.#called(route, c))
    }
    app.notFound(({ req }) => this.#refused(astray(req.method, req.path.slice(this.#basePath.length))))
    app.onError((error) => this.#refused(error))
    return app
  }

  async #called(route: Route, c: Context): Promise<Response> {
    const { operation } = route
    const request = c.req.raw
    const caller = await this.#gate.callerOf(request)
    const subject = route.subject === null ? undefined : c.req.param(route.subject)
    const asked = await inputOf({ request, route, subject }).catch(async (error: unknown) => {
      // An unreadable request does not reach the verb, so it is not recorded.
      const context = this.#contextFor(caller, request)
      if (caller.within !== undefined) await recordRefusal(context, operation, {}, 'invalid')
      throw error
    })
    const { input, problems } = asked
    if (problems.length === 0) return this.#told(route, await this.#answered(route, request, { caller, input }), input)
    throw await refusalOf(asked, {
      call: (whole) => this.#answered(route, request, { caller, input: whole }),
      about: problems.map(({ field }) => field),
      subject: subjectOf(operation.request),
    })
  }

  async #answered(
    { operation }: Route,
    request: Request,
    { caller, input }: { readonly caller: Caller; readonly input: unknown },
  ): Promise<unknown> {
    try {
      const context = this.#contextFor(caller, request)
      if (!('signal' in operation.local.shape)) return await operation.call(context, input)
      return await this.#waiting.whileHeard(request, (signal) => operation.call(context, input, { signal }))
    } catch (error) {
      throw request.headers.has('if-match') && isOfVersions(error) ? new HttpProblem(412, error) : error
    }
  }

  #contextFor({ scope, ...caller }: Caller, { headers }: Request): OperationContext {
    const context = { ...this.#options.context, actor: { ...caller, door: 'http' }, scope }
    return isRehearsal(headers) ? { ...context, store: context.store.rehearsal() } : context
  }

  #told({ operation, status, path }: Route, answer: unknown, input: Readonly<Record<string, unknown>>): Response {
    const etag = etagOf(operation.output, answer)
    const headers: Record<string, string> = { 'cache-control': 'no-store' }
    if (etag !== null) headers.etag = etag
    const next = operation.nextPage?.(answer, input) ?? null
    if (next !== null) headers.link = `<${this.#basePath}${addressOf(path, { ...input, ...next })}>; rel="next"`
    const isCreated = status === 201 && isNew(answer)
    const made = isCreated ? nameIn(answer) : null
    if (made !== null) headers.location = `${this.#basePath}${path}/${encodeURIComponent(made)}`
    return Response.json(atDoors(operation.output, answer) ?? null, { status: isCreated ? 201 : 200, headers })
  }

  #refused(error: unknown): Response {
    if (isUnforeseen(error)) this.#options.onUnforeseen?.(error)
    return problemResponse(error, this.#basePath)
  }
}

/** Headers for browsers: do not cache, sniff or embed. */
function locked(response: Response): Response {
  const headers = new Headers(response.headers)
  headers.set('x-content-type-options', 'nosniff')
  headers.set('referrer-policy', 'no-referrer')
  if (!headers.has('content-security-policy'))
    headers.set('content-security-policy', "default-src 'none'; frame-ancestors 'none'")
  const { status, statusText } = response
  return new Response(response.body, { status, statusText, headers })
}

function tooManyConnections(): HttpProblem {
  const error = new BelfryError('unavailable', 'The server has reached its connection limit.', {
    hint: 'Try again in 1 s. /live and /ready still answer.',
    details: { retryAfterMs: 1_000 },
  })
  return new HttpProblem(503, error, { 'retry-after': '1' })
}

/** A path parameter is not also documented as a query parameter. */
function addressOf(path: string, input: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams(
    Object.entries(input).map(([field, value]): [string, string] => [field, String(value)]),
  )
  const filled = path.replace(/\{(\w+)\}/g, (_, field: string) => {
    query.delete(field)
    return encodeURIComponent(String(input[field]))
  })
  return `${filled}?${query}`
}

function isNew(answer: unknown): boolean {
  const { created, answer: word } = (answer ?? {}) as { readonly created?: unknown; readonly answer?: unknown }
  return created !== false && (word === undefined || word === 'created')
}

function nameIn(answer: unknown): string | null {
  const { id, name, schedule } = (answer ?? {}) as Readonly<Record<string, unknown>>
  if (typeof schedule === 'object') return nameIn(schedule)
  const found = name ?? id
  return typeof found === 'string' ? found : null
}

function isOfVersions(error: unknown): error is BelfryError {
  return error instanceof BelfryError && error.code === 'conflict' && typeof error.details?.version === 'number'
}

/** No such route, or not with that method. */
function astray(method: string, path: string): HttpProblem {
  const allowed = [...routes, ...serviceEndpoints]
    .filter((place) => patternOf(place).test(path))
    .map((place) => place.method)
  if (allowed.length === 0 || allowed.includes(method as Method)) {
    const leftOut = refusalOfLeftOut(pathWords(path))
    if (leftOut !== null) return new HttpProblem(403, leftOut)
    const error = new BelfryError('not-found', `No such route: ${method} ${path.slice(0, 200)}.`, {
      hint: allowed.length === 0 ? 'See /docs.' : 'Leave out the slash at the end.',
    })
    return new HttpProblem(404, error)
  }
  const words = [...new Set<Method>(allowed)].sort().join(', ')
  const error = new BelfryError('invalid', `Method ${method} is not allowed for ${path.slice(0, 200)}.`, {
    hint: `Allowed: ${words}.`,
  })
  return new HttpProblem(405, error, { allow: words })
}

/** The first and the last word of a path; a name between them may be the choice of a caller. */
function pathWords(path: string): string {
  const words = path.split('/').filter((word) => word !== '' && word !== 'api')
  return `${words[0] ?? ''} ${words.at(-1) ?? ''}`
}

function patternOf({ path }: Pick<Route, 'path'>): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}/?$`)
}
