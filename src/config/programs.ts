import { createHash } from 'node:crypto'
import { secretsIn } from '../core/secret-name.ts'
import { sorted } from '../operations/config/apply.ts'

/** What a file would have a machine do that its owner should know of, by where it says so. */
export interface Program {
  /** `schedules.nightly.target`. */
  readonly where: string
  readonly what: string
  /** What else trust covers: the rest of the target, such as `cwd` and `env`, and the payload that the program reads. */
  readonly with: Readonly<Record<string, unknown>>
}

const programKinds = ['command', 'agent'] as const
/** What is handed on as it is, and is no target whatever it looks like. */
const data: ReadonlySet<string> = new Set(['payload', 'expect', 'env'])

/** A program, and all that decides what it does: what must be the same for trust to hold. */
interface Start extends Program {
  readonly starts: unknown
}

/** The programs of a document, as people are shown them. */
export function programsIn(document: unknown): Program[] {
  return startsOf(document).programs
}

/**
 * What trust is given to: every command with its folder, environment, secrets and what it reads, and what comes to the same.
 * When it is started, and under which name, is not part of it, so that an edit of a timing needs no new trust.
 */
export function programsHash(document: unknown): string {
  return startsOf(document).hash
}

/** The same of each program by itself, in the order of `programsIn`. */
export function hashesOfPrograms(document: unknown): string[] {
  return startsOf(document).hashes
}

interface Starts {
  readonly programs: Program[]
  readonly hashes: string[]
  readonly hash: string
}

/** A worker asks of the same document at every look. */
const known = new WeakMap<object, Starts>()

function startsOf(document: unknown): Starts {
  const isObject = typeof document === 'object' && document !== null
  const before = isObject ? known.get(document) : undefined
  if (before !== undefined) return before
  const found = startsIn(document, '', undefined)
  const texts = found.map(({ starts }) => JSON.stringify(sorted(starts)))
  const programs = found.map(({ starts: _, ...program }) => program)
  const starts = { programs, hashes: texts.map(hashOf), hash: hashOf([...new Set(texts)].sort().join('\n')) }
  if (isObject) known.set(document, starts)
  return starts
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/**
 * Finds every program that a document would start, at whatever depth a target stands, and what comes to the same: secrets
 * of this machine that it would send somewhere, a token that could start programs then, and a door that it would open wide.
 */
function startsIn(value: unknown, where: string, payload: unknown): Start[] {
  if (where === 'server')
    return opensDoor(value)
      ? [{ where, what: 'listens beyond this machine', with: without('', value), starts: value }]
      : []
  if (typeof value !== 'object' || value === null) return []
  if (where === 'tokens') return mightyTokens(value)
  // A program reads the payload of its schedule, and a shell executes what it reads.
  const given = 'payload' in value && !isEntry(where) ? value.payload : payload
  return Object.entries(value).flatMap(([key, inner]) => {
    const place = where === '' ? key : `${where}.${key}`
    if (programKinds.some((kind) => kind === key) && !isEntry(where)) {
      const what = typeof inner === 'string' ? inner : JSON.stringify(inner)
      const rest = { ...without(key, value), ...(given !== undefined && { payload: given }) }
      return [{ where, what, with: rest, starts: { target: value, payload: given } }]
    }
    if (key === 'http' && !isEntry(where)) return secretsSent(inner, where)
    return data.has(key) && !isEntry(where) ? [] : startsIn(inner, place, given)
  })
}

function secretsSent(request: unknown, where: string): Start[] {
  const { url } = (request ?? {}) as { readonly url?: unknown }
  const rest = without('url', request)
  return secretsIn(request).map((name) => ({
    where,
    what: `sends the secret ${name} to ${url}`,
    with: rest,
    starts: request,
  }))
}

function without(key: string, value: unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value ?? {}).filter(([other]) => other !== key))
}

function mightyTokens(tokens: object): Start[] {
  return Object.entries(tokens).flatMap(([name, given]) => {
    const scope = (given as { readonly scope?: unknown } | null)?.scope ?? given
    return scope === 'admin'
      ? [{ where: `tokens.${name}`, what: 'may do anything', with: {}, starts: { token: name } }]
      : []
  })
}

/** `none`, a port alone, or one at an address that only this machine can reach. */
const ownListen = /^(?:none|(?:(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]):)?\d{1,5})$/i

/** Also where it names only the address: whoever starts the worker may have said that a proxy is in front. */
function opensDoor(server: unknown): boolean {
  const { behindProxy, listen } = (server ?? {}) as { readonly behindProxy?: unknown; readonly listen?: unknown }
  return behindProxy === true || (listen !== undefined && !ownListen.test(String(listen)))
}

/** Where the names are those of schedules and queues, which may be called anything. */
function isEntry(where: string): boolean {
  return where === 'schedules' || where === 'queues'
}
