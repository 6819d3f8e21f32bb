import { shellWord } from '../../operations/shell-words.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** What was typed to name a store. */
export interface Naming {
  readonly store?: string
  readonly schema?: string
  readonly namespace?: string
}

/** A command of ours inside a text for people; what stands in quotes is somebody's name. */
const command = /(?<![\w/.'"-])belfry(?= (?:up|schedule|run|queue|worker|explain|doctor)\b)/g

/**
 * Spells commands as they must be typed to do what they say: by `npx` where npm started this one, because `belfry` alone is
 * not found there; and with the store that was named, because without it they would go to another one.
 */
export function spelled(text: string, env: Environment, naming: Naming = {}): string {
  const isByNpm = env.npm_command !== undefined || env.npm_lifecycle_event !== undefined
  const words = [isByNpm ? 'npx belfry' : 'belfry', ...flagsOf(naming)].join(' ')
  return words === 'belfry' ? text : text.replace(command, () => words)
}

function flagsOf({ store, schema, namespace }: Naming): string[] {
  const flags = Object.entries({ store: store === undefined ? undefined : withoutPassword(store), schema, namespace })
  return flags.flatMap(([name, value]) => (value === undefined ? [] : [`--${name} ${shellWord(value)}`]))
}

/** What of a command line names a store, also where the rest of it could not be read. */
export function namingIn(typed: readonly string[]): Naming {
  const found = ['store', 'schema', 'namespace'].flatMap((name) => {
    const at = typed.findIndex((word) => word === `--${name}` || word.startsWith(`--${name}=`))
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
