import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'

export interface Program {
  /** The program and its arguments, with secrets filled in. */
  readonly argv: readonly [string, ...string[]]
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
}

/**
 * Why the program cannot be started here, in one sentence; `null` when it can. It is checked beforehand, because the shell that
 * starts it could only answer with exit code 126 or 127, which a program may return as well.
 */
export async function startProblem({ argv: [name], cwd, environment }: Program): Promise<string | null> {
  const folder = await folderProblem(cwd)
  if (folder !== null) return `The working folder ${cwd} ${folder}; it needs a folder that the worker may enter.`
  if (name.includes('/')) {
    const problem = await fileProblem(resolve(cwd, name))
    return problem === null ? null : `The program ${name} ${problem}; it needs a file that the worker may execute.`
  }
  const path = environment.PATH ?? ''
  for (const place of path.split(delimiter)) {
    if ((await fileProblem(join(resolve(cwd, place), name))) === null) return null
  }
  return `The program ${name} is in none of the folders of its PATH; install it there, or give its absolute path.`
}

async function folderProblem(path: string): Promise<string | null> {
  try {
    if (!(await stat(path)).isDirectory()) return 'is not a folder'
    await access(path, constants.X_OK)
    return null
  } catch (error) {
    return whyNot(error)
  }
}

async function fileProblem(path: string): Promise<string | null> {
  try {
    if (!(await stat(path)).isFile()) return 'is not a file'
    await access(path, constants.X_OK)
    return null
  } catch (error) {
    return whyNot(error)
  }
}

function whyNot(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'does not exist'
    case 'EACCES':
      return 'may not be used by the worker (EACCES)'
    default:
      return `cannot be used (${code})`
  }
}
