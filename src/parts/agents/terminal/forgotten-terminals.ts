import { existsSync } from 'node:fs'
import { findRun } from '../../../store/reads/find-run.ts'
import type { KindStore } from '../../../targets/kind.ts'
import { paneOf, runOfTerminal, socketPath, tmux } from './tmux.ts'

/** Closes the terminals that dead workers left behind: the programs have ended, and the runs are no longer at work. */
export async function closeForgotten(store: KindStore): Promise<void> {
  const socket = socketPath(store)
  if (!existsSync(socket)) return
  // Without a tmux server there are no terminals.
  const names = await tmux(socket, ['list-sessions', '-F', '#{session_name}']).catch(() => '')
  for (const name of names.split('\n')) {
    const runId = runOfTerminal(name)
    const run = runId === null ? null : await store.look(findRun, runId)
    if (runId === null || run?.status === 'leased') continue
    await tmux(socket, ['kill-session', '-t', paneOf(name)]).catch(() => undefined)
  }
}
