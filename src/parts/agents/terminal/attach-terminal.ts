import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { paneOf } from './tmux.ts'

export interface Attachment {
  readonly socket: string
  readonly session: string
  readonly isReadOnly: boolean
}

export interface Attached {
  readonly attached: boolean
  readonly command: string
}

/** Shows the terminal of a run in the current one, until the person detaches (Ctrl-b d) or the program ends. */
export async function attached({ socket, session, isReadOnly }: Attachment): Promise<Attached> {
  const args = ['-S', socket, 'attach-session', ...(isReadOnly ? ['-r'] : []), '-t', paneOf(session)]
  const command = ['tmux', ...args].join(' ')
  if (!process.stdin.isTTY || !process.stdout.isTTY) return { attached: false, command }
  // Inside the user's own tmux, tmux would refuse to attach.
  const { TMUX: _, ...env } = process.env
  const [exitCode] = (await once(spawn('tmux', args, { stdio: 'inherit', env }), 'exit')) as [number | null]
  return { attached: exitCode === 0, command }
}
