import type { Clock } from '../../../core/clock.ts'
import { BelfryError } from '../../../core/error.ts'
import type { Outgoing } from '../../../operations/operation-context.ts'
import type { Corpus } from '../corpus-row.ts'
import { rootItem } from '../tree/document-file.ts'
import { pathsATurn } from '../tree/walk-listed.ts'
import { slices } from '../tree/walk-tree.ts'
import { type Breaker, broken, closedBreaker, failuresMax, isOpen } from './breaker.ts'
import { httpWatcher } from './http-watcher.ts'
import { literally, rulesOf, type Watcher, WatcherFailure, type WatcherSpec, type WatcherStatus } from './watcher.ts'
import type { WatcherState } from './watcher-row.ts'

export interface OutsideOptions {
  /** Stores the state for readers in other processes. Absent for a single question. */
  readonly note?: (state: WatcherState) => Promise<void>
  readonly corpus: Corpus
  readonly outgoing: Outgoing
  readonly clock: Clock
}

/** Without a restart, the uptime may grow by this much less than the time on our clock: answers take time, and are rounded. */
const slackMs = 10_000
const noteEveryMs = 3_600_000

/**
 * The external watcher of a corpus, for one worker: whether it answers, and whether it has the rules of the corpus. If the watcher gives no
 * answer, the look fails: a missing answer never means that nothing has changed.
 */
export class OutsideWatcher {
  readonly #options: OutsideOptions
  readonly #spec: WatcherSpec
  readonly #watcher: Watcher
  readonly #ending = new AbortController()
  #breaker: Breaker = closedBreaker
  #error: string | null = null
  /** The route that failed. The success of another route does not clear the failure. */
  #failing: 'attend' | 'walk' | null = null
  /** Since when the watcher answers, or fails. */
  #since: number | null = null
  #registeredAt: number | null = null
  #known: { readonly status: WatcherStatus; readonly at: number } | null = null
  #attending: Promise<{ readonly registered: boolean }> | null = null
  #noted: { readonly text: string; readonly at: number } | null = null

  constructor(options: OutsideOptions) {
    this.#options = options
    const { corpus, outgoing, clock } = options
    this.#spec = corpus.spec.watcher as WatcherSpec
    const retries = () => this.#breaker.failures < failuresMax
    this.#watcher = httpWatcher({ spec: this.#spec, outgoing, clock, ending: this.#ending.signal, retries })
  }

