import type { Part } from '../../../part.ts'
import { workspaceTables } from './0030-workspaces.ts'
import { checkoutFull, leaveCheckouts, reserveCheckout } from './reserve-checkout.ts'
import { workspaceOperations } from './workspace-verbs.ts'

/** Where agents work: one at a time in a checkout, or each in its own worktree. */
export const workspaces = {
  name: 'workspaces',
  migrations: [workspaceTables],
  concerns: ({ target }) => target?.agent !== undefined,
  begins: ({ runId, fence }, { store }) => store.do(reserveCheckout, { runId, fence }),
  ended: leaveCheckouts,
  heldDeferrals: [checkoutFull.code],
  holdReasons: { [checkoutFull.code]: checkoutFull },
  nouns: {
    workspace: {
      says: 'Worktrees that agents work in.',
      plural: 'workspaces',
      operations: workspaceOperations,
      otherWords: {
        workspaces: 'workspace list',
        worktree: 'workspace',
        'workspace ls': 'list',
        'workspace rm': 'prune',
        'workspace clean': 'prune',
      },
    },
  },
} as const satisfies Part
