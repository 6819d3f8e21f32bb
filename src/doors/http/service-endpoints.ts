import type { Scope } from '../../operations/caller-scope.ts'
import type { JsonSchema } from '../../operations/schema/json-schema.ts'

/** The routes beside the verbs at the HTTP door. */
export interface ServiceEndpoint {
  readonly id: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly says: string
  /** The least scope of the caller; null: no token needed. */
  readonly scope: Scope | null
  readonly type: string
  readonly schema: JsonSchema
  /** Whether it may answer that something is not healthy, with the same form and another status. */
  readonly mayBeUnwell?: true
  /** The headers and query parameters that it knows. */
  readonly asks?: readonly { readonly name: string; readonly in: 'header' | 'query'; readonly says: string }[]
}

const json = 'application/json'
const instant: JsonSchema = { type: 'string', format: 'date-time' }

function answering(properties: Record<string, JsonSchema>): JsonSchema {
  return { type: 'object', required: Object.keys(properties), properties }
}

function oneOf(...words: string[]): JsonSchema {
  return { type: 'string', enum: words }
}

const reason = answering({
  check: { type: 'string', description: 'The check.' },
  state: oneOf('note', 'wrong'),
  says: { type: 'string', description: 'What was found.' },
})

/** A test asks for each of them, and with every other method. */
export const serviceEndpoints: readonly ServiceEndpoint[] = [
  {
    id: 'live',
    method: 'GET',
    path: '/live',
    says: 'Answer 200 while the server runs.',
    scope: null,
    type: json,
    schema: answering({ status: oneOf('live') }),
  },
  {
    id: 'ready',
    method: 'GET',
    path: '/ready',
    says: 'Report whether the store answers and the worker in this process runs.',
    scope: null,
    type: json,
    schema: answering({ status: oneOf('ready', 'not-ready') }),
    mayBeUnwell: true,
  },
  {
    id: 'health',
    method: 'GET',
    path: '/health',
    says: 'Report the health of the server in one word, with reasons; computed at most every five seconds.',
    scope: 'read',
    type: json,
    schema: answering({
      status: oneOf('healthy', 'degraded', 'unhealthy'),
      at: instant,
      reasons: { type: 'array', items: reason },
    }),
    mayBeUnwell: true,
  },
  {
    id: 'metrics',
    method: 'GET',
    path: '/metrics',
    says: 'Report metrics for Prometheus.',
    scope: 'read',
    type: 'text/plain',
    schema: { type: 'string' },
  },
  {
    id: 'now',
    method: 'GET',
    path: '/api/now',
    says: 'Return the time of the store’s clock.',
    scope: 'read',
    type: json,
    schema: answering({ now: instant }),
  },
  {
    id: 'events',
    method: 'GET',
    path: '/api/events',
    says: 'Stream events as server-sent events.',
    scope: 'read',
    type: 'text/event-stream',
    schema: { type: 'string' },
    asks: [
      {
        name: 'Last-Event-ID',
        in: 'header',
        says: 'The id of the last received event; the stream continues after it.',
      },
      { name: 'lastEventId', in: 'query', says: 'The same, for clients that cannot set headers.' },
    ],
  },
  {
    id: 'openapi',
    method: 'GET',
    path: '/openapi.json',
    says: 'Return the OpenAPI document of this server.',
    scope: null,
    type: json,
    schema: { type: 'object' },
  },
  {
    id: 'docs',
    method: 'GET',
    path: '/docs',
    says: 'Show the documents as a page.',
    scope: null,
    type: 'text/html',
    schema: { type: 'string' },
  },
  {
    id: 'mcp',
    method: 'POST',
    path: '/mcp',
    says: 'Serve the verbs to models over the Model Context Protocol.',
    scope: 'read',
    type: json,
    schema: { type: 'object' },
    asks: [
      {
        name: 'tools',
        in: 'query',
        says: 'The tools to offer, separated by commas: default, all, a noun, or tool names. Default: default.',
      },
    ],
  },
]
