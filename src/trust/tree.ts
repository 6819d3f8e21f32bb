import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const treeMarks = ['.git', '.hg', '.svn', '.jj']

/**
 * The checkout that contains a file, if any: other people may have written it. Both the path as named and the resolved path
 * count, because a writer of either decides what the file contains.
 */
export function treeOf(path: string): string | null {
  return treesOf(path)[0]?.tree ?? null
}

export interface TreePath {
  readonly tree: string
  /** The file, as a path under the checkout. */
  readonly path: string
}

/** Every checkout around a file, the nearest first. */
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
