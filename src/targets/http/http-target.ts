import { jsonProblem, plainData } from '../../core/json/json.ts'
import { isSecretName, secretNameExpected } from '../../core/secret-name.ts'
import type { Target } from '../../core/target.ts'
import { type MessageFormat, messageFormats } from '../message.ts'
import { isSecretReference, type SecretReference } from '../secret.ts'
import { problemAt, secretProblems, shown, type TargetProblem, unicodeProblems } from '../target-problem.ts'
import { urlProblem } from './address-guard.ts'
import type { SigningKeys } from './sign-request.ts'

/** The request, sent exactly as given. */
export interface HttpRequest {
  readonly url: string
  /** Default: GET without a body and POST with one. */
  readonly method?: string | undefined
  readonly headers?: Readonly<Record<string, string | SecretReference>> | undefined
  /** Text is sent as it is; everything else as JSON. Default: the run's payload, where the method has a body. */
  readonly body?: unknown
  /** For a message: the form that the receiver takes, instead of a body. Default: json. */
  readonly format?: MessageFormat | undefined
  /** How much of the answer is kept. Default: 100 KB. */
  readonly keepBytes?: number | undefined
  /** The secrets that the request is signed with. */
  readonly sign?: SigningKeys | undefined
}

/** A target that calls an HTTP endpoint. */
export interface HttpTarget {
  readonly http: HttpRequest
}

const fields = ['url', 'method', 'headers', 'body', 'keepBytes', 'sign']
export const keepBytesRange = { min: 1_024, max: 10 * 1_024 * 1_024, default: 100 * 1_024 }
const messageFields = [...fields, 'format']
const urlLengthMax = 8_000
const headersMax = 100
const headerLengthMax = 8_000
const headerExpected = "a text, or { secret: 'NAME' }"
const headerName = /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/
/** The characters of a header value: it is one line of Latin-1. */
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/

/** Headers that belong to the connection and not to the request, or that two readers could understand differently. */
const connectionHeaders: ReadonlySet<string> = new Set([
  ...['connection', 'content-length', 'expect', 'host', 'http2-settings', 'keep-alive', 'proxy-connection', 'te'],
  ...['trailer', 'transfer-encoding', 'upgrade'],
])

/**
 * Everything that is wrong with an HTTP target, or with one that sends messages. Whether the address may be called is checked at
 * the call.
 */
export function httpTargetProblems(target: Target, { isMessage = false } = {}): TargetProblem[] {
  const strays = Object.keys(target).filter((field) => field !== 'http')
  const { http } = target
  return [
    ...strays.map((field) => problemAt(field, 'is not known beside http', 'the field http alone')),
    ...(isRecord(http)
      ? requestProblems(http, isMessage)
      : [problemAt('http', `is ${shown(http)}`, 'an object with a url')]),
  ]
}

function requestProblems(http: Record<string, unknown>, isMessage: boolean): TargetProblem[] {
  const known = isMessage ? messageFields : fields
  const strays = Object.keys(http).filter((field) => !known.includes(field))
  const { url, method, headers, body, format, keepBytes, sign } = http
  return [
    ...strays.map((field) => problemAt(`http.${field}`, 'is not known', `only ${known.join(', ')}`)),
    ...(isMessage && format !== undefined ? formatProblems(format, http) : []),
    ...urlProblems(url),
    ...(method === undefined ? [] : methodProblems(method)),
    ...(headers === undefined ? [] : headersProblems(headers)),
    ...(body === undefined ? [] : bodyProblems(body)),
    ...(keepBytes === undefined ? [] : keepProblems(keepBytes)),
    ...(sign === undefined ? [] : signProblems(sign)),
  ]
}

function urlProblems(url: unknown): TargetProblem[] {
  const at = (problem: string, expected = 'an absolute URL, such as https://example.org/path') => [
    problemAt('http.url', problem, expected),
  ]
  if (typeof url !== 'string') return at(`is ${shown(url)}`)
  if (url.length > urlLengthMax) return at(`has ${url.length} characters`, `at most ${urlLengthMax}`)
  // URL parsers drop or change these characters silently.
  if (/[\s\p{Cc}\\]/u.test(url) || !url.isWellFormed()) {
    return at('has a space, a control character or a backslash', 'a URL in which these are written as %20 and the like')
  }
  if (!URL.canParse(url)) return at('cannot be read as an absolute URL')
  if (url.includes('#')) return at('has a part after #, which is never sent', 'a URL without it')
  const problem = urlProblem(new URL(url))
  return problem === null ? [] : at(`is refused: ${problem}`)
}

function formatProblems(format: unknown, { body, method }: Record<string, unknown>): TargetProblem[] {
  const at = (problem: string, expected: string) => problemAt('http.format', problem, expected)
  const isKnown = messageFormats.some((known) => known === format)
  const shownFormat = typeof format === 'string' ? JSON.stringify(format.slice(0, 40)) : shown(format)
  return [
    ...(isKnown ? [] : [at(`is ${shownFormat}`, `one of ${messageFormats.join(', ')}`)]),
    ...(body === undefined ? [] : [at('is given beside body', 'one of the two')]),
    ...(method === undefined || method === 'POST' || method === 'PUT'
      ? []
      : [at(`is sent by ${shown(method)}`, 'the method POST or PUT')]),
  ]
}

