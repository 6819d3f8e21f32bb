import type { z } from 'zod'
import { BelfryError } from '../../core/error.ts'
import { readJson } from '../../core/json/json-text.ts'
import { isRecord } from '../../core/json/record.ts'
import { type FieldKind, kindOf, numberOf, unwrapped } from '../../operations/fields/field-kind.ts'
import { isShown, type Problem, quoted, refuse } from '../../operations/input/refuse-input.ts'
import type { ReadRequest } from '../../operations/input/unreadable-input.ts'
import { subjectOf } from '../../operations/operation.ts'
import type { Route } from '../../routes.ts'
import { seenIn } from './etag.ts'
import { HttpProblem } from './problem-details.ts'

export const bodyBytesMax = 1_048_576

interface Arrived {
  readonly request: Request
  readonly route: Route
  /** The subject in the path. */
  readonly subject: string | undefined
}

/** Reads the input of a request, and its problems: fields given twice with different values. */
export async function inputOf({ request, route, subject }: Arrived): Promise<ReadRequest> {
  const { operation, method } = route
  const problems: Problem[] = []
  const isRead = method === 'GET' || method === 'DELETE'
  const query = new URL(request.url).searchParams
  if (!isRead) refuseQuery(query, problems)
  const given = isRead ? queryOf(query, operation.input, problems) : await bodyOf(request, problems)
  // An unreadable body hides every other problem.
  if (problems.some(({ field }) => field === 'body')) refuse(subjectOf(operation.request), problems)
  const input = { ...given }
  if (route.subject !== null) put(input, route.subject, subject, 'the path', problems)
  if (operation.effect !== 'read') putHeaders(input, route, request.headers, problems)
  noteRehearsal(operation, request.headers, problems)
  return { input, problems }
}

/** Input from headers. A header without a field of the verb is refused rather than ignored. */
function putHeaders(input: Record<string, unknown>, { operation }: Route, headers: Headers, problems: Problem[]): void {
  const { shape } = operation.input
  const isKept = 'ifVersion' in shape
  const canBeNew = isKept && (shape.ifVersion as z.ZodType).safeParse(0).success
  const seen = seenIn(headers, { isKept, hasIds: 'ifId' in shape, canBeNew }, problems)
  for (const [field, value] of Object.entries(seen)) put(input, field, value, 'If-Match', problems)
  const key = headers.get('idempotency-key')
  if (key === null) return
  if ('idempotencyKey' in shape) put(input, 'idempotencyKey', key, 'Idempotency-Key', problems)
  // For such a verb the same name with the same fields creates nothing twice, so the key adds nothing.
  else if (operation.method !== 'POST') {
    const problem = 'is given, and this verb is not idempotent'
    problems.push({ field: 'Idempotency-Key', problem, expected: 'none' })
  }
}

/** Whether a request asks for a dry run. */
export function isRehearsal(headers: Headers): boolean {
  return headers.get(rehearsalHeader) === 'true'
}

const rehearsalHeader = 'Belfry-Dry-Run'

function noteRehearsal({ rehearses, request }: Route['operation'], headers: Headers, problems: Problem[]): void {
  const asked = headers.get(rehearsalHeader)
  if (asked === null || asked === 'false' || (asked === 'true' && rehearses === true)) return
  const [problem, expected] =
    asked === 'true' ? [`is true, but ${request} has no dry run`, 'none'] : [isShown(asked), 'true or false']
  problems.push({ field: rehearsalHeader, problem, expected })
}

function put(input: Record<string, unknown>, field: string, value: unknown, where: string, problems: Problem[]): void {
  if (value === undefined) return
  if (Object.hasOwn(input, field) && input[field] !== value) {
    const problem = `differs from ${where}, which is ${quoted(String(value))}`
    problems.push({ field, problem, expected: 'the same in both, or only one of the two' })
  }
  input[field] = value
}

function refuseQuery(query: URLSearchParams, problems: Problem[]): void {
  for (const field of new Set(query.keys())) {
    problems.push({ field: `?${field}`, problem: 'is given in the query', expected: 'the field in the JSON body' })
  }
}

