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
import { isAbsolute, join, relative, sep } from 'node:path'
import type { ItemDocument } from '../../../core/corpus/commit-phase.ts'
import { BelfryError } from '../../../core/error.ts'
import { isRecord } from '../../../core/json/record.ts'

/** The folder beside an item's files that holds its document, and what only Belfry reads there. */
export const metaFolder = '.meta'
const documentName = 'meta.json'
/** The item of the root itself. */
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

/** What is wrong with the path of an item, or null. */
export function itemPathProblem(path: string): string | null {
  if (path === rootItem) return null
  if (path === '' || path.includes('\0') || path.includes('\\')) return 'is no path of an item'
  if (isAbsolute(path) || path.endsWith('/')) return 'is not relative to the root, without a slash at its ends'
  const names = path.split('/')
  if (names.some((name) => name === '' || name === '.' || name === '..')) return 'contains an empty name, . or ..'
  return names.includes(metaFolder) ? `is inside ${metaFolder}` : null
}

/** Refuses a folder that a symbolic link moves out of the root. */
export function confined(root: string, path: string): void {
  const folder = join(root, path)
  let real: string
  try {
    real = realpathSync(folder)
  } catch {
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

/** The document of an item; null where there is none. */
export function readDocument(root: string, path: string): ReadDocument | null {
  const file = documentPath(root, path)
  let text: string
  let stat: string
  try {
    text = readFileSync(file, 'utf8')
    stat = statText(statSync(file))
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

/** As its owner has written it: with the same indentation. */
export function documentText(document: ItemDocument, like = ''): string {
  const indent = /^\{\r?\n([ \t]+)"/.exec(like)?.[1] ?? (like === '' || like.startsWith('{\n') ? 2 : undefined)
  return `${JSON.stringify(document, null, indent)}\n`
}

/** Writes a text beside the document, whole and on the disk, for a rename to follow. */
export function writeBeside(root: string, path: string, text: string, mark: string): string {
  const folder = metaFolderOf(root, path)
  mkdirSync(folder, { recursive: true })
  const temporary = join(folder, `.${documentName}.${mark}.tmp`)
  writeWhole(temporary, text)
  return temporary
}

function writeWhole(file: string, text: string): void {
  const handle = openSync(file, 'w', 0o644)
  try {
    // It writes on where the system took only a part, as on a full disk.
    writeFileSync(handle, text)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** The document is the old or the new one at every instant. */
export function renameIntoPlace(root: string, path: string, temporary: string): string {
  const file = documentPath(root, path)
  renameSync(temporary, file)
  syncFolder(metaFolderOf(root, path))
  return statText(statSync(file))
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

/** Removes what a crash left beside the document, unless it belongs to this attempt. */
export function discardLeftovers(root: string, path: string, mark: string): void {
  for (const name of namesIn(metaFolderOf(root, path))) {
    if (name.startsWith(`.${documentName}.`) && name.endsWith('.tmp') && name !== `.${documentName}.${mark}.tmp`) {
      rmSync(join(metaFolderOf(root, path), name), { force: true })
    }
  }
}

const archiveFolder = 'archive'

/** Removes the document of an item and its snapshots. In the root the file that names the corpus stays beside them. */
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

/** Keeps a copy in the archive, whose names sort by time, and at most so many. A failure here undoes nothing. */
export function keepSnapshot(
  root: string,
  path: string,
  document: ItemDocument,
  { at, maxArchive, mark }: { readonly at: number; readonly maxArchive: number; readonly mark?: 'rejected' },
): string {
  const folder = join(metaFolderOf(root, path), archiveFolder)
  mkdirSync(folder, { recursive: true })
  const stamp = new Date(at).toISOString()
  const name = `${stamp.replace(/[:.]/g, '-')}${mark === undefined ? '' : `.${mark}`}.json`
  const kept = { ...document, _archived: true, _archivedAt: stamp, ...(mark !== undefined && { _rejected: true }) }
  writeWhole(join(folder, name), documentText(kept))
  for (const old of snapshotNames(root, path).slice(maxArchive)) unlinkSync(join(folder, old))
  return name
}

/** The names of its snapshots, newest first. */
export function snapshotNames(root: string, path: string): string[] {
  const names = namesIn(join(metaFolderOf(root, path), archiveFolder))
  return names
    .filter((name) => name.endsWith('.json'))
    .sort()
    .reverse()
}

export function readSnapshot(root: string, path: string, name: string): ItemDocument | null {
  try {
    const read = parsed(readFileSync(join(metaFolderOf(root, path), archiveFolder, name), 'utf8'))
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
