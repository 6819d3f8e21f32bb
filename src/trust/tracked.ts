import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type TreePath, treesOf } from './tree.ts'

const answerMsMax = 10_000

/** The git settings of a checkout can name programs that git starts: file watchers, hooks, password helpers, remote helpers. */
const ownSettings = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'credential.helper=',
  'protocol.allow=never',
  'protocol.ext.allow=never',
].flatMap((setting) => ['-c', setting])

/** Git fetches no missing objects from a remote, by any protocol, and asks no person; it fails instead. */
const ownEnvironment = {
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: '',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
}

/**
 * Whether a file came with a checkout. Git is asked in every checkout around the file; where it cannot answer, or another tool
 * made the checkout, the answer is yes: only a file that certainly did not come with a checkout counts as our own.
 */
export async function mayHaveComeWithTree(file: string): Promise<boolean> {
  const answers = await Promise.all(treesOf(file).map(mayBeTracked))
  return answers.includes(true)
}

function mayBeTracked({ tree, path }: TreePath): Promise<boolean> {
  if (!existsSync(join(tree, '.git'))) return Promise.resolve(true)
  // A file system may treat `.Belfry` and `.belfry` as equal.
  const words = ['--no-pager', '-C', tree, ...ownSettings, 'ls-files', '--', `:(icase,literal)${relative(tree, path)}`]
  const { PATH, HOME } = process.env
  // The environment without the variables that would lead git to another checkout.
  const env = { PATH, HOME, LC_ALL: 'C', ...ownEnvironment }
  return new Promise((resolve) => {
    // Git reports on stderr that it could not read a part of its index, and exits as if that part were empty.
    execFile('git', words, { env, timeout: answerMsMax }, (error, stdout, stderr) =>
      resolve(error !== null || stdout !== '' || stderr !== ''),
    )
  })
}
