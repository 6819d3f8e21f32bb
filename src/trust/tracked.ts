import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type TreePath, treesOf } from './tree.ts'

const answerMsMax = 10_000

/** The settings of a tree can name programs that git starts: to watch files, as hooks, for passwords, to reach a remote. */
const ownSettings = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'credential.helper=',
  'protocol.allow=never',
  'protocol.ext.allow=never',
].flatMap((setting) => ['-c', setting])

/** Git asks no remote for objects that are missing, by any protocol, and asks no person; it fails instead. */
const ownEnvironment = {
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: '',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
}

/**
 * Whether a file came with a checked-out tree. Git is asked in every tree around the file; where it cannot be asked, or
 * the tree belongs to another tool, the answer is yes: only what certainly did not come with a tree is taken for our own.
 */
export async function mayHaveComeWithTree(file: string): Promise<boolean> {
  const answers = await Promise.all(treesOf(file).map(mayBeTracked))
  return answers.includes(true)
}

function mayBeTracked({ tree, path }: TreePath): Promise<boolean> {
  if (!existsSync(join(tree, '.git'))) return Promise.resolve(true)
  // A disk may not tell `.Belfry` from `.belfry`.
  const words = ['--no-pager', '-C', tree, ...ownSettings, 'ls-files', '--', `:(icase,literal)${relative(tree, path)}`]
  const { PATH, HOME } = process.env
  // Without the variables that would lead git to another tree.
  const env = { PATH, HOME, LC_ALL: 'C', ...ownEnvironment }
  return new Promise((resolve) => {
    // Git says on stderr that it could not read a part of its index, and ends as if the part were empty.
    execFile('git', words, { env, timeout: answerMsMax }, (error, stdout, stderr) =>
      resolve(error !== null || stdout !== '' || stderr !== ''),
    )
  })
}
