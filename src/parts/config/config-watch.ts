import { dirname } from 'node:path'
import { watch as watchPath } from 'chokidar'
import type { Clock } from '../../core/clock.ts'
import { BelfryError, isPassing } from '../../core/error.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import { applyRead, placeOfFile } from './apply-file.ts'
import type { ConfigWritten } from './apply-operation.ts'
import { type ConfigFile, readConfigFile } from './config-file.ts'
import { noteConfigFault } from './read-configs.ts'
import { isTrusted, type Trust } from './trusted-files.ts'

/** The events of a watch: a file was applied, or why it was not. */
export type ConfigNews =
  | { readonly what: 'applied'; readonly file: string; readonly written: ConfigWritten }
  | { readonly what: 'refused'; readonly file: string; readonly error: BelfryError }

interface Watched {
  readonly path: string
  readonly isPolled?: boolean
  readonly context: OperationContext
  readonly trust: Trust
  readonly tell: (news: ConfigNews) => void
}

/** A file notification may be lost, on a network drive or when a folder is swapped; polling finds the change then. */
const lookMs = 30_000
/** Editors and deployments write in several steps. */
const settledMs = 200

/** Applies a file, and again when it changes. Only the file decides: a change in the store is no reason to apply it again, and a restart does not bring back content that the source had before. */
export class ConfigWatch {
  readonly #watched: Watched
  readonly #clock: Clock
  /** The content that was applied last, or was already known. */
  #done: string | null = null
  /** The content at the start, because a restart is not a change. */
  #first: string | null = null
  /** The content that is not trusted, and its refusal. */
  #untrusted: { readonly content: string; readonly error: unknown } | null = null
  /** The fault as it was last reported here. */
  #told: string | null = null
  /** The fault as recorded in the store; undefined until this process has recorded it. */
  #noted: string | null | undefined
  #turn: Promise<void> = Promise.resolve()
  #forget: (() => void) | null = null
  #close: (() => Promise<void>) | null = null
  #isClosed = false

  constructor(watched: Watched) {
    this.#watched = watched
    this.#clock = watched.context.clock
  }

  /** Applies the current file, unless its source has had this content, and then watches it. */
  async begin(): Promise<void> {
    const { path, isPolled } = this.#watched
    if (!isPolled) await this.#follow(path)
    // Reads the file only once it is watched, so that every later change is noticed.
    this.#wake()
    await this.#turn
  }

  async #follow(path: string): Promise<void> {
    const folder = dirname(path)
    // Watches the folder, because the file may appear later; other files in it are ignored.
    const watcher = watchPath(folder, {
      ignoreInitial: true,
      depth: 0,
      ignored: (other) => other !== folder && other !== path,
      awaitWriteFinish: { stabilityThreshold: settledMs, pollInterval: 50 },
    })
    this.#close = () => watcher.close()
    // Without notifications, polling still finds changes.
    watcher.on('error', () => undefined)
    await new Promise<void>((resolve) => watcher.once('ready', resolve).once('error', () => resolve()))
    watcher.on('all', () => this.#wake())
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#forget?.()
    await this.#close?.()
    await this.#turn
  }

  #sleep(): void {
    this.#forget?.()
    if (!this.#isClosed) this.#forget = this.#clock.after(lookMs, () => this.#wake())
  }

  /** Checks run one after another: a change during a check causes another check. */
  #wake(): void {
    this.#turn = this.#turn.then(async () => {
      if (this.#isClosed) return
      await this.#look()
      this.#sleep()
    })
  }

  async #look(): Promise<void> {
    const { path, tell } = this.#watched
    const file = placeOfFile(path)
    let isThere = true
    try {
      const read = await readConfigFile(path)
      isThere = read.isThere
      const content = `${read.isThere} ${read.hash}`
      // An edit that is undone is not new content, but a fault that was reported is then reported
      // as over.
      const isDone = content === this.#done
      if (isDone && this.#told === null) return await this.#note(null)
      // A file that appears after the start, for example on a late mount, counts as the first content.
      if (read.document !== null) this.#first ??= content
      const onlyNew = isDone || (this.#done === null && content === this.#first)
      const written = await this.#apply(read, content, onlyNew)
      this.#done = content
      this.#told = null
      await this.#note(null)
      tell({ what: 'applied', file, written })
    } catch (error) {
      // For a missing file only its absence is reported as a fault; store failures are reported
      // elsewhere.
      if (isThere || isOfFile(error)) await this.#refused(file, error)
    }
  }

  /** Applies the file. For content that was refused as not trusted, only trust is checked again. */
  async #apply(read: ConfigFile, content: string, onlyNew: boolean): Promise<ConfigWritten> {
    const { path, context, trust } = this.#watched
    if (isTrusted(read, trust)) return applyRead(context, read, { path, onlyNew }, { trust, judges: 'outline' })
    if (this.#untrusted?.content === content) throw this.#untrusted.error
    try {
      return await applyRead(context, read, { path, onlyNew }, { trust, judges: 'outline' })
    } catch (error) {
      this.#untrusted = { content, error }
      throw error
    }
  }

  /** A refused file is tried again at every check: it may be trusted, or a conflict removed, without a change of the file. The refusal is reported once, and again when the reason changes. */
  async #refused(file: string, thrown: unknown): Promise<void> {
    const error = thrown instanceof BelfryError ? thrown : unforeseen(thrown)
    // The hint is what a reader of a log, or on another machine, needs most.
    const message = error.hint === undefined ? error.message : `${error.message} ${error.hint}`
    // There is no file and none was ever applied: it may appear later.
    const says = error.code === 'not-found' ? null : message
    const isNews = says !== null && says !== this.#told
    this.#told = says
    // An unavailable store is not a fault of the file; missing permission to read the file is one.
    if (!isPassing(error) || error.details?.file !== undefined) await this.#note(says)
    if (isNews) this.#watched.tell({ what: 'refused', file, error })
  }

  /** Records a fault for readers elsewhere, for as long as it lasts. */
  async #note(says: string | null): Promise<void> {
    if (says === null && this.#noted === null) return
    const { path, context } = this.#watched
    try {
      await context.store.do(noteConfigFault, placeOfFile(path), says)
      this.#noted = says
    } catch {
      // The store is unavailable, which is reported elsewhere. The next check records it.
      this.#noted = undefined
    }
  }
}

function isOfFile(error: unknown): boolean {
  return error instanceof BelfryError && error.details?.file !== undefined
}

function unforeseen(thrown: unknown): BelfryError {
  return new BelfryError('failure', thrown instanceof Error ? thrown.message : String(thrown), { cause: thrown })
}
