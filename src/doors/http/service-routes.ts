import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import type { Hono } from 'hono'
import type { Events } from '../../engine/events.ts'
import { isoText } from '../../operations/input/instant.ts'
import { type Problem, refuse } from '../../operations/input/refuse-input.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import { clockNow } from '../../store/statement.ts'
import { Confirmations } from '../mcp/confirmations.ts'
import { mcpServer } from '../mcp/mcp-server.ts'
import { chosenTools } from '../mcp/tool-sets.ts'
import { type Authenticator, refuseBelow } from './authenticator.ts'
import { docsPage, docsResponse } from './docs-page.ts'
import { EventStreams } from './event-stream.ts'
import { HealthWatch } from './health.ts'
import { Metrics } from './metrics.ts'
import { openApi } from './openapi.ts'
import { requestAddress } from './request-address.ts'

export interface ServiceRoutesOptions {
  readonly context: OperationContext
  readonly gate: Authenticator
  readonly version: string
  readonly basePath: string
  readonly events: Events
  /** Whether the worker in this process runs; absent without one. */
  readonly isWorking?: () => boolean
  readonly onUnforeseen?: (error: unknown) => void
}

/** The routes beside the verbs: health, documents, and the MCP endpoint. */
export class ServiceRoutes {
  readonly #options: ServiceRoutesOptions
  readonly #health: HealthWatch
  readonly #metrics: Metrics
  readonly #streams: EventStreams
  readonly #confirmations: Confirmations
  #openApiText: string | undefined
  #docsPage: ((address: string) => string) | undefined

  constructor(options: ServiceRoutesOptions) {
    this.#options = options
    const { context, events, onUnforeseen } = options
    this.#health = new HealthWatch(context, onUnforeseen)
    this.#metrics = new Metrics(context, events)
    this.#streams = new EventStreams(context)
    this.#confirmations = new Confirmations(context.randomHex(32), context.clock)
  }

  /** Liveness and readiness need no token, and reveal nothing else. */
  addTo(app: Hono): void {
    const { gate } = this.#options
    app.get('/live', () => Response.json({ status: 'live' }))
    app.get('/ready', () => this.#ready())
    app.get('/health', async ({ req }) => {
      refuseBelow(await gate.callerOf(req.raw), 'read')
      const health = await this.#health.health()
      return Response.json(health, { status: health.status === 'unhealthy' ? 503 : 200 })
    })
    app.get('/metrics', async ({ req }) => {
      refuseBelow(await gate.callerOf(req.raw), 'read')
      return new Response(await this.#metrics.text(), { headers: { 'content-type': this.#metrics.contentType } })
    })
    app.get('/api/now', async ({ req }) => {
      await gate.callerOf(req.raw)
      const now = isoText(await this.#options.context.store.look(clockNow))
      return Response.json({ now }, { headers: { 'cache-control': 'no-store' } })
    })
    app.get('/api/events', async ({ req }) => {
      const caller = await gate.callerOf(req.raw)
      refuseBelow(caller, 'read')
      return this.#streams.stream(req.raw, { caller, isLetIn: () => gate.knows(req.raw) })
    })
    app.get('/openapi.json', () => new Response(this.#openApi(), { headers: { 'content-type': 'application/json' } }))
    app.get('/docs', ({ req }) => docsResponse(this.#docs(requestAddress(req.raw))))
    // A person who opens the server's address in a browser is sent to the documents.
    for (const path of ['', '/']) app.get(path, () => this.#home())
    app.post('/mcp', ({ req }) => this.#mcp(req.raw))
  }

  /** Both are constant while the door is open and computed once: computing them blocks too long to repeat. */
  #openApi(): string {
    this.#openApiText ??= JSON.stringify(openApi(this.#options.version, this.#options.basePath))
    return this.#openApiText
  }

  #docs(address: string): string {
    this.#docsPage ??= docsPage(this.#options.version, this.#options.basePath)
    return this.#docsPage(address)
  }

  #home(): Response {
    const headers = { location: `${this.#options.basePath}/docs`, 'cache-control': 'no-store' }
    return new Response('See /docs.\n', { status: 302, headers })
  }

  close(): void {
    this.#metrics.close()
    this.#streams.close()
  }

  async #ready(): Promise<Response> {
    const { isWorking } = this.#options
    const isReady = (isWorking?.() ?? true) && (await this.#health.isReady())
    return Response.json({ status: isReady ? 'ready' : 'not-ready' }, { status: isReady ? 200 : 503 })
  }

  /** Each request has its own MCP server: only confirmations are remembered between requests. */
  async #mcp(request: Request): Promise<Response> {
    const { context, gate, version, basePath, onUnforeseen } = this.#options
    const { scope, ...caller } = await gate.callerOf(request)
    const problems: Problem[] = []
    const named = new URL(request.url).searchParams.get('tools') ?? undefined
    // An agent in its run may use only a few tools, so it gets all of them by default.
    const tools = chosenTools(named ?? (caller.within && 'all'), { scope, field: 'tools', problems })
    refuse('The request', problems)
    const server = mcpServer({
      context: async () => ({ ...context, actor: { ...caller, door: 'mcp' } }),
      version,
      scope,
      isInRun: caller.within !== undefined,
      tools,
      confirmations: this.#confirmations,
      start: { door: 'http', path: `${basePath}/mcp`, ...(named !== undefined && { tools: named }) },
      ...(onUnforeseen !== undefined && { onUnforeseen }),
    })
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    await server.connect(transport)
    return transport.handleRequest(request)
  }
}
