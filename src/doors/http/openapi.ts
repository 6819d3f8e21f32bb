import type { ErrorCode } from '../../core/error.ts'
import { kinds } from '../../kinds.ts'
import { errorCodes, errorsOfAll, errorsOfDoors } from '../../operations/error-codes.ts'
import { type JsonSchema, jsonSchemaOf } from '../../operations/schema/json-schema.ts'
import { partPaths } from '../../parts-face.ts'
import { type Route, routes } from '../../routes.ts'
import { nouns, pluralOf } from '../../table.ts'
import { type ServiceEndpoint, serviceEndpoints } from './service-endpoints.ts'

type Json = Readonly<Record<string, unknown>>

/** The whole door as OpenAPI 3.1, derived from the table so that it matches the responses. */
export function openApi(version: string, basePath = ''): Json {
  const shapes = new Map<string, JsonSchema>()
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of routes) {
    const methods = paths[route.path] ?? {}
    methods[route.method.toLowerCase()] = told(route, shapes)
    paths[route.path] = methods
  }
  Object.assign(paths, partPaths)
  for (const place of serviceEndpoints) paths[place.path] = { [place.method.toLowerCase()]: endpointDocs(place) }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Belfry',
      version,
      description:
        'A durable scheduler for everything that must happen on time. It can explain why each run did or did not happen.',
    },
    servers: [{ url: basePath === '' ? '/' : basePath }],
    security: [{ token: [] }],
    tags: [
      ...Object.values(nouns).map(({ plural, says }) => ({ name: plural, description: says })),
      { name: 'server', description: 'Health, events and documents of the server.' },
    ],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'An API token of this server.' } },
      schemas: { ...Object.fromEntries([...shapes].sort(([a], [b]) => (a < b ? -1 : 1))), Problem: problem },
    },
  }
}

const problem: JsonSchema = {
  type: 'object',
  description: 'The error: what was wrong, where, and what was expected (RFC 9457).',
  required: ['type', 'title', 'status', 'detail', 'code'],
  properties: {
    type: { type: 'string', description: 'A link to the description of this kind of error.' },
    title: { type: 'string', description: 'What this kind of error means.' },
    status: { type: 'integer', description: 'The HTTP status.' },
    detail: { type: 'string', description: 'What happened.' },
    code: { type: 'string', enum: Object.keys(errorCodes), description: 'The kind of error, the same at every door.' },
    hint: { type: 'string', description: 'What to do next.' },
    details: { type: 'object', description: 'The error as data; `problems` lists everything wrong with an input.' },
  },
}

function told(route: Route, shapes: Map<string, JsonSchema>): Json {
  const { operation, method, subject, status } = route
  const { noun, verb, says, scope, adminForCommands, effect } = operation
  const input = lifted(jsonSchemaOf(operation.input, 'input', kinds), shapes)
  const fields = (input.properties ?? {}) as Record<string, JsonSchema>
  const required = new Set(input.required ?? [])
  const isRead = method === 'GET' || method === 'DELETE'
  const rest = Object.keys(fields).filter((field) => field !== subject)
  const parameters = [
    ...(subject === null ? [] : [parameter('path', subject, fields[subject], true)]),
    ...(isRead ? rest.map((field) => parameter('query', field, fields[field], required.has(field))) : []),
    ...headersOf(route, fields),
  ]
  return {
    operationId: `${noun}.${verb}`,
    tags: [pluralOf(noun)],
    summary: says,
    'x-scope': scope,
    'x-effect': effect,
    ...(adminForCommands === true && { 'x-scope-for-commands': 'admin' }),
    ...(parameters.length > 0 && { parameters }),
    ...(!isRead && { requestBody: bodyOf(route, { ...input, properties: only(fields, rest) }, required) }),
    responses: {
      ...answerOf(route, status, shapes),
      ...refusalsOf([...operation.errors, ...errorsOfDoors, ...errorsOfAll]),
      ...refusalsOfRequest({ hasBody: !isRead, hasVersion: 'ifVersion' in fields }),
    },
  }
}

