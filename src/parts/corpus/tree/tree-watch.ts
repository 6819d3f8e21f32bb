import { statSync, type watch } from 'node:fs'
import { statfs } from 'node:fs/promises'
import type { Clock } from '../../../core/clock.ts'
import { BelfryError } from '../../../core/error.ts'
import type { KindStore } from '../../../targets/kind.ts'
import type { Corpus } from '../corpus-row.ts'
import { noteWatch } from '../watch-row.ts'
import { plantAll, type Seeded, type Seedling, seedlingOf } from './auto-seed.ts'
import { FolderWatch, foldersMax, tooManyFolders } from './folder-watch.ts'
import { lookAtFolders } from './look-at-folders.ts'
import { lookAtPrompts } from './prompt-inputs.ts'
import { rootProblem } from './root-mark.ts'
import { countItems, noCounts, noted, type Scan, scanTree } from './scan-tree.ts'
import { isWithin, type WalkedFolder } from './walk-tree.ts'

/** An editor saves in several steps; all changes within this time are looked at together. */
const settleMs = 100
/** How often the whole tree is scanned although it is watched: the system may lose an event. */
const scanEveryMs = 12 * 3_600_000
/** How long a polling process waits between two scans. */
const pollEveryMs = 60_000
const noteEveryMs = 3_600_000
/** A scan in the background rests this many times as long as it works. */
const restFactor = 4
/** File systems whose changes by other machines are not reported to this one: NFS, SMB, FUSE, 9p, Ceph, Lustre, GPFS. */
const remoteTypes: readonly number[] = [
  0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x65735546, 0x01021997, 0x00c36400, 0x0bd00bd0, 0x47504653,
]

export interface TreeWatchOptions {
  readonly store: KindStore
  readonly corpus: Corpus
  readonly clock: Clock
  readonly watch?: typeof watch
}

/**
 * Keeps the index of a corpus up to date with its tree, for one worker.
 *
 * A process knows only the changes that it has seen itself: those of its first scan, and the events since. So a look at the changed folders
 * is enough only if this process has watched without a gap since its own whole scan; otherwise it scans everything. It never relies on what
 * other processes have seen, or assumes that nothing changed while no process ran.
 */
export class TreeWatch {
  readonly #options: TreeWatchOptions
  #folders: FolderWatch
  /** Whether this process has scanned the whole tree since its watch began. */
  #isScanned = false
  #scanning: Promise<Scan> | null = null
  #looking: Promise<unknown> = Promise.resolve()
  #cancelLook: (() => void) | null = null
  #cancelScan: (() => void) | null = null
  #isClosed = false
  #root = ''
  #noted: { readonly because: string | null; readonly at: number } | null = null
  #seedable = new Map<string, Seedling>()

  constructor(options: TreeWatchOptions) {
    this.#options = options
    this.#folders = this.#freshFolders()
  }

  /** Scans the tree for the first time. If the scan fails, the next look fails with the same error. */
  begin(): void {
    this.#inBackground(() => this.#scan(0))
  }

  /** Updates the index, and fails if this process cannot be sure that the index is up to date. */
  async look(): Promise<Scan> {
    const looked = this.#looking.then(() => this.#look())
    this.#looking = looked.catch(() => undefined)
    return await looked
  }

