import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { treeOf } from '../../../trust/tree.ts'

/** The project that a folder belongs to: the real path of its checkout's root, or of the folder itself. */
export function projectOf(folder: string): string {
  const real = realOf(folder)
  // The tree of a path is searched above it, so the folder itself counts only by something in it.
  return treeOf(join(real, 'any')) ?? real
}

/** A folder that is on another machine stays as it is named. */
function realOf(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return folder
  }
}
