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
  return [...new Set([named, real])].flatMap((each) =>
    [...treesAround(dirname(each))].map((tree) => ({ tree, path: each })),
  )
}

/** The nearest checkout that a folder is in, or is the root of. */
export function treeAround(folder: string): string | null {
  const [nearest = null] = treesAround(folder)
  return nearest
}

function* treesAround(folder: string): Generator<string> {
  for (let here = folder; ; here = dirname(here)) {
    if (treeMarks.some((mark) => existsSync(join(here, mark)))) yield here
    if (dirname(here) === here) return
  }
}