  /** Asks the watcher for its status, and registers the rules again if it has forgotten them. Concurrent looks share one request. */
  attend(signal?: AbortSignal): Promise<{ readonly registered: boolean }> {
    this.#attending ??= this.#guarded('attend', () => this.#attended()).finally(() => {
      this.#attending = null
    })
    return unlessStopped(this.#attending, signal)
  }

  /** The files below a folder of the corpus, by paths below its root. */
  walk(folder: string = rootItem, signal?: AbortSignal): Promise<readonly string[]> {
    const { root, name } = this.#options.corpus.spec as { root: string; name: string }
    const from = folder === rootItem ? root : `${root}/${folder}`
    const walked = this.#guarded('walk', async () => {
      const paths = await allBelow(root, await this.#watcher.walk([`${literally(from)}/**`]))
      if (paths.length > 0 || folder !== rootItem) return paths
      // Belfry wrote `.meta/corpus.json` below the root. A service that lists no file has not scanned the root, and every item would lose
      // its files.
      throw new WatcherFailure(`lists no file at all below the root of ${name}`)
    })
    return unlessStopped(walked, signal)
  }

  close(): void {
    this.#ending.abort()
  }

  async #attended(): Promise<{ readonly registered: boolean }> {
    const { corpus, clock } = this.#options
    const status = await this.#watcher.status()
    const at = clock.monotonic()
    if (this.#known !== null && hasRestarted(this.#known, { status, at })) this.#registeredAt = null
    this.#known = { status, at }
    if (this.#registeredAt !== null) return { registered: false }
    const { name, root, ignore } = corpus.spec
    await this.#watcher.register(`belfry:${name}`, rulesOf({ name, root: root as string, ignore }))
    this.#registeredAt = clock.now()
    return { registered: true }
  }

  async #guarded<Result>(what: 'attend' | 'walk', work: () => Promise<Result>): Promise<Result> {
    if (isOpen(this.#breaker, this.#options.clock.monotonic())) throw this.#refusal(this.#openText())
    const outcome = await work().then(
      (result) => ({ result }),
      (error: Error) => ({ error }),
    )
    // An error while the worker stops is not a failure of the service.
    if ('error' in outcome && this.#ending.signal.aborted) throw outcome.error
    if ('error' in outcome) this.#failed(what, outcome.error)
    else if (this.#failing === null || this.#failing === what) this.#succeeded()
    await this.#note()
    if ('error' in outcome) throw this.#refusal(outcome.error.message)
    return outcome.result
  }

  #succeeded(): void {
    if (this.#error !== null || this.#since === null) this.#since = this.#options.clock.now()
    this.#error = null
    this.#failing = null
    this.#breaker = closedBreaker
  }

  #failed(what: 'attend' | 'walk', error: Error): void {
    const { clock } = this.#options
    if (this.#error === null) this.#since = clock.now()
    this.#error = error.message
    this.#failing = what
    const waitMs = error instanceof WatcherFailure ? error.retryAfterMs : undefined
    this.#breaker = broken(this.#breaker, clock.monotonic(), waitMs)
  }

  #refusal(why: string): BelfryError {
    const { name } = this.#options.corpus
    return new BelfryError('unavailable', `The watcher ${this.#spec.url} of corpus ${name} ${why}.`, {
      hint: `See \`belfry corpus status ${name}\`.`,
      details: { corpus: name, watcher: this.#spec.url },
    })
  }

  #openText(): string {
    const until = new Date(this.#openUntil() as number).toISOString()
    return `is not asked before ${until}, because it failed ${this.#breaker.failures} times in a row: it ${this.#error}`
  }

  /** The end of the wait, by the wall clock. */
  #openUntil(): number | null {
    const { clock } = this.#options
    const { openUntil } = this.#breaker
    return openUntil === null ? null : Math.round(clock.now() + openUntil - clock.monotonic())
  }

  async #note(): Promise<void> {
    const { note, clock } = this.#options
    const state = {
      url: this.#spec.url,
      since: this.#since,
      registeredAt: this.#registeredAt,
      error: this.#error,
      failures: this.#breaker.failures,
      openUntil: this.#openUntil(),
    }
    const text = JSON.stringify(state)
    const at = clock.monotonic()
    if (note === undefined || (this.#noted?.text === text && at - this.#noted.at < noteEveryMs)) return
    await note(state)
    this.#noted = { text, at }
  }
}

/** A stopped run does not wait for the answer, which other runs may still need. */
function unlessStopped<Result>(work: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const stop = () => reject(new BelfryError('unavailable', 'The run was stopped while a watcher was asked.'))
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

interface Seen {
  readonly status: WatcherStatus
  readonly at: number
}

/**
 * The watcher has restarted if it reports another start, a smaller uptime, or an uptime that grew less than the time between the two
 * answers: after a restart the uptime may already be above the last one.
 */
function hasRestarted(before: Seen, now: Seen): boolean {
  if (before.status.startedAt !== now.status.startedAt) return true
  if (before.status.uptimeMs === null || now.status.uptimeMs === null) return false
  const grownMs = now.status.uptimeMs - before.status.uptimeMs
  return grownMs < 0 || grownMs < now.at - before.at - slackMs
}

/** Each path once, in slices: there may be hundreds of thousands of paths. */
async function allBelow(root: string, paths: readonly string[]): Promise<string[]> {
  const found = new Set<string>()
  const turn = slices()
  for (const [index, path] of paths.entries()) {
    if (index % pathsATurn === 0) await turn()
    found.add(below(root, path))
  }
  return [...found]
}

/** The path below the root. If one path is not below the root, the whole answer is refused, because the rest cannot be trusted. */
function below(root: string, path: string): string {
  const inner = path.startsWith(`${root}/`) ? path.slice(root.length + 1) : ''
  const isPath = inner !== '' && !inner.includes('\0') && inner.split('/').every((name) => !/^\.{0,2}$/.test(name))
  if (isPath) return inner
  throw new WatcherFailure(`lists ${JSON.stringify(path.slice(0, 200))}, which is no file below ${root}`)
}
