import type { Scope } from '../../operations/caller-scope.ts'
import type { JsonSchema } from '../../operations/schema/json-schema.ts'

/** What stands beside the verbs at the HTTP door. */
export interface ServiceEndpoint {
  readonly id: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly says: string
  /** What whoever asks must be allowed at least; null where no token is asked for. */
  readonly scope: Scope | null
  readonly type: string
  readonly schema: JsonSchema
  /** Whether it may answer that something is not well, with the same form and another status. */
  readonly mayBeUnwell?: true
  /** Headers and questions in the address that it knows, with what they say. */
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
  check: { type: 'string', description: 'What was looked at.' },
  state: oneOf('note', 'wrong'),
  says: { type: 'string', description: 'What was found.' },
})

/** A test asks for each of them, and with every other method. */
export const serviceEndpoints: readonly ServiceEndpoint[] = [
  {
    id: 'live',
    method: 'GET',
    path: '/live',
    says: 'Says that the server lives.',
    scope: null,
    type: json,
    schema: answering({ status: oneOf('live') }),
  },
  {
    id: 'ready',
    method: 'GET',
    path: '/ready',
    says: 'Says whether the store answers, and the worker beside the server works.',
    scope: null,
    type: json,
    schema: answering({ status: oneOf('ready', 'not-ready') }),
    mayBeUnwell: true,
  },
  {
    id: 'health',
    method: 'GET',
    path: '/health',
    says: 'Tells how all is in one word, and why it is not well; looked at anew every five seconds at most.',
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
    says: 'Tells figures as Prometheus reads them.',
    scope: 'read',
    type: 'text/plain',
    schema: { type: 'string' },
  },
  {
    id: 'now',
    method: 'GET',
    path: '/api/now',
    says: 'Tells what time it is by the clock of the store.',
    scope: 'read',
    type: json,
    schema: answering({ now: instant }),
  },
  {
    id: 'events',
    method: 'GET',
    path: '/api/events',
    says: 'Streams what happens as server-sent events, for as long as somebody listens.',
    scope: 'read',
    type: 'text/event-stream',
    schema: { type: 'string' },
    asks: [
      {
        name: 'Last-Event-ID',
        in: 'header',
        says: 'The id of the last event that was heard; what came behind it is told.',
      },
      { name: 'lastEventId', in: 'query', says: 'The same, for whoever cannot set a header.' },
    ],
  },
  {
    id: 'openapi',
    method: 'GET',
    path: '/openapi.json',
    says: 'Tells what can be asked here, as OpenAPI.',
    scope: null,
    type: json,
    schema: { type: 'object' },
  },
  {
    id: 'docs',
    method: 'GET',
    path: '/docs',
    says: 'Tells the same to people.',
    scope: null,
    type: 'text/html',
    schema: { type: 'string' },
  },
  {
    id: 'mcp',
    method: 'POST',
    path: '/mcp',
    says: 'Serves the verbs to models, by the Model Context Protocol.',
    scope: 'read',
    type: json,
    schema: { type: 'object' },
    asks: [
      {
        name: 'tools',
        in: 'query',
        says: 'The tools to offer: default, all, a noun, or names, with commas between them. Default: default.',
      },
    ],
  },
]
