import { realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { treeOf } from '../../../trust/tree.ts'

/** The project that a folder belongs to: the real path of its checkout's root, or of the folder itself. A folder that does not exist here stays as it is named. */
export function projectRoot(folder: string): string {
  const real = realOf(resolve(folder))
  // The tree of a path is searched above it, so the folder itself counts only by something in it.
  return treeOf(join(real, 'any')) ?? real
}

function realOf(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return folder
  }
}
