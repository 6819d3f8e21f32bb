import { type FSWatcher, watch as watchFolder } from 'node:fs'
import { dirname, join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { BelfryError } from '../../../core/error.ts'
import { metaFolder, rootItem } from './document-file.ts'
import { slices } from './walk-tree.ts'

/** A watch uses 1.5 KB of this process, and one of the few hundred thousand watches that a user may have. */
export const foldersMax = 30_000
/** Why no more folders are watched. */
export const tooManyFolders = `there are more than ${foldersMax.toLocaleString('en')} folders`
/** The system drops events silently when 16,384 are waiting. With this many events in one turn, some may have been dropped. */
const eventsATurnMax = 4_000
const limitCodes: readonly string[] = ['ENOSPC', 'EMFILE', 'ENFILE', 'ENOMEM']

export interface FolderWatchOptions {
  readonly root: string
  readonly changed: () => void
  readonly watch?: typeof watchFolder
}

/** Watches folders one by one, and records which of them changed. `isSure` is false when events may have been lost. */
export class FolderWatch {
  readonly #options: FolderWatchOptions
  readonly #watchers = new Map<string, FSWatcher>()
  /** The watched folders directly below each folder. */
  readonly #below = new Map<string, Set<string>>()
  #dirty = new Set<string>()
  #eventsThisTurn = 0
  #isClosed = false
  /** Why folders are not watched, as a clause; null if they are watched. */
  limit: string | null = null
  /** Whether all changes since the watch began are known. */
  isSure = true

  constructor(options: FolderWatchOptions) {
    this.#options = options
  }

  get folders(): number {
    return this.#watchers.size
  }

  has(folder: string): boolean {
    return this.#watchers.has(folder)
  }

  get isDirty(): boolean {
    return this.#dirty.size > 0
  }

  add(folder: string): void {
    if (this.limit !== null || this.#watchers.has(folder)) return
    if (this.#watchers.size >= foldersMax) {
      this.giveUp(tooManyFolders)
      return
    }
    const { root, watch = watchFolder } = this.#options
    try {
      const watcher = watch(join(root, folder), { persistent: false }, (_, name) => this.#seen(folder, name))
      watcher.on('error', () => this.#lost())
      this.#watchers.set(folder, watcher)
      if (folder !== rootItem)
        this.#below.set(dirname(folder), (this.#below.get(dirname(folder)) ?? new Set()).add(folder))
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      // The folder vanished meanwhile. The watch of its parent folder reports that.
      if (code === 'ENOENT' || code === 'ENOTDIR') return
      if (limitCodes.includes(code)) this.giveUp(`the system lets no more folders be watched (${code})`)
      else throw new BelfryError('unavailable', `The folder ${join(root, folder)} cannot be watched (${code}).`)
    }
  }

  mark(folder: string): void {
    this.#dirty.add(folder)
    this.#options.changed()
  }

  /** The folders that changed since the last call. */
  take(): string[] {
    const taken = [...this.#dirty].sort()
    this.#dirty = new Set()
    return taken
  }

  /** Ends the watch of a folder and all below it. */
  forget(folder: string): void {
    for (const inner of this.#below.get(folder) ?? []) this.forget(inner)
    this.#watchers.get(folder)?.close()
    this.#watchers.delete(folder)
    this.#below.delete(folder)
    this.#below.get(dirname(folder))?.delete(folder)
  }

  /** Accepts no more events. Closing very many watches takes 50 ms, so they are closed in slices. */
  close(): void {
    this.#isClosed = true
    const watchers = [...this.#watchers.values()]
    this.#watchers.clear()
    this.#below.clear()
    void closeInSlices(watchers)
  }

  /** Stops all watches for good: from now on the tree must be scanned. */
  giveUp(reason: string): void {
    this.limit = reason
    this.close()
  }

  #seen(folder: string, name: string | Buffer | null): void {
    if (this.#isClosed) return
    this.#count()
    const isMeta = folder === metaFolder || folder.endsWith(`/${metaFolder}`)
    if (isMeta) {
      // The archive, and the files that Belfry writes beside a document, are not changes.
      if (name === null || name === 'meta.json' || name === metaFolder) this.mark(dirname(folder))
      return
    }
    // The patterns of ignored files have changed.
    if (folder === rootItem && name === '.gitignore') this.#lost()
    const inner = folder === rootItem ? `${name}` : `${folder}/${name}`
    // The folder was created, removed or replaced: the old watch would follow a folder that was moved away.
    if (name !== null && this.#watchers.has(inner)) {
      this.forget(inner)
      if (name !== metaFolder) this.mark(inner)
    }
    this.mark(folder)
  }

  /** The system delivers all waiting events in one turn. */
  #count(): void {
    if (this.#eventsThisTurn === 0) {
      void nextTurn().then(() => {
        this.#eventsThisTurn = 0
      })
    }
    this.#eventsThisTurn += 1
    if (this.#eventsThisTurn === eventsATurnMax) this.#lost()
  }

  #lost(): void {
    if (this.#isClosed) return
    this.isSure = false
    this.#options.changed()
  }
}

async function closeInSlices(watchers: readonly FSWatcher[]): Promise<void> {
  const turn = slices()
  for (const watcher of watchers) {
    watcher.close()
    await turn()
  }
}
