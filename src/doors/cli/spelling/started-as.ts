import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { shellWord } from '../../../operations/shell-words.ts'

/** How this process was started. */
interface Start {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly folder: string
  /** The script as the user named it: symbolic links are not followed. */
  readonly script: string | undefined
}

/** The words that start this command line where it was started. `belfry` alone is right only if the shell finds this very program: it may find another version, or nothing. */
export function startedAs({ env, folder, script }: Start): string {
  // npm adds the program to its own PATH, which the user's shell does not have.
  if (env.npm_command !== undefined || env.npm_lifecycle_event !== undefined) return 'npx belfry'
  if (script === undefined) return 'belfry'
  const found = foundOnPath(env.PATH ?? '', folder)
  // A version manager starts this program through its own shim, which the shell has found.
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
    // It does not exist, or not for this user: a shell tries the next folder.
    return false
  }
}

/** npm links its command to `bin/belfry.js` of the package, which loads `dist/belfry.js`. */
function isSamePackage(found: string, script: string): boolean {
  try {
    return dirname(dirname(realpathSync(found))) === dirname(dirname(realpathSync(script)))
  } catch {
    // One of them was deleted meanwhile, so they are not the same file.
    return false
  }
}
