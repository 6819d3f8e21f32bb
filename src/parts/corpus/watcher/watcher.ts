/** The external watcher in the definition of a corpus. */
export interface WatcherSpec {
  /** The URL, without a trailing slash. */
  readonly url: string
  readonly token?: { readonly secret: string }
  readonly timeoutMs: number
}

export interface WatcherStatus {
  /** The start time that the service reports; null if it reports only its uptime. */
  readonly startedAt: string | null
  readonly uptimeMs: number | null
}

/** A rule in the form of jeeves-watcher: the service indexes the files that match it. */
export interface WatcherRule {
  readonly name: string
  readonly description: string
  readonly match: object
}

/** A service that watches trees instead of Belfry. Every method throws `WatcherFailure`. */
export interface Watcher {
  /** The absolute paths of all files that match one of the patterns. */
  walk(globs: readonly string[]): Promise<readonly string[]>
  status(): Promise<WatcherStatus>
  /** Replaces the rules of this source. A service that has restarted has no rules. */
  register(source: string, rules: readonly WatcherRule[]): Promise<void>
}

/** Why a watcher cannot be used now, as a clause: `answered 500`. */
export class WatcherFailure extends Error {
  override readonly name = 'WatcherFailure'
  /** How long the service asked not to be called. */
  readonly retryAfterMs: number | undefined
  /** Whether the same request may succeed soon. */
  readonly isPassing: boolean

  constructor(
    message: string,
    { retryAfterMs, isPassing = false }: { retryAfterMs?: number | undefined; isPassing?: boolean } = {},
  ) {
    super(message)
    this.retryAfterMs = retryAfterMs
    this.isPassing = isPassing
  }
}

/** A pattern that matches this path only. */
export function literally(path: string): string {
  return path.replace(/[*?[\]{}()!]/g, '[$&]')
}

/** The rules for a corpus. They carry the name of the corpus, so that two corpora do not replace each other's rules. */
export function rulesOf({ name, root, ignore }: RulesInput): WatcherRule[] {
  const below = literally(root)
  const rule = (id: string, description: string, path: object): WatcherRule => ({
    name: `belfry:${name}:${id}`,
    description,
    match: { properties: { file: { properties: { path: { type: 'string', ...path } } } } },
  })
  const ignored = ignore.map((pattern) => ({ glob: `${below}/${pattern}` }))
  return [
    rule('documents', `Documents of corpus ${name}`, { glob: `${below}/**/.meta/meta.json` }),
    rule('archive', `Snapshots of corpus ${name}`, { glob: `${below}/**/.meta/archive/*.json` }),
    rule('files', `Files of corpus ${name}`, {
      glob: `${below}/**`,
      ...(ignored.length > 0 && { not: { anyOf: ignored } }),
    }),
  ]
}

export interface RulesInput {
  readonly name: string
  readonly root: string
  readonly ignore: readonly string[]
}
