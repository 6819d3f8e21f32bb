import { accessSync, constants, statSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import type { Target } from '../../core/target.ts'
import type { TargetProblem } from '../target-problem.ts'

/**
 * A relative path is stored as it resolves here, so it must exist here. An absolute path is for the workers, which may run on
 * other machines. The target is checked as it was written, even if other things are wrong with it.
 */
export function absentPaths(target: Target, folder: string): TargetProblem[] {
  const cwd = textIn(target.cwd)
  const program = textIn(Array.isArray(target.command) ? target.command[0] : undefined)
  const place = cwd === undefined ? folder : resolve(folder, cwd)
  const ofFolder = cwd !== undefined && isHere(cwd) ? folderProblem(cwd, folder) : null
  if (ofFolder !== null) return [{ field: 'cwd', ...ofFolder }]
  if (program === undefined || !program.includes('/') || !isHere(program)) return []
  // If the folder is on the workers' machines, the program is there too.
  const ofProgram = cwd !== undefined && !isHere(cwd) ? null : programProblem(program, place)
  return ofProgram === null ? [] : [{ field: 'command[0]', ...ofProgram }]
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && !value.includes('\0') ? value : undefined
}

type Unplaced = Omit<TargetProblem, 'field'>

function isHere(path: string): boolean {
  return path !== '' && !isAbsolute(path)
}

function folderProblem(path: string, folder: string): Unplaced | null {
  const found = statSync(resolve(folder, path), { throwIfNoEntry: false })
  if (found?.isDirectory() === true) return null
  const why = found === undefined ? `does not exist in ${folder}` : 'is not a folder'
  return {
    problem: `names ${JSON.stringify(path)}, which ${why}`,
    expected: 'an existing folder, or the absolute path of a folder on the workers’ machines',
  }
}

function programProblem(path: string, folder: string): Unplaced | null {
  const file = resolve(folder, path)
  const named = `names ${JSON.stringify(path)}, which`
  const found = statSync(file, { throwIfNoEntry: false })
  if (found?.isFile() !== true) {
    const expected = 'an existing program, or the absolute path of a program on the workers’ machines'
    return { problem: `${named} ${found === undefined ? `does not exist in ${folder}` : 'is not a file'}`, expected }
  }
  if (isExecutable(file)) return null
  return { problem: `${named} is not executable`, expected: `chmod +x ${path} before, or a program that reads it` }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    // Every reason why this user cannot execute the program gives the same problem: the user has to check its
    // permissions anyway.
    return false
  }
}
