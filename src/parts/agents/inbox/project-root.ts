import { existsSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { treeAround } from '../../../trust/tree.ts'

/**
 * The project of a folder: the real path of its checkout's root, or of the folder itself. The path of a folder that does not exist here
 * stays unchanged.
 */
export function projectRoot(folder: string): string {
  const real = realOf(resolve(folder))
  return treeAround(real) ?? real
}

/** The real path; unchanged where there is none here. Every request for a message calls this, so it throws no exception for a folder of another machine. */
export function realOf(folder: string): string {
  if (!existsSync(folder)) return folder
  try {
    return realpathSync.native(folder)
  } catch {
    return folder
  }
}