/** A query has only text; the schema says how to read it. An unknown parameter is passed on, to be refused there. */
function queryOf(query: URLSearchParams, input: z.ZodObject, problems: Problem[]): Record<string, unknown> {
  const shape = input.shape as Readonly<Record<string, z.ZodType>>
  const fields = [...new Set(query.keys())].map((field) => {
    const schema = Object.hasOwn(shape, field) ? shape[field] : undefined
    return [
      field,
      queryValue(field, query.getAll(field), schema === undefined ? 'text' : kindOf(unwrapped(schema).inner), problems),
    ]
  })
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined))
}

function queryValue(field: string, given: readonly string[], kind: FieldKind, problems: Problem[]): unknown {
  const [text = ''] = given
  if (kind === 'list' && given.length === 1 && text === '') return []
  if (kind === 'list') return given.flatMap((one) => one.split(',')).map((one) => one.trim())
  if (given.length > 1) {
    problems.push({ field, problem: `is given ${given.length} times`, expected: 'it once' })
    return undefined
  }
  switch (kind) {
    case 'integer':
    case 'number':
      return numberOf(kind, text)
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text
    case 'json':
      return jsonIn(field, text, problems)
    default:
      return text
  }
}

function jsonIn(field: string, text: string, problems: Problem[]): unknown {
  const read = readJson(text)
  if ('value' in read) return read.value
  problems.push({ field, problem: `is ${read.problem}`, expected: read.expected ?? 'JSON' })
  return undefined
}

/** The body is one JSON object, or empty where no field is required. */
async function bodyOf(request: Request, problems: Problem[]): Promise<Record<string, unknown>> {
  const text = await textOf(request)
  if (text === '') return {}
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') throw wrongType(type)
  const found = jsonIn('body', text, problems)
  if (found === undefined) return {}
  if (isRecord(found)) return found as Record<string, unknown>
  problems.push({ field: 'body', problem: 'is JSON but not an object', expected: 'a JSON object' })
  return {}
}

async function textOf(request: Request): Promise<string> {
  return decoded(await bytesOf(request))
}

export interface BodyLimit {
  readonly bytesMax: number
  readonly refusal: () => HttpProblem
}

const bodyLimit: BodyLimit = { bytesMax: bodyBytesMax, refusal: tooLarge }

/** Reads at most the allowed size, whatever the content length claims. */
export async function bytesOf(request: Request, { bytesMax, refusal } = bodyLimit): Promise<Buffer> {
  if (request.body === null) return Buffer.alloc(0)
  if (Number(request.headers.get('content-length') ?? 0) > bytesMax) throw refusal()
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength
      if (bytes > bytesMax) throw refusal()
      chunks.push(chunk)
    }
  } catch (error) {
    throw error instanceof HttpProblem ? error : cutShort(error)
  }
  return Buffer.concat(chunks)
}

/** The client disconnected, which is normal and not worth a log line. */
function cutShort(cause: unknown): BelfryError {
  return new BelfryError('invalid', 'The body is incomplete.', { hint: 'Send it again.', cause })
}

export function decoded(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new BelfryError('invalid', 'The body is not UTF-8.', { hint: 'Send JSON in UTF-8.', cause })
  }
}

function tooLarge(): HttpProblem {
  const error = new BelfryError('invalid', `The body is larger than ${bodyBytesMax} bytes.`, {
    hint: 'A payload may have 256 KB; store larger data elsewhere and send its URL.',
    details: { bytesMax: bodyBytesMax },
  })
  return new HttpProblem(413, error)
}

function wrongType(type: string | undefined): HttpProblem {
  const is = type === undefined ? 'has no type' : `is ${quoted(type)}`
  const error = new BelfryError('invalid', `The body ${is}, and only application/json is accepted.`, {
    hint: 'Send the header content-type: application/json.',
  })
  return new HttpProblem(415, error)
}