function keepProblems(keepBytes: unknown): TargetProblem[] {
  const { min, max } = keepBytesRange
  if (Number.isInteger(keepBytes) && (keepBytes as number) >= min && (keepBytes as number) <= max) return []
  return [problemAt('http.keepBytes', `is ${shown(keepBytes)}`, `a whole number of bytes from ${min} to ${max}`)]
}

/** Names of secrets are never shown: such a field may contain the secret itself by mistake. */
function signProblems(sign: unknown): TargetProblem[] {
  if (typeof sign !== 'object' || sign === null || Array.isArray(sign)) {
    return [problemAt('http.sign', `is ${shown(sign)}`, "an object such as { secret: 'NAME' }")]
  }
  const { secret, previous, ...strays } = sign as Record<string, unknown>
  const name = (field: string, value: unknown) =>
    isSecretName(value) ? [] : [problemAt(`http.sign.${field}`, 'is not the name of a secret', secretNameExpected)]
  return [
    ...Object.keys(strays).map((field) =>
      problemAt(`http.sign.${field.slice(0, 60)}`, 'is not known', 'only secret and previous'),
    ),
    ...name('secret', secret),
    ...(previous === undefined ? [] : name('previous', previous)),
    ...(previous !== undefined && previous === secret
      ? [problemAt('http.sign.previous', 'is the same as secret', 'the key that secret replaces')]
      : []),
  ]
}

function methodProblems(method: unknown): TargetProblem[] {
  const expected = 'a method in capitals, such as GET or POST, other than CONNECT and TRACE'
  if (typeof method !== 'string') return [problemAt('http.method', `is ${shown(method)}`, expected)]
  if (/^[A-Z][A-Z\d_-]{0,39}$/.test(method) && method !== 'CONNECT' && method !== 'TRACE') return []
  return [problemAt('http.method', `is ${JSON.stringify(method.slice(0, 40))}`, expected)]
}

function headersProblems(headers: unknown): TargetProblem[] {
  if (!isRecord(headers)) {
    return [problemAt('http.headers', `is ${shown(headers)}`, 'an object of names and texts')]
  }
  const names = Object.keys(headers)
  if (names.length > headersMax) return [problemAt('http.headers', `has ${names.length}`, `at most ${headersMax}`)]
  return names.flatMap((name, index) => {
    const field = `http.headers[${JSON.stringify(name.slice(0, 60))}]`
    const isTwice = names.slice(0, index).some((other) => other.toLowerCase() === name.toLowerCase())
    const problem = isTwice ? { problem: 'is there twice', expected: 'each name once' } : nameProblem(name)
    return problem === null ? valueProblems(headers[name], field) : [{ field, ...problem }]
  })
}

function nameProblem(name: string): Omit<TargetProblem, 'field'> | null {
  const lower = name.toLowerCase()
  if (!headerName.test(name)) return { problem: 'is not the name of a header', expected: 'letters, digits and dashes' }
  if (connectionHeaders.has(lower)) return { problem: 'is set by the connection', expected: 'another header' }
  if (lower.startsWith('belfry-')) return { problem: 'is set by Belfry', expected: 'another header' }
  if (lower === 'traceparent') return { problem: 'is set by Belfry', expected: 'a traceparent given with the run' }
  return null
}

function valueProblems(value: unknown, field: string): TargetProblem[] {
  if (isSecretReference(value)) return secretProblems(value.secret, field)
  if (typeof value !== 'string') return [problemAt(field, `is ${shown(value)}`, headerExpected)]
  const problem = headerValueProblem(value)
  return problem === null ? [] : [problemAt(field, problem, 'a line of Latin-1 characters without spaces around it')]
}

/** Why a text cannot be the value of a header; it never shows the text. */
export function headerValueProblem(value: string): string | null {
  if (value.length > headerLengthMax) return `has over ${headerLengthMax} characters`
  if (!headerValue.test(value)) return 'has a character that no header can hold'
  return value === value.trim() ? null : 'has spaces around it'
}

function bodyProblems(body: unknown): TargetProblem[] {
  if (typeof body === 'string') return unicodeProblems(body, 'http.body')
  const found = jsonProblem(body)
  if (found !== null) return [problemAt(`http.body${found.path}`, found.problem, plainData)]
  return wrongSecrets(body, 'http.body')
}

function wrongSecrets(value: unknown, field: string): TargetProblem[] {
  if (isSecretReference(value)) return secretProblems(value.secret, field)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    wrongSecrets(inner, `${field}[${Array.isArray(value) ? key : JSON.stringify(key)}]`),
  )
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isSecretReference(value)
}
