import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { shellWord } from '../../../operations/shell-words.ts'

/** How this process was started. */
interface Start {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly folder: string
  /** The file that node was given, as the user named it: symbolic links are not followed. */
  readonly script: string | undefined
}

/**
 * The words that start this command line, as they can be typed where it was started. `belfry` alone is right only where the
 * shell finds this very program by it: another version, or nothing, may be what it finds.
 */
export function startedAs({ env, folder, script }: Start): string {
  // npm puts the program on a PATH of its own, which the shell of the user does not have.
  if (env.npm_command !== undefined || env.npm_lifecycle_event !== undefined) return 'npx belfry'
  if (script === undefined) return 'belfry'
  const found = foundOnPath(env.PATH ?? '', folder)
  // A version manager starts this program by a file of its own, which the shell has found and named.
  if (found !== null && (found === env._ || isSamePackage(found, script))) return 'belfry'
  const inside = relative(folder, script)
  const isInside = inside !== '' && !inside.startsWith('..') && !isAbsolute(inside)
  if (/\.[cm]?[jt]s$/.test(script)) return `node ${shellWord(isInside ? inside : script)}`
  return shellWord(isInside ? `./${inside}` : script)
}

/** The file that a shell would start for `belfry`. */
function foundOnPath(path: string, folder: string): string | null {
  const files = path.split(delimiter).map((each) => join(resolve(folder, each), 'belfry'))
  return files.find(isExecutable) ?? null
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    // It is not there, or not for this user: a shell goes on to the next folder.
    return false
  }
}

/** npm links its command to `bin/belfry.js` of the package, which loads `dist/belfry.js`. */
function isSamePackage(found: string, script: string): boolean {
  try {
    return dirname(dirname(realpathSync(found))) === dirname(dirname(realpathSync(script)))
  } catch {
    // One of them was deleted meanwhile, so that nothing leads to it any more.
    return false
  }
}