function endpointDocs({ id, says, scope, type, schema, mayBeUnwell, asks = [] }: ServiceEndpoint): Json {
  const content = { [type]: { schema } }
  const isLocked = scope !== null
  return {
    operationId: `server.${id}`,
    tags: ['server'],
    summary: says,
    ...(isLocked ? { 'x-scope': scope } : { security: [] }),
    ...(asks.length > 0 && {
      parameters: asks.map((asked) => ({
        name: asked.name,
        in: asked.in,
        description: asked.says,
        schema: { type: 'string' },
      })),
    }),
    responses: {
      200: { description: 'The answer.', content },
      ...refusalsOf([...(isLocked ? errorsOfDoors : []), 'failure']),
      ...(mayBeUnwell === true && { 503: { description: 'Belfry is not healthy; the body says why.', content } }),
      ...refusalsOfRequest({ hasBody: false, hasVersion: false }),
    },
  }
}

/** Problems of the request itself. */
const statuses = {
  405: 'The path does not allow this method; the header Allow lists the methods it allows.',
  412: 'The version or id differs from the one that If-Match requires.',
  413: 'The body is larger than 1 MB.',
  415: 'The body is not application/json.',
} as const

const problemContent = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } }

function refusalsOfRequest({ hasBody, hasVersion }: { readonly hasBody: boolean; readonly hasVersion: boolean }): Json {
  const own: (keyof typeof statuses)[] = [405]
  if (hasVersion) own.push(412)
  if (hasBody) own.push(413, 415)
  return Object.fromEntries(own.map((status) => [status, { description: statuses[status], content: problemContent }]))
}

function only(fields: Record<string, JsonSchema>, names: readonly string[]): Record<string, JsonSchema> {
  return Object.fromEntries(names.map((name) => [name, fields[name] as JsonSchema]))
}

function parameter(where: 'path' | 'query', name: string, schema: JsonSchema | undefined, required: boolean): Json {
  const { description, ...rest } = schema ?? {}
  return { name, in: where, required, ...(description !== undefined && { description }), schema: rest }
}

function headersOf({ operation }: Route, fields: Record<string, JsonSchema>): Json[] {
  const header = (name: string, description: string) => ({
    name,
    in: 'header',
    description,
    schema: { type: 'string' },
  })
  return [
    ...('ifVersion' in fields
      ? [header('If-Match', 'The ETag that the entry must have; use it instead of ifVersion.')]
      : []),
    ...('idempotencyKey' in fields ? [header('Idempotency-Key', 'The same as idempotencyKey.')] : []),
    ...(operation.rehearses === true
      ? [header('Belfry-Dry-Run', 'true: answer what the call would do, and write nothing.')]
      : []),
  ]
}

function bodyOf({ operation, subject }: Route, schema: JsonSchema, required: ReadonlySet<string>): Json {
  const { $schema: _, ...plain } = schema
  const needed = [...required].filter((field) => field !== subject)
  const examples = operation.examples.map((example, index) => {
    const { [subject ?? '']: _subject, ...value } = example as Readonly<Record<string, unknown>>
    return [`example ${index + 1}`, { value }]
  })
  return {
    required: needed.length > 0,
    content: {
      'application/json': { schema: { ...plain, required: needed }, examples: Object.fromEntries(examples) },
    },
  }
}

function answerOf({ operation }: Route, status: number, shapes: Map<string, JsonSchema>): Json {
  const { $schema: _, ...schema } = lifted(jsonSchemaOf(operation.output, 'at doors', kinds), shapes)
  const content = { 'application/json': { schema } }
  const usual = { 200: { description: 'The answer.', content } }
  return status === 200 ? usual : { 201: { description: 'Created.', content }, ...usual }
}

function refusalsOf(codes: readonly ErrorCode[]): Json {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of codes) {
    const { status } = errorCodes[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const entries = [...byStatus].map(([status, named]) => {
    const description = named.map((code) => `\`${code}\`: ${errorCodes[code].says}`).join(' ')
    return [status, { description, content: problemContent }]
  })
  return Object.fromEntries(entries)
}

/** Moves named schemas to the components, so that each is defined once. */
function lifted(schema: JsonSchema, shapes: Map<string, JsonSchema>): JsonSchema {
  const { $defs = {}, ...rest } = schema
  for (const [name, shape] of Object.entries($defs)) shapes.set(name, pointed(shape as JsonSchema))
  return pointed(rest)
}

function pointed<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(pointed) as Value
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, inner]) => [
    key,
    key === '$ref' && typeof inner === 'string' ? inner.replace('#/$defs/', '#/components/schemas/') : pointed(inner),
  ])
  return Object.fromEntries(entries) as Value
}
