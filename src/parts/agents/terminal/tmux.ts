import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { access, lstat, mkdir } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { BelfryError } from '../../../core/error.ts'
import { reasonText } from '../../../core/reason-text.ts'
import type { KindStore } from '../../../targets/kind.ts'

/** The socket of Belfry's own tmux server: one for each store and namespace. */
export function socketPath({ place, namespace }: Pick<KindStore, 'place' | 'namespace'>): string {
  const name = createHash('sha256').update(`${place} ${namespace}`).digest('hex').slice(0, 16)
  return join(tmpdir(), `belfry-${userInfo().uid}`, name)
}

/** The socket of Belfry's own tmux server, in a folder that only this user may enter. */
export async function tmuxSocket(store: Pick<KindStore, 'place' | 'namespace'>): Promise<string> {
  const { uid } = userInfo()
  const path = socketPath(store)
  const folder = dirname(path)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const { mode, uid: owner } = await lstat(folder)
  // Another user may have created the folder, to see what runs in the terminals.
  if (owner !== uid || (mode & 0o170_077) !== constants.S_IFDIR) {
    throw new BelfryError('unavailable', `The folder ${folder} is not a folder that only this user may enter.`)
  }
  return path
}

export function terminalName(runId: string): string {
  return `belfry-${runId}`
}

export function runOfTerminal(name: string): string | null {
  return /^belfry-(r-\w+)$/.exec(name)?.[1] ?? null
}

/** A tmux target with exactly this name; without `=` tmux takes any session whose name begins with it. */
export function paneOf(name: string): string {
  return `=${name}:`
}

/**
 * Calls tmux without the user's configuration. The first call starts the server, which inherits the environment of the call, so none of the
 * worker's own variables are passed.
 */
export function tmux(socket: string, args: readonly string[]): Promise<string> {
  const { PATH = '', HOME = '/' } = process.env
  const env = { PATH, HOME, SHELL: '/bin/sh', LC_ALL: 'C.UTF-8', TERM: 'xterm-256color' }
  return new Promise((resolve, reject) => {
    execFile('tmux', ['-S', socket, '-f', '/dev/null', ...args], { env, cwd: '/' }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(new BelfryError('unavailable', `tmux failed: ${reasonText(stderr.trim() || error.message, 200)}.`))
    })
  })
}

export async function isTmuxHere(path = process.env.PATH ?? ''): Promise<boolean> {
  for (const folder of path.split(delimiter)) {
    const isThere = await access(join(folder, 'tmux'), constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isThere) return true
  }
  return false
}
