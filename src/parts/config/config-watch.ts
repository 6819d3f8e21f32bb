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

/** What a watch tells: that a file was applied, or why it was not. */
export type ConfigNews =
  | { readonly what: 'applied'; readonly file: string; readonly written: ConfigWritten }
  | { readonly what: 'refused'; readonly file: string; readonly error: BelfryError }

interface Watched {
  readonly path: string
  readonly context: OperationContext
  readonly trust: Trust
  readonly tell: (news: ConfigNews) => void
}

/** An event of the file system may be lost, as on a network drive, or when a folder is swapped for another; then it is seen by this. */
const lookMs = 30_000
/** Editors and deployments write in several steps. */
const settledMs = 200

/**
 * Applies a file, and again when it changes. It is the file that decides: what somebody has changed in the store since is
 * never a reason to apply it again, and content that the source had before is not brought back by a restart.
 */
export class ConfigWatch {
  readonly #watched: Watched
  readonly #clock: Clock
  /** The content that was applied last, or was found to be known. */
  #done: string | null = null
  /** The content that was there at first: a restart is no change of it. */
  #first: string | null = null
  /** The content that is not trusted, and how it was refused. */
  #untrusted: { readonly content: string; readonly error: unknown } | null = null
  /** What is wrong, as it was told here. */
  #told: string | null = null
  /** The same, as the store knows it; what an earlier process left there nobody knows. */
  #noted: string | null | undefined
  #turn: Promise<void> = Promise.resolve()
  #forget: (() => void) | null = null
  #close: (() => Promise<void>) | null = null
  #isClosed = false

  constructor(watched: Watched) {
    this.#watched = watched
    this.#clock = watched.context.clock
  }

  /** Applies the file as it is now, unless its source has had this content, and goes on watching it. */
  async begin(): Promise<void> {
    const { path } = this.#watched
    const folder = dirname(path)
    // Its folder, for the file may come later; and nothing else in there.
    const watcher = watchPath(folder, {
      ignoreInitial: true,
      depth: 0,
      ignored: (other) => other !== folder && other !== path,
      awaitWriteFinish: { stabilityThreshold: settledMs, pollInterval: 50 },
    })
    this.#close = () => watcher.close()
    // Who cannot be told of changes still looks for them.
    watcher.on('error', () => undefined)
    await new Promise<void>((resolve) => watcher.once('ready', resolve).once('error', () => resolve()))
    watcher.on('all', () => this.#wake())
    // Not before it is watched: what changes from here on is noticed.
    this.#wake()
    await this.#turn
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

  /** One look after the other: what is noticed while one is going on is looked at after it. */
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
      // An edit that was undone is no new content; but who was told of the edit is told that it is over.
      const isDone = content === this.#done
      if (isDone && this.#told === null) return await this.#note(null)
      // A file that comes after the start, as from a drive that is mounted late, was there at first all the same.
      if (read.document !== null) this.#first ??= content
      const onlyNew = isDone || (this.#done === null && content === this.#first)
      const written = await this.#apply(read, content, onlyNew)
      this.#done = content
      this.#told = null
      await this.#note(null)
      tell({ what: 'applied', file, written })
    } catch (error) {
      // Where there is no file, only what is said of the file is its fault; that the store fails is told by others.
      if (isThere || isOfFile(error)) await this.#refused(file, error)
    }
  }

  /** Applies the file. Of content that was refused because it is not trusted, a look asks only whether it is trusted by now. */
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

  /**
   * What was refused is tried again at every look: somebody may vouch for it, or take what is in its way out of the way,
   * without touching the file. It is told once, and again when something else is wrong.
   */
  async #refused(file: string, thrown: unknown): Promise<void> {
    const error = thrown instanceof BelfryError ? thrown : unforeseen(thrown)
    // What to do about it is what whoever reads it in a log, or on another machine, needs most.
    const message = error.hint === undefined ? error.message : `${error.message} ${error.hint}`
    // There is no file, and nothing came of one: it may come.
    const says = error.code === 'not-found' ? null : message
    const isNews = says !== null && says !== this.#told
    this.#told = says
    // A store that is away is no fault of the file; that its rights keep us from reading it is one.
    if (!isPassing(error) || error.details?.file !== undefined) await this.#note(says)
    if (isNews) this.#watched.tell({ what: 'refused', file, error })
  }

  /** Tells whoever looks from elsewhere, for as long as something is wrong. */
  async #note(says: string | null): Promise<void> {
    if (says === null && this.#noted === null) return
    const { path, context } = this.#watched
    try {
      await context.store.do(noteConfigFault, placeOfFile(path), says)
      this.#noted = says
    } catch {
      // The store is away, or worse, which others tell. The next look notes it.
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
