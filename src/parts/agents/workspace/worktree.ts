import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { BelfryError } from '../../../core/error.ts'
import { reasonText } from '../../../core/reason-text.ts'

const printedBytesMax = 1024 * 1024

/** The root of the checkout that a folder is in. */
export async function checkoutRoot(folder: string): Promise<string> {
  const root = await git(folder, ['rev-parse', '--show-toplevel']).catch((error: Error) => {
    throw new BelfryError('unavailable', `The folder ${folder} is in no git checkout: ${error.message}.`, {
      hint: 'A worktree is made from a checkout: give its folder as cwd.',
    })
  })
  return root.trimEnd()
}

/** The commit that a ref names. */
export async function commitOf(root: string, ref: string): Promise<string> {
  const found = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`]
  return (await git(root, found).catch(() => Promise.reject(noCommit(root, ref)))).trimEnd()
}

function noCommit(root: string, ref: string): BelfryError {
  return new BelfryError('unavailable', `There is no commit ${JSON.stringify(ref)} in ${root}.`)
}

export async function addWorktree(root: string, path: string, commit: string): Promise<void> {
  await git(root, ['worktree', 'add', '--detach', '--', path, commit]).catch((error: Error) => {
    throw new BelfryError('unavailable', `No worktree could be made at ${path}: ${error.message}.`)
  })
}

/** Whether files were changed or added, or commits were made. Ignored files do not count. */
export async function hasChanges(path: string, base: string): Promise<boolean> {
  // The settings of the checkout may hide new files and submodules, whose loss would be as bad.
  const look = ['status', '--porcelain', '--untracked-files=normal', '--ignore-submodules=none']
  const [head, status] = [await git(path, ['rev-parse', 'HEAD']), await git(path, look)]
  return head.trimEnd() !== base || status !== ''
}

export async function removeWorktree(root: string, path: string): Promise<void> {
  await rm(path, { recursive: true, force: true })
  // The checkout that the worktree was made from may be gone.
  await git(root, ['worktree', 'prune']).catch(() => undefined)
}

/** The size of a folder on disk; 0 if the size is unknown. */
export function bytesIn(path: string): Promise<number> {
  return called('du', ['-sk', path]).then(
    (text) => Number.parseInt(text, 10) * 1_024 || 0,
    () => 0,
  )
}

function git(folder: string, args: readonly string[]): Promise<string> {
  return called('git', ['-C', folder, ...args])
}

/** Variables of the worker, such as GIT_DIR, would lead git to another checkout. */
function called(program: string, args: readonly string[]): Promise<string> {
  const { PATH = '', HOME = '/' } = process.env
  const env = { PATH, HOME, LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0' }
  return new Promise((resolve, reject) => {
    execFile(program, [...args], { env, maxBuffer: printedBytesMax }, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout)
      const isMissing = 'code' in error && error.code === 'ENOENT'
      const said = stderr.trim().split('\n').at(-1) ?? ''
      reject(new Error(isMissing ? `${program} is not installed` : reasonText(said || error.message, 300)))
    })
  })
}
