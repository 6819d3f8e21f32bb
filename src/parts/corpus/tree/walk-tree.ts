import { createHash } from 'node:crypto'
import { createReadStream, type Dirent } from 'node:fs'
import { access, lstat, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { systemClock } from '../../../core/clock.ts'
import { BelfryError } from '../../../core/error.ts'
import { type Glob, globs } from '../../../core/glob.ts'
import { metaFolder, rootItem, statText } from './document-file.ts'

/** One folder of the tree: the item that owns its files, and those files. */
export interface WalkedFolder {
  readonly owner: string | null
  readonly path: string
  readonly isItem: boolean
  readonly files: readonly string[]
}

export interface WalkOptions {
  readonly ignore: readonly string[]
  /** Begins at the folder of this item, and does not enter those of its children. Default: the whole tree. */
  readonly only?: string
}

/** How long the walk may keep the event loop. */
const sliceMs = 15
const alwaysIgnored = new Set(['.git', 'node_modules', metaFolder])

/** Walks the folders of a corpus, parents first. Symbolic links are not followed, and `.meta` is never entered. */
export async function* walkTree(root: string, { ignore, only }: WalkOptions): AsyncGenerator<WalkedFolder> {
  const isIgnored = ignoring(ignore, await gitIgnored(root))
  const stack: { path: string; owner: string | null }[] = [{ path: only ?? rootItem, owner: null }]
  let since = systemClock.monotonic()
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { path, owner: above } = next
    const entries = await entriesOf(root, path)
    const isItem =
      entries.some((entry) => entry.name === metaFolder) && (await isThere(join(root, path, metaFolder, 'meta.json')))
    if (isItem && only !== undefined && path !== only) continue
    const owner = isItem ? path : above
    const files: string[] = []
    for (const entry of entries) {
      const inner = path === rootItem ? entry.name : `${path}/${entry.name}`
      if (alwaysIgnored.has(entry.name) || isIgnored(inner)) continue
      if (entry.isDirectory()) stack.push({ path: inner, owner })
      else if (entry.isFile()) files.push(inner)
    }
    yield { owner, path, isItem, files: files.sort() }
    if (systemClock.monotonic() - since > sliceMs) {
      await nextTurn()
      since = systemClock.monotonic()
    }
  }
}

/** A folder that vanished meanwhile is empty; one that cannot be read makes the walk fail, because its items would seem deleted. */
async function entriesOf(root: string, path: string): Promise<Dirent[]> {
  try {
    return await readdir(join(root, path), { withFileTypes: true })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (path !== rootItem && (code === 'ENOENT' || code === 'ENOTDIR')) return []
    throw new BelfryError('unavailable', `The folder ${join(root, path)} cannot be read (${code}).`, { cause: error })
  }
}

async function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  )
}

function ignoring(patterns: readonly string[], git: readonly string[]): Glob {
  return globs([...patterns, ...git])
}

/** The plain patterns of the root's `.gitignore`; negations are left out. */
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

/** The files with their hashes. A hash is taken again only when size, mtime or inode changed. */
export async function hashedFiles(root: string, names: readonly string[], known: Files = {}): Promise<Files> {
  const found: Record<string, readonly [string, string]> = {}
  for (const name of names) {
    const stat = await lstat(join(root, name)).catch(() => null)
    if (stat === null || !stat.isFile()) continue
    const text = statText(stat)
    const before = known[name]
    const hash = before?.[0] === text ? before[1] : await fileHash(join(root, name))
    if (hash !== null) found[name] = [text, hash]
  }
  return found
}

async function fileHash(file: string): Promise<string | null> {
  const hash = createHash('sha256')
  try {
    for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
    return hash.digest('hex').slice(0, 16)
  } catch {
    // It vanished or became unreadable between the two calls: the next look sees what is there then.
    return null
  }
}

/** The files that belong to an item: those below its folder, less those of its children. */
export async function scopeOf(root: string, path: string, ignore: readonly string[]): Promise<string[]> {
  const names: string[] = []
  for await (const folder of walkTree(root, { ignore, only: path })) names.push(...folder.files)
  return names.sort()
}

/** Every item of the tree with its own files. */
export async function itemsIn(root: string, ignore: readonly string[]): Promise<Map<string, string[]>> {
  const items = new Map<string, string[]>()
  for await (const { owner, path, isItem, files } of walkTree(root, { ignore })) {
    if (isItem) items.set(path, items.get(path) ?? [])
    if (owner !== null) items.get(owner)?.push(...files)
  }
  return items
}

/** The nearest item above a path, and how many there are. */
export function placeInTree(path: string, has: (path: string) => boolean): { parent: string | null; depth: number } {
  if (path === rootItem) return { parent: null, depth: 0 }
  const names = path.split('/')
  const above = names.slice(0, -1).map((_, index) => names.slice(0, index + 1).join('/'))
  const ancestors = [rootItem, ...above].filter(has)
  return { parent: ancestors.at(-1) ?? null, depth: ancestors.length }
}
