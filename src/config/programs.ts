import { secretsIn } from '../core/secret-name.ts'

/** What a file would have a machine do that its owner should know of, by where it says so. */
export interface Program {
  /** `schedules.nightly.target`. */
  readonly where: string
  readonly what: string
}

const programKinds = ['command', 'agent'] as const
/** What is handed on as it is, and is no target whatever it looks like. */
const data: ReadonlySet<string> = new Set(['payload', 'expect', 'env'])

/**
 * Finds every program that a document would start, at whatever depth a target stands, and what comes to the same: secrets
 * of this machine that it would send somewhere, a token that could start programs then, and a door that it would open wide.
 */
export function programsIn(value: unknown, where = ''): Program[] {
  if (where === 'server') return opensDoor(value) ? [{ where, what: 'listens beyond this machine' }] : []
  if (typeof value !== 'object' || value === null) return []
  if (where === 'tokens') return mightyTokens(value)
  return Object.entries(value).flatMap(([key, inner]) => {
    const place = where === '' ? key : `${where}.${key}`
    if (programKinds.some((kind) => kind === key) && !isEntry(where)) {
      return [{ where, what: typeof inner === 'string' ? inner : JSON.stringify(inner) }]
    }
    if (key === 'http' && !isEntry(where)) return secretsSent(inner, where)
    return data.has(key) && !isEntry(where) ? [] : programsIn(inner, place)
  })
}

function secretsSent(request: unknown, where: string): Program[] {
  const { url } = (request ?? {}) as { readonly url?: unknown }
  return secretsIn(request).map((name) => ({ where, what: `sends the secret ${name} to ${url}` }))
}

function mightyTokens(tokens: object): Program[] {
  return Object.entries(tokens).flatMap(([name, given]) => {
    const scope = (given as { readonly scope?: unknown } | null)?.scope ?? given
    return scope === 'admin' ? [{ where: `tokens.${name}`, what: 'may do anything' }] : []
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
