import { lstat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { documentPath, metaFolder, rootItem } from './document-file.ts'
import { alwaysIgnored, ignoredIn, isThere, slices, type WalkedFolder, type WalkOptions } from './walk-tree.ts'

interface Listed {
  readonly files: string[]
  readonly folders: string[]
}

/** How many paths are read before other work gets a turn. */
export const pathsATurn = 1_000

/**
 * The folders of a corpus whose files another program has listed, in the order of a walk. The list decides which files exist. The disk
 * decides which folders are items, so that a new document makes an item before it is listed. A path that is no folder on this disk, or is a
 * symbolic link, is left out with everything below it.
 */
export async function* walkListed(
  root: string,
  listed: readonly string[],
  { ignore, from = rootItem, isScope = false }: Omit<WalkOptions, 'listed'>,
): AsyncGenerator<WalkedFolder> {
  const folders = await foldersIn(root, listed, ignore)
  const turn = slices()
  const stack: { readonly path: string; readonly owner: string | null }[] = [{ path: from, owner: null }]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { path } = next
    const { files, folders: inner } = folders.get(path) ?? { files: [], folders: [] }
    if (path !== rootItem && !(await isFolder(join(root, path)))) continue
    const isItem = await isThere(documentPath(root, path))
    if (isItem && isScope && path !== from) continue
    const owner = isItem ? path : next.owner
    for (const one of inner) stack.push({ path: one, owner })
    yield { path, isItem, owner, files: files.sort(), folders: inner }
    await turn()
  }
}

async function isFolder(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}

async function foldersIn(root: string, listed: readonly string[], ignore: readonly string[]) {
  const isIgnored = await ignoredIn(root, ignore)
  const folders = new Map<string, Listed>([[rootItem, { files: [], folders: [] }]])
  const refused = new Set<string>()
  const isLeftOut = (path: string) => alwaysIgnored.has(path.slice(path.lastIndexOf('/') + 1)) || isIgnored(path)
  /** Null if the folder, or one above it, is left out. */
  const folderOf = (path: string): Listed | null => {
    const known = folders.get(path)
    if (known !== undefined) return known
    if (refused.has(path)) return null
    const above = isLeftOut(path) ? null : folderOf(dirname(path))
    if (above === null) {
      refused.add(path)
      return null
    }
    const folder = { files: [], folders: [] }
    above.folders.push(path)
    folders.set(path, folder)
    return folder
  }
  const turn = slices()
  for (const [index, path] of listed.entries()) {
    if (index % pathsATurn === 0) await turn()
    const owner = ownerOfDocument(path)
    // The document may be the only file of the folder.
    if (owner !== null) folderOf(owner)
    else if (!isLeftOut(path)) folderOf(dirname(path))?.files.push(path)
  }
  return folders
}

function ownerOfDocument(path: string): string | null {
  const folder = dirname(path)
  const isMeta = folder === metaFolder || folder.endsWith(`/${metaFolder}`)
  return isMeta && path.endsWith('/meta.json') ? dirname(folder) : null
}
