import { createHash } from 'node:crypto'
import { createReadStream, type Dirent } from 'node:fs'
import { lstat, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { pause, systemClock } from '../../../core/clock.ts'
import { BelfryError } from '../../../core/error.ts'
import { type Glob, globs } from '../../../core/glob.ts'
import { documentPath, metaFolder, rootItem, statText } from './document-file.ts'

/** One folder of the tree, its files, and the item that owns these files. */
export interface WalkedFolder {
  readonly owner: string | null
  readonly path: string
  readonly isItem: boolean
  readonly files: readonly string[]
  readonly folders: readonly string[]
}

export interface WalkOptions {
  readonly ignore: readonly string[]
  /** The folder to begin at. Default: the root. */
  readonly from?: string
  /** Does not enter the folders of other items below the first one. */
  readonly isScope?: boolean
  /** Called before a folder is read, so that a later change is noticed. */
  readonly entering?: ((folder: string) => void) | undefined
  /** The files that an external watcher has listed, as paths below the root. Default: the walk reads the folders. */
  readonly listed?: readonly string[] | undefined
  /** After each slice the walk rests this many times as long as it worked. Default: it yields to other work, and goes on. */
  readonly restFactor?: number | undefined
}

/** How long the walk may block the event loop. */
const sliceMs = 15
/** How many folders are read ahead while the caller looks at the first of them. */
const aheadMax = 8
export const alwaysIgnored: ReadonlySet<string> = new Set(['.git', 'node_modules', metaFolder])

interface Ahead {
  readonly path: string
  readonly owner: string | null
  reading?: Promise<Omit<WalkedFolder, 'owner'>>
}

/**
 * Walks the folders of a corpus, parents first, each with everything below it before the next one. Symbolic links are not followed, and
 * `.meta` is never entered.
 */
export async function* walkTree(root: string, options: WalkOptions): AsyncGenerator<WalkedFolder> {
  const { from = rootItem, isScope = false, listed } = options
  if (listed !== undefined) {
    const { walkListed } = await import('./walk-listed.ts')
    return yield* walkListed(root, listed, options)
  }
  const isIgnored = await ignoredIn(root, options.ignore)
  const stack: Ahead[] = [{ path: from, owner: null }]
  const turn = slices(options.restFactor)
  // The options are not spread for each folder: V8 keeps a hidden class for each such object, which is 40 MB in a scan of 100,000 items.
  const reading = { ...options, isIgnored }
  for (;;) {
    for (const one of stack.slice(-aheadMax)) one.reading ??= begun(readFolder(root, one.path, reading))
    const next = stack.pop()
    if (next?.reading === undefined) return
    const { path, isItem, files, folders } = await next.reading
    if (isItem && isScope && path !== from) continue
    const owner = isItem ? path : next.owner
    for (const inner of folders) stack.push({ path: inner, owner })
    yield { owner, path, isItem, files, folders }
    await turn()
  }
}

/** The walk awaits the promise later, or never if the walk ends earlier; in both cases a rejection is handled. */
function begun<Result>(work: Promise<Result>): Promise<Result> {
  work.catch(() => undefined)
  return work
}

/** Lets other work run whenever a slice is over. */
export function slices(restFactor = 0): () => Promise<void> {
  let since = systemClock.monotonic()
  return async () => {
    const tookMs = systemClock.monotonic() - since
    if (tookMs < sliceMs) return
    await (restFactor === 0 ? nextTurn() : pause(systemClock, tookMs * restFactor))
    since = systemClock.monotonic()
  }
}

interface Reading extends Pick<WalkOptions, 'entering'> {
  readonly isIgnored: Glob
}

/** The entries of one folder that belong to the corpus. */
export async function readFolder(
  root: string,
  path: string,
  { entering, isIgnored }: Reading,
): Promise<Omit<WalkedFolder, 'owner'>> {
  entering?.(path)
  const [files, folders]: [string[], string[]] = [[], []]
  let isItem = false
  for (const entry of await entriesOf(root, path)) {
    const inner = path === rootItem ? entry.name : `${path}/${entry.name}`
    if (entry.name === metaFolder && entry.isDirectory()) {
      entering?.(inner)
      isItem = await isThere(documentPath(root, path))
    }
    if (alwaysIgnored.has(entry.name) || isIgnored(inner)) continue
    if (entry.isDirectory()) folders.push(inner)
    else if (entry.isFile()) files.push(inner)
  }
  return { path, isItem, files: files.sort(), folders }
}

/** A folder that vanished meanwhile counts as empty. One that cannot be read fails the walk, because its items would seem deleted. */
async function entriesOf(root: string, path: string): Promise<Dirent[]> {
  try {
    return await readdir(join(root, path), { withFileTypes: true })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (path !== rootItem && (code === 'ENOENT' || code === 'ENOTDIR')) return []
    throw new BelfryError('unavailable', `The folder ${join(root, path)} cannot be read (${code}).`, { cause: error })
  }
}

export async function isThere(file: string): Promise<boolean> {
  return lstat(file).then(
    (found) => found.isFile(),
    () => false,
  )
}

/** The files that the corpus ignores: by its own patterns, and by those of the root's `.gitignore`. */
export async function ignoredIn(root: string, patterns: readonly string[]): Promise<Glob> {
  return globs([...patterns, ...(await gitIgnored(root))])
}

/** The plain patterns of the root's `.gitignore`; negated patterns are not used. */
async function gitIgnored(root: string): Promise<string[]> {
  const text = await readFile(join(root, '.gitignore'), 'utf8').catch(() => '')
  const lines = text.split(/\r?\n/).map((line) => line.trim())
  return lines.flatMap((line) => {
    if (line === '' || line.startsWith('#') || line.startsWith('!')) return []
    const bare = line.replace(/\/$/, '').replace(/^\//, '')
    return line.startsWith('/') || bare.includes('/') ? [bare] : [bare, `**/${bare}`]
  })
}

type Files = Readonly<Record<string, readonly [stat: string, hash: string]>>

/** Size, mtime and inode of a file; null if there is none. */
export async function statOf(file: string): Promise<string | null> {
  const stat = await lstat(file).catch(() => null)
  return stat?.isFile() === true ? statText(stat) : null
}

/** The files with their hashes. A file is hashed again only when its size, mtime or inode has changed. */
export async function hashedFiles(root: string, names: readonly string[], known: Files = {}): Promise<Files> {
  const found: Record<string, readonly [string, string]> = {}
  for (const name of names) {
    const text = await statOf(join(root, name))
    if (text === null) continue
    const before = known[name]
    const hash = before?.[0] === text ? before[1] : await fileHash(join(root, name), text)
    if (hash !== null) found[name] = [text, hash]
  }
  return found
}

/** For a file up to this size, one read is much faster than a stream. */
const wholeBytesMax = 256 * 1024

async function fileHash(file: string, stat: string): Promise<string | null> {
  const hash = createHash('sha256')
  try {
    if (Number.parseInt(stat, 10) <= wholeBytesMax) hash.update(await readFile(file))
    else for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
    return hash.digest('hex').slice(0, 16)
  } catch {
    // The file vanished or became unreadable between the two calls: the next look sees the new state.
    return null
  }
}

/** The files that belong to an item: those below its folder, without those of its children. */
export async function scopeOf(
  root: string,
  path: string,
  { ignore, listed }: Pick<WalkOptions, 'ignore' | 'listed'>,
): Promise<string[]> {
  const names: string[] = []
  for await (const { files } of walkTree(root, { ignore, from: path, isScope: true, listed })) {
    for (const file of files) names.push(file)
  }
  return names.sort()
}

export interface WalkedItem extends Place {
  readonly path: string
  /** The item's own files. */
  readonly names: string[]
}

/** Items with their own files, children before parents, so that a parent is compared with the new content of its children. */
export async function* itemsIn(
  walk: AsyncIterable<WalkedFolder>,
  above: { readonly place: Place; readonly names: string[] } = { place: { parent: null, depth: 0 }, names: [] },
): AsyncGenerator<WalkedItem> {
  const open: WalkedItem[] = []
  for await (const { path, isItem, files } of walk) {
    for (let last = open.at(-1); last !== undefined && !isWithin(path, last.path); last = open.at(-1)) {
      yield last
      open.pop()
    }
    const last = open.at(-1)
    const { parent, depth } = last === undefined ? above.place : placeBelow(last)
    if (isItem) open.push({ path, parent, depth, names: [] })
    const names = open.at(-1)?.names ?? above.names
    for (const file of files) names.push(file)
  }
  for (const item of open.reverse()) yield item
}

export interface Place {
  readonly parent: string | null
  readonly depth: number
}

export function placeBelow({ path, depth }: { readonly path: string; readonly depth: number }): Place {
  return { parent: path, depth: depth + 1 }
}

/** Whether a path is a folder or lies below it. */
export function isWithin(path: string, folder: string): boolean {
  return folder === rootItem || path === folder || path.startsWith(`${folder}/`)
}

/** The nearest item above a path, and how many items are above it. */
export function placeInTree(path: string, has: (path: string) => boolean): Place {
  if (path === rootItem) return { parent: null, depth: 0 }
  const ancestors = foldersAbove(path).filter(has)
  return { parent: ancestors.at(-1) ?? null, depth: ancestors.length }
}

/** The folders that contain a path, from the root down. */
export function foldersAbove(path: string): string[] {
  if (path === rootItem) return []
  const names = path.split('/')
  return [rootItem, ...names.slice(0, -1).map((_, index) => names.slice(0, index + 1).join('/'))]
}
