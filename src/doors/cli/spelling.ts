import { shellWord } from '../../operations/shell-words.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** What was typed to name a store, or a server. */
export interface Naming {
  readonly store?: string
  readonly schema?: string
  readonly namespace?: string
  readonly server?: string
  readonly tokenFile?: string
}

/** A command of ours inside a text for people; what stands in quotes is somebody's name. */
const command = /(?<![\w/.'"-])belfry(?= (up|schedule|run|queue|worker|explain|doctor)\b)/g

/**
 * Spells commands as they must be typed to do what they say: by `npx` where npm started this one, because `belfry` alone is
 * not found there; and with the store or the server that was named, because without it they would go elsewhere. A worker is started
 * where the store is, whatever server was asked.
 */
export function spelled(text: string, env: Environment, naming: Naming = {}): string {
  const isByNpm = env.npm_command !== undefined || env.npm_lifecycle_event !== undefined
  const own = isByNpm ? 'npx belfry' : 'belfry'
  const words = [own, ...flagsOf(naming)].join(' ')
  if (words === 'belfry') return text
  return text.replace(command, (_, word: string) => (word === 'up' && naming.server !== undefined ? own : words))
}

function flagsOf({ store, schema, namespace, server, tokenFile }: Naming): string[] {
  const named = store === undefined ? undefined : withoutPassword(store)
  const flags = Object.entries({ store: named, schema, namespace, server, 'token-file': tokenFile })
  return flags.flatMap(([name, value]) => (value === undefined ? [] : [`--${name} ${shellWord(value)}`]))
}

/** What of a command line names a store or a server, also where the rest of it could not be read. */
export function namingIn(typed: readonly string[]): Naming {
  const flags = { store: 'store', schema: 'schema', namespace: 'namespace', server: 'server', tokenFile: 'token-file' }
  const found = Object.entries(flags).flatMap(([name, flag]) => {
    const at = typed.findIndex((word) => word === `--${flag}` || word.startsWith(`--${flag}=`))
    const word = typed[at]
    const value = word?.includes('=') ? word.slice(word.indexOf('=') + 1) : typed[at + 1]
    return at < 0 || value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(found)
}

/** A store as it may be shown. */
export function withoutPassword(url: string): string {
  return url
    .replace(/^(postgres(?:ql)?:\/\/[^:@/?#]*):.*@/s, '$1:PASSWORD@')
    .replace(/([?&]password=)[^&#]*/i, '$1PASSWORD')
}
