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
  /** What stands in the place of the subject in the path. */
  readonly subject: string | undefined
}

/** The input that a request asks a verb with, and what is wrong with the request: what is said twice, and not alike. */
export async function inputOf({ request, route, subject }: Arrived): Promise<ReadRequest> {
  const { operation, method } = route
  const problems: Problem[] = []
  const isRead = method === 'GET' || method === 'DELETE'
  const query = new URL(request.url).searchParams
  if (!isRead) refuseQuery(query, problems)
  const given = isRead ? queryOf(query, operation.input, problems) : await bodyOf(request, problems)
  // Of a body that cannot be read nothing else can be said.
  if (problems.some(({ field }) => field === 'body')) refuse(subjectOf(operation.request), problems)
  const input = { ...given }
  if (route.subject !== null) put(input, route.subject, subject, 'the path', problems)
  if (operation.effect !== 'read') putHeaders(input, route, request.headers, problems)
  noteRehearsal(operation, request.headers, problems)
  return { input, problems }
}

/** What headers say beside the body. What the verb has no field for is refused rather than dropped. */
function putHeaders(input: Record<string, unknown>, { operation }: Route, headers: Headers, problems: Problem[]): void {
  const { shape } = operation.input
  const isKept = 'ifVersion' in shape
  const canBeNew = isKept && (shape.ifVersion as z.ZodType).safeParse(0).success
  const seen = seenIn(headers, { isKept, hasIds: 'ifId' in shape, canBeNew }, problems)
  for (const [field, value] of Object.entries(seen)) put(input, field, value, 'If-Match', problems)
  const key = headers.get('idempotency-key')
  if (key === null) return
  if ('idempotencyKey' in shape) put(input, 'idempotencyKey', key, 'Idempotency-Key', problems)
  // The same name and the same words make nothing twice, so that it says nothing new there.
  else if (operation.method !== 'POST') {
    const problem = 'is given, and this is done each time it is asked for'
    problems.push({ field: 'Idempotency-Key', problem, expected: 'none' })
  }
}

/** Whether a request asks for a rehearsal, in the one way in which it can. */
export function isRehearsal(headers: Headers): boolean {
  return headers.get(rehearsalHeader) === 'true'
}

const rehearsalHeader = 'Belfry-Dry-Run'

function noteRehearsal({ rehearses, request }: Route['operation'], headers: Headers, problems: Problem[]): void {
  const asked = headers.get(rehearsalHeader)
  if (asked === null || asked === 'false' || (asked === 'true' && rehearses === true)) return
  const [problem, expected] =
    asked === 'true' ? [`is true, and ${request} cannot be rehearsed`, 'none'] : [isShown(asked), 'true or false']
  problems.push({ field: rehearsalHeader, problem, expected })
}

function put(input: Record<string, unknown>, field: string, value: unknown, where: string, problems: Problem[]): void {
  if (value === undefined) return
  if (Object.hasOwn(input, field) && input[field] !== value) {
    const problem = `is not what ${where} says, which is ${quoted(String(value))}`
    problems.push({ field, problem, expected: 'the same in both, or only one of the two' })
  }
  input[field] = value
}

function refuseQuery(query: URLSearchParams, problems: Problem[]): void {
  for (const field of new Set(query.keys())) {
    problems.push({ field: `?${field}`, problem: 'is in the address', expected: 'it in the JSON body' })
  }
}

/** A query has only texts: what each of them stands for is told by the schema. What it does not know is handed on, to be refused there. */
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

/** The body is one JSON object, or nothing where nothing needs to be said. */
async function bodyOf(request: Request, problems: Problem[]): Promise<Record<string, unknown>> {
  const text = await textOf(request)
  if (text === '') return {}
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') throw wrongType(type)
  const found = jsonIn('body', text, problems)
  if (found === undefined) return {}
  if (isRecord(found)) return found as Record<string, unknown>
  problems.push({ field: 'body', problem: 'is JSON, and no object', expected: 'a JSON object' })
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

/** Reads no more of a body than is allowed, whatever its length says. */
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

/** Whoever sent it is gone, which anybody may do, and is nothing that the log of the server should tell of. */
function cutShort(cause: unknown): BelfryError {
  return new BelfryError('invalid', 'The body ended before it was whole.', { hint: 'Send it again.', cause })
}

export function decoded(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new BelfryError('invalid', 'The body is no text in UTF-8.', { hint: 'Send JSON in UTF-8.', cause })
  }
}

function tooLarge(): HttpProblem {
  const error = new BelfryError('invalid', `The body is larger than ${bodyBytesMax} bytes.`, {
    hint: 'A payload may have 256 KB; what is larger belongs elsewhere, and its address here.',
    details: { bytesMax: bodyBytesMax },
  })
  return new HttpProblem(413, error)
}

function wrongType(type: string | undefined): HttpProblem {
  const is = type === undefined ? 'has no type' : `is ${quoted(type)}`
  const error = new BelfryError('invalid', `The body ${is}, and only application/json is read.`, {
    hint: 'Send the header content-type: application/json.',
  })
  return new HttpProblem(415, error)
}