  /** Makes items of the folders that the rules of the corpus match. */
  async seed(): Promise<Seeded> {
    const { store, corpus } = this.#options
    if (corpus.spec.autoSeed.length === 0) return { seeded: 0, left: 0 }
    await this.look()
    return await plantAll(store, corpus, [...this.#seedable.values()], (path) => this.#folders.mark(path))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelLook?.()
    this.#cancelScan?.()
    this.#folders.close()
    await this.#looking
    await this.#scanning?.catch(() => undefined)
  }

  async #look(): Promise<Scan> {
    const { store, corpus } = this.#options
    this.#refuseUnseen()
    if (!this.#isSure) await this.#scanning?.catch(() => undefined)
    if (!this.#isSure) return await this.#surely()
    await lookAtPrompts(store, corpus.name)
    const folders = this.#folders.take()
    try {
      const counts = folders.length === 0 ? noCounts : await this.#lookAt(folders)
      return counts === null ? await this.#surely() : await noted(store, corpus, counts, { isWhole: false })
    } catch (error) {
      // The next look must see these folders again.
      for (const folder of folders) this.#folders.mark(folder)
      throw error
    }
  }

  get #isSure(): boolean {
    return this.#isScanned && this.#folders.isSure
  }

  async #surely(): Promise<Scan> {
    this.#isScanned = false
    const scan = await this.#scan(0)
    if (this.#isSure) return scan
    const { name, spec } = this.#options.corpus
    throw new BelfryError('unavailable', `The tree of corpus ${name} changes faster than it can be read: ${spec.root}.`)
  }

  async #lookAt(folders: readonly string[]) {
    const { store, corpus } = this.#options
    const watched = this.#folders
    return await lookAtFolders(store, corpus, folders, {
      has: (folder) => watched.has(folder),
      entering: (folder) => this.#enter(watched, folder),
      forget: (folder) => {
        watched.forget(folder)
        for (const path of this.#seedable.keys()) if (isWithin(path, folder)) this.#seedable.delete(path)
      },
      walked: this.#seeing(),
    })
  }

  /** One scan at a time. A scan after a gap begins with new watches, because the old ones may have missed something. */
  #scan(rest: number): Promise<Scan> {
    this.#scanning ??= this.#scanned(rest)
      .catch((error: unknown) => {
        this.#isScanned = false
        throw error
      })
      .finally(() => {
        this.#scanning = null
        this.#plan()
      })
    return this.#scanning
  }

  async #scanned(rest: number): Promise<Scan> {
    const { store, corpus } = this.#options
    this.#refuseUnseen()
    if (!this.#isSure) {
      this.#isScanned = false
      this.#folders.close()
      this.#folders = this.#freshFolders()
      this.#seedable = new Map()
      this.#root = rootMarkOf(corpus)
      await this.#refuseRemote()
      // Each item has two folders. Opening and closing so many watches would cost time and memory.
      if (2 * (await store.look(countItems, corpus.id)) > foldersMax) this.#folders.giveUp(tooManyFolders)
    }
    const folders = this.#folders
    const entering = (folder: string) => this.#enter(folders, folder)
    const scan = await scanTree(store, corpus, { entering, restFactor: rest, walked: this.#seeing() })
    this.#isScanned = true
    await this.#note(folders.limit)
    return scan
  }

  /** A scan that is no longer needed ends at its next folder. */
  #enter(folders: FolderWatch, folder: string): void {
    if (this.#isClosed) throw new BelfryError('unavailable', 'The watch of this tree has ended.')
    folders.add(folder)
  }

  /** Records the state of the watch for readers in other processes. */
  async #note(because: string | null): Promise<void> {
    const { store, corpus, clock } = this.#options
    const at = clock.monotonic()
    if (this.#noted?.because === because && at - this.#noted.at < noteEveryMs) return
    await store.do(noteWatch, corpus.id, because)
    this.#noted = { because, at }
  }

  async #refuseRemote(): Promise<void> {
    const { type } = await statfs(this.#options.corpus.spec.root as string)
    if (remoteTypes.includes(Number(type) >>> 0)) {
      this.#folders.giveUp(`its file system does not report what other machines change (type ${type.toString(16)})`)
    }
  }

  #seeing(): (folder: WalkedFolder) => void {
    const seedling = seedlingOf(this.#options.corpus.spec.autoSeed)
    return (folder) => {
      const one = seedling(folder)
      if (one === null) this.#seedable.delete(folder.path)
      else this.#seedable.set(folder.path, one)
    }
  }

  /** Checks that the root is the same folder. Another folder at the same path is another tree, even if it has the same mark. */
  #refuseUnseen(): void {
    const { corpus } = this.#options
    const problem = rootProblem(corpus)
    if (problem !== null) {
      this.#isScanned = false
      throw new BelfryError('unavailable', `The root ${corpus.spec.root} of corpus ${corpus.name} ${problem}.`)
    }
    if (this.#root !== rootMarkOf(corpus)) this.#isScanned = false
  }

  #freshFolders(): FolderWatch {
    const { corpus, watch } = this.#options
    return new FolderWatch({
      root: corpus.spec.root as string,
      changed: () => this.#wake(),
      ...(watch !== undefined && { watch }),
    })
  }

  /** Plans the next scan of the whole tree: soon if the tree is not watched. */
  #plan(): void {
    this.#cancelScan?.()
    if (this.#isClosed) return
    const waitMs = this.#folders.limit === null && this.#isScanned ? scanEveryMs : pollEveryMs
    this.#cancelScan = this.#options.clock.after(waitMs, () => this.#inBackground(() => this.#scan(restFactor)))
    // The tree changed while the scan was under way.
    if (this.#folders.isDirty) this.#wake()
  }

  #wake(): void {
    if (this.#isClosed || !this.#isScanned) return
    this.#cancelLook ??= this.#options.clock.after(settleMs, () => {
      this.#cancelLook = null
      this.#inBackground(() => this.look())
    })
  }

  /** After a failure the folders stay marked, and the next tick fails with the same error. */
  #inBackground(work: () => Promise<unknown>): void {
    if (this.#isClosed) return
    void work().catch(() => undefined)
  }
}

function rootMarkOf({ spec: { root } }: Corpus): string {
  const { dev, ino } = statSync(root as string)
  return `${dev} ${ino}`
}
