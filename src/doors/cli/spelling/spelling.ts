import { commandOf } from '../../../operations/operation.ts'
import { shellWord } from '../../../operations/shell-words.ts'
import { operations } from '../../../table.ts'
import { localCommands } from '../commands/local-commands.ts'

/** The flags that name a store or a server. */
export interface Naming {
  readonly store?: string
  readonly schema?: string
  readonly namespace?: string
  readonly server?: string
  readonly tokenFile?: string
}

/** Commands that are no verbs: they work on a store of this machine, whatever server is named. */
const ofStore: ReadonlySet<string> = new Set(localCommands.map(({ name }) => name))

/** The first words of all commands: verbs by all their names, and other commands; `COMMAND` stands for any. */
const firstWords: ReadonlySet<string> = new Set([
  'COMMAND',
  '--help',
  ...ofStore,
  ...operations.flatMap((operation) =>
    [commandOf(operation), ...(operation.aliases ?? [])].map(([first = '']) => first),
  ),
])

/** A `belfry` command inside a text; quoted text is a user's name and is left alone. */
const command = /(?<![\w/.'"-])belfry (?=(COMMAND|[a-z-]+)(?![\w-]))/g

/**
 * Spells commands so that they work when typed: with the words that start this command line, because `belfry` alone may not
 * be found; and with the named store or server, because without it they would go elsewhere.
 */
export function spelled(text: string, own: string, naming: Naming = {}): string {
  const words = [own, ...flagsOf(naming)].join(' ')
  if (words === 'belfry') return text
  return text.replace(command, (found, word: string) => {
    if (!firstWords.has(word)) return found
    return `${naming.server !== undefined && ofStore.has(word) ? own : words} `
  })
}

function flagsOf({ store, schema, namespace, server, tokenFile }: Naming): string[] {
  const flags = Object.entries({
    store: store === undefined ? undefined : nameable(store),
    schema,
    namespace,
    server: server === undefined ? undefined : withoutUser(server),
    'token-file': tokenFile,
  })
  return flags.flatMap(([name, value]) => (value === undefined ? [] : [`--${name} ${shellWord(value)}`]))
}

/** The flags that name a store or a server, even when the rest of the line cannot be read. */
export function namingIn(typed: readonly string[]): Naming {
  const flags = { store: 'store', schema: 'schema', namespace: 'namespace', server: 'server', tokenFile: 'token-file' }
  const found = Object.entries(flags).flatMap(([name, flag]) => {
    const at = typed.findIndex((word) => word === `--${flag}` || word.startsWith(`--${flag}=`))
    const word = typed[at]
    const value = word?.includes('=') ? word.slice(word.indexOf('=') + 1) : typed[at + 1]
    return at < 0 || value === undefined || value.startsWith('--') ? [] : [[name, value] as const]
  })
  return Object.fromEntries(found)
}

/** A store as it may be suggested. A text in an unknown form may contain a password anywhere. */
function nameable(store: string): string {
  const isKnown = /^(postgres(ql)?:\/\/|memory:$)/.test(store) || /^sqlite:(?!.*:\/\/)/.test(store)
  return isKnown ? withoutPassword(store) : 'STORE'
}

/** A store as it may be shown. */
export function withoutPassword(url: string): string {
  if (!/^postgres(ql)?:/.test(url)) return url
  return url
    .replace(/#.*$/s, '')
    .replace(/^(postgres(?:ql)?:\/\/[^:@/?#]*):.*@/s, '$1:PASSWORD@')
    .replace(/([?&](?:ssl)?password=)[^&]*/gi, '$1PASSWORD')
}

/** A server address as it may be suggested: a user or a query in it is refused, and may be a secret. */
function withoutUser(server: string): string {
  const url = URL.canParse(server) ? new URL(server) : null
  if (url !== null && /^https?:$/.test(url.protocol)) return url.origin + url.pathname.replace(/\/+$/, '')
  return /[@?#]/.test(server) ? 'URL' : server
}
