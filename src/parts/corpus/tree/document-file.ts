import { createHash } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import type { ItemDocument } from '../../../core/corpus/commit-phase.ts'
import { BelfryError } from '../../../core/error.ts'
import { isRecord } from '../../../core/json/record.ts'

/** The folder beside an item's files that holds its document. Only Belfry reads this folder. */
export const metaFolder = '.meta'
const documentName = 'meta.json'
/** The path of the item of the root itself. */
export const rootItem = '.'

export interface DocumentText {
  readonly text: string
  readonly hash: string
  /** Size, mtime and inode: the text is read again only when one of them changed. */
  readonly stat: string
}

export type ReadDocument = DocumentText & ({ readonly document: ItemDocument } | { readonly problem: string })

export function metaFolderOf(root: string, path: string): string {
  return join(root, path, metaFolder)
}

export function documentPath(root: string, path: string): string {
  return join(metaFolderOf(root, path), documentName)
}

/** The problem with the path of an item, or null. */
export function itemPathProblem(path: string): string | null {
  if (path === rootItem) return null
  if (path === '' || path.includes('\0') || path.includes('\\')) return 'is no path of an item'
  if (isAbsolute(path) || path.endsWith('/')) return 'is not relative to the root, without a slash at its ends'
  const names = path.split('/')
  if (names.some((name) => name === '' || name === '.' || name === '..')) return 'contains an empty name, . or ..'
  return names.includes(metaFolder) ? `is inside ${metaFolder}` : null
}

/**
 * The path of the item that another program means: it may write an absolute path below the root, name the folder `.meta`, or end with a
 * slash. Null if this names no item of the root.
 */
