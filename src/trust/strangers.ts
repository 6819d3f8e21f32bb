import { existsSync, lstatSync, realpathSync, type Stats } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/** Another user who can change a store, and the path that allows it. */
export interface Stranger {
  readonly path: string
  /** The id of the user; `null` where every user of the machine can write. */
  readonly user: number | null
}

const root = 0
const otherUsersWrite = 0o002
const sticky = 0o1000
/** Whether to ignore that all users can write a folder. */
const openToAll = otherUsersWrite
/** SQLite reads these files beside its own as part of it. */
const besides = ['', '-wal', '-shm', '-journal']

/**
 * Finds all users who could replace this store, or write to it: the owners of its files, of the folders between the current
 * folder and the store, and of every folder above, whose owner can rename its entries; and all users if one of these files or
 * folders is world-writable. Root does not count as a stranger, because root can do anything anyway. Neither does a group,
 * because the owner chose it.
 */
export function strangersAt(file: string, { from }: { readonly from: string }): Stranger[] {
  const own = process.geteuid?.()
  if (own === undefined) return []
  const places = new Set([file, ...(existsSync(file) ? [realpathSync(file)] : [])].map((path) => resolve(path)))
  const found = [...places].flatMap((path) => {
    const folder = dirname(path)
    return [
      ...foldersBetween(resolve(from), dirname(folder)).flatMap((each) => strangersBesideRoot(each, own, sticky)),
      ...ownersAbove(dirname(folder), own),
      // In a sticky folder any user can add a missing file, even where none can remove one.
      ...strangersBesideRoot(folder, own, 0),
      ...besides.flatMap((ending) => strangersToFile(join(folder, basename(path) + ending), own)),
    ]
  })
  return [...new Map(found.map((each) => [each.path, each])).values()]
}

/** Finds all users but root who could have written a file, or put it there. */
export function strangersOfFile(file: string): Stranger[] {
  const own = process.geteuid?.()
  if (own === undefined || !existsSync(file)) return []
  const places = [...new Set([resolve(file), realpathSync(file)])]
  const found = places.flatMap((path) => [
    ...strangersBesideRoot(dirname(path), own, sticky),
    ...strangersBesideRoot(path, own, 0),
    ...ownersAbove(dirname(path), own),
  ])
  return [...new Map(found.map((each) => [each.path, each])).values()]
}

/** The folders from `low` up to `high`; only `high` where it is not above `low`. */
function foldersBetween(low: string, high: string): string[] {
  const found: string[] = []
  for (let here = low; ; here = dirname(here)) {
    found.push(here)
    if (here === high) return found
    if (dirname(here) === here) return [high]
  }
}

/**
 * Users other than root who own a folder above. World-writable folders above are ignored: volumes of containers and folders of
 * build machines are often open to all, and hold the folders of one user.
 */
function ownersAbove(folder: string, own: number): Stranger[] {
  const above = dirname(folder)
  if (above === folder) return []
  return [...strangersBesideRoot(above, own, openToAll), ...ownersAbove(above, own)]
}

/**
 * The strangers of a path that root may own. A path that all users can write is allowed if it has the mode bit
 * `excusedBy`.
 */
function strangersBesideRoot(path: string, own: number, excusedBy: number): Stranger[] {
  const stats = statsOf(path)
  if (stats === undefined) return []
  if (stats.uid !== own && !isRoot(stats.uid)) return [{ path, user: stats.uid }]
  return isOpenToAll(stats) && (stats.mode & excusedBy) === 0 ? [{ path, user: null }] : []
}

/** In a rootless container the folders of root appear as those of the owner of the topmost one. */
function isRoot(user: number): boolean {
  return user === root || user === statsOf('/')?.uid
}

function strangersToFile(path: string, own: number): Stranger[] {
  const stats = statsOf(path)
  if (stats === undefined) return []
  if (stats.uid !== own) return [{ path, user: stats.uid }]
  return isOpenToAll(stats) ? [{ path, user: null }] : []
}

/** A link has all mode bits, which mean nothing. */
function isOpenToAll(stats: Stats): boolean {
  return !stats.isSymbolicLink() && (stats.mode & otherUsersWrite) !== 0
}

function statsOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}
