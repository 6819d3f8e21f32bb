import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const treeMarks = ['.git', '.hg', '.svn', '.jj']

/**
 * The checked-out tree that a file lies in, if it lies in one: other people may have written what came with it. Both the
 * path as it is named and the path that links lead to count, because a writer of either decides what the file says.
 */
export function treeOf(path: string): string | null {
  return treesOf(path)[0]?.tree ?? null
}

export interface TreePath {
  readonly tree: string
  /** The file, as a path under the tree. */
  readonly path: string
}

/** Every checked-out tree around a file, the nearest first. */
export function treesOf(path: string): TreePath[] {
  const named = resolve(path)
  const real = existsSync(named) ? realpathSync(named) : named
  return [...new Set([named, real])].flatMap((each) => treesAbove(each).map((tree) => ({ tree, path: each })))
}

function treesAbove(path: string): string[] {
  const found: string[] = []
  for (let here = dirname(path); ; here = dirname(here)) {
    if (treeMarks.some((mark) => existsSync(join(here, mark)))) found.push(here)
    if (dirname(here) === here) return found
  }
}