export function itemPathIn(root: string | null, given: string): string | null {
  const bare = given.replace(/(\/|(^|\/)\.meta(\/meta\.json)?)\/*$/, '')
  const isBelow = root !== null && `${bare}/`.startsWith(`${root}/`)
  if (given === '' || (isAbsolute(given) && !isBelow)) return null
  const path = (isBelow ? bare.slice(root.length + 1) : bare) || rootItem
  return itemPathProblem(path) === null ? path : null
}

/** Refuses a folder that a symbolic link leads out of the root, whether or not the folder exists yet. */
export function confined(root: string, path: string): void {
  const folder = join(root, path)
  let real: string
  try {
    real = realpathSync(folder)
  } catch {
    if (path !== rootItem) confined(root, dirname(path))
    return
  }
  const inside = relative(realpathSync(root), real)
  if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) {
    throw new BelfryError('invalid', `The path ${path} leads out of the root, by a symbolic link.`, {
      hint: 'Name a folder inside the root.',
      details: { path },
    })
  }
}

export function hashOf(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

/** The document of an item; null if there is none. */
export function readDocument(root: string, path: string): ReadDocument | null {
  const file = documentPath(root, path)
  let text: string
  let stat: string
  try {
    // The order matters: a text that another program writes between the two calls gets the older stat, and is read again.
    stat = statText(statSync(file))
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    return { text: '', hash: '', stat: '', problem: `cannot be read (${(error as NodeJS.ErrnoException).code})` }
  }
  return { text, stat, hash: hashOf(text), ...parsed(text) }
}

export function parsed(text: string): { readonly document: ItemDocument } | { readonly problem: string } {
  try {
    const document: unknown = JSON.parse(text)
    return isRecord(document) ? { document } : { problem: 'is no JSON object' }
  } catch {
    return { problem: 'is not JSON: it may be torn' }
  }
}

export function statText({ size, mtimeMs, ino }: { size: number; mtimeMs: number; ino: number }): string {
  return `${size} ${mtimeMs} ${ino}`
}

/** The text of a document, with the indentation of its owner. */
export function documentText(document: ItemDocument, like = ''): string {
  const indent = /^\{\r?\n([ \t]+)"/.exec(like)?.[1] ?? (like === '' || like.startsWith('{\n') ? 2 : undefined)
  return `${JSON.stringify(document, null, indent)}\n`
}

/** Writes a text to a file beside the document, whole and synced to the disk, so that a rename can follow. */
export function writeBeside(root: string, path: string, text: string | Buffer, mark: string): string {
  const folder = metaFolderOf(root, path)
  mkdirSync(folder, { recursive: true })
  const temporary = join(folder, `.${documentName}.${mark}.tmp`)
  writeWhole(temporary, text)
  return temporary
}

function writeWhole(file: string, text: string | Buffer): void {
  const handle = openSync(file, 'w', 0o644)
  try {
    // This call goes on if the system writes only a part, as on a full disk.
    writeFileSync(handle, text)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** At every instant the document is either the old one or the new one. */
export function renameIntoPlace(root: string, path: string, temporary: string): string {
  // After the rename the stat may be that of another program's document.
  const stat = statText(statSync(temporary))
  renameSync(temporary, documentPath(root, path))
  syncFolder(metaFolderOf(root, path))
  return stat
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

export function discardTemporary(temporary: string): void {
  rmSync(temporary, { force: true })
}

/** Removes the files that a crash left beside the document, except those of this attempt. */
export function discardLeftovers(root: string, path: string, mark: string): void {
  for (const name of namesIn(metaFolderOf(root, path))) {
    if (name.startsWith(`.${documentName}.`) && name.endsWith('.tmp') && name !== `.${documentName}.${mark}.tmp`) {
      rmSync(join(metaFolderOf(root, path), name), { force: true })
    }
  }
}

const archiveFolder = 'archive'
const snapshotEnd = '.json'

/** Removes the document of an item and its snapshots. In the root, the file that names the corpus stays. */
export function discardDocument(root: string, path: string): void {
  const folder = metaFolderOf(root, path)
  if (path !== rootItem) {
    rmSync(folder, { recursive: true, force: true })
    return
  }
  rmSync(documentPath(root, path), { force: true })
  rmSync(join(folder, archiveFolder), { recursive: true, force: true })
  discardLeftovers(root, path, '')
}

/**
 * Why a snapshot was kept that is not of a full cycle: `rejected` is a result that would have replaced a person's text, `replaced` is a
 * document that an edit replaced.
 */
export type SnapshotMark = 'rejected' | 'replaced'

export interface Keeping {
  readonly at: number
  readonly maxArchive: number
  readonly mark?: SnapshotMark | undefined
  /** The name of a snapshot that must not be pruned before the next snapshot is kept. */
  readonly spares?: string | undefined
}

/** Keeps a copy in the archive, and removes the oldest copies above the maximum. Returns the name of the copy. */
export function keepSnapshot(root: string, path: string, document: ItemDocument, keeping: Keeping): string {
  const { at, mark, maxArchive, spares } = keeping
  const folder = join(metaFolderOf(root, path), archiveFolder)
  mkdirSync(folder, { recursive: true })
  const name = snapshotName({ at, mark }, snapshotNames(root, path))
  renameSync(
    writeBeside(root, path, documentText(archived(document, { at, mark })), 'copy'),
    join(folder, `${name}${snapshotEnd}`),
  )
  syncFolder(folder)
  for (const old of pruned(snapshotNames(root, path), { maxArchive, spares }))
    unlinkSync(join(folder, `${old}${snapshotEnd}`))
  return name
}

/** A free name for a snapshot. Names sort by time. */
export function snapshotName({ at, mark }: Pick<Keeping, 'at' | 'mark'>, taken: readonly string[]): string {
  for (let instant = at; ; instant += 1) {
    const stamp = new Date(instant).toISOString().replace(/[:.]/g, '-')
    const name = mark === undefined ? stamp : `${stamp}.${mark}`
    if (!taken.includes(name)) return name
  }
}

export function archived(document: ItemDocument, { at, mark }: Pick<Keeping, 'at' | 'mark'>): ItemDocument {
  const kept = { ...document, _archived: true, _archivedAt: new Date(at).toISOString() }
  return mark === 'rejected' ? { ...kept, _rejected: true } : kept
}

/** The snapshots above the maximum, out of these snapshots, newest first. */
export function pruned(
  names: readonly string[],
  { maxArchive, spares }: Pick<Keeping, 'maxArchive' | 'spares'>,
): string[] {
  return names.slice(maxArchive).filter((name) => name !== spares)
}

const tornEnd = '.torn'

/** Keeps the bytes of a document that cannot be read, beside its snapshots. Returns the path of the kept file below the item. */
export function keepTorn(root: string, path: string, at: number): string {
  const folder = join(metaFolderOf(root, path), archiveFolder)
  mkdirSync(folder, { recursive: true })
  const bytes = readFileSync(documentPath(root, path))
  const torn = namesIn(folder).filter((name) => name.endsWith(tornEnd))
  const same = torn.find((name) => readFileSync(join(folder, name)).equals(bytes))
  const taken = torn.map((name) => name.slice(0, -tornEnd.length))
  const name = same ?? `${snapshotName({ at }, taken)}${tornEnd}`
  if (same === undefined) renameSync(writeBeside(root, path, bytes, 'copy'), join(folder, name))
  syncFolder(folder)
  return join(metaFolder, archiveFolder, name)
}

/** The names of the item's snapshots, newest first. */
export function snapshotNames(root: string, path: string): string[] {
  const names = namesIn(join(metaFolderOf(root, path), archiveFolder))
  return names
    .flatMap((name) => (name.endsWith(snapshotEnd) ? [name.slice(0, -snapshotEnd.length)] : []))
    .sort()
    .reverse()
}

export function readSnapshot(root: string, path: string, name: string): ItemDocument | null {
  try {
    const read = parsed(readFileSync(join(metaFolderOf(root, path), archiveFolder, `${name}${snapshotEnd}`), 'utf8'))
    return 'document' in read ? read.document : null
  } catch {
    return null
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
