import type { Part } from '../../../part.ts'
import { attach, screen } from './terminal-verbs.ts'

/** How long a run waits if this machine has no terminal for it; another worker may take the run at once. */
const noTerminalMs = 30_000

/** Terminals: agents that people can look at and talk to while they run. */
export const terminals = {
  name: 'terminals',
  concerns: ({ target }) => (target?.agent as { terminal?: string } | undefined)?.terminal === 'tmux',
  async begins(_, { clock }) {
    const { isTmuxHere } = await import('./tmux.ts')
    if (await isTmuxHere()) return { go: true }
    return {
      defer: { until: clock.now() + noTerminalMs, reason: 'no-terminal: tmux is not installed on this machine' },
    }
  },
  async recovers({ store }) {
    const { closeForgotten } = await import('./forgotten-terminals.ts')
    await closeForgotten(store)
  },
  nouns: { run: { operations: { screen, attach } } },
} as const satisfies Part
