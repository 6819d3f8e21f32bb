import { hostname } from 'node:os'
import { keepAttempt } from '../../src/parts/agents/attempt-rows.ts'
import { keepWorktree } from '../../src/parts/agents/workspace/worktree-rows.ts'
import { verbsAt } from './desk.ts'
import { ready, type Stage } from './stages.ts'

const nothing: Stage = async () => ({})

/** A run at work in a terminal that was closed. */
const terminal: Stage = async (desk) => {
  const { id = '' } = await ready(desk)
  const place = { machine: hostname(), socket: '/srv/tmux', session: `belfry-${id}`, pid: 4_711, startTicks: 12 }
  const kept = { profile: 'claude', sessionId: null, facts: { profileVersion: '4f1c', terminal: place } }
  for (const lease of await desk.lease()) await desk.store.do(keepAttempt, lease, kept)
  return { id }
}

/** The worktree of an ended run, whose folder was removed by hand. */
const worktree: Stage = async (desk) => {
  await ready(desk)
  const leases = await desk.lease()
  const [first] = leases as [(typeof leases)[number]]
  const made = {
    machine: hostname(),
    path: '/srv/app/.belfry/worktrees/r-1',
    root: '/srv/app',
    base: '4f1c',
    madeAt: 0,
  }
  await desk.store.do(keepWorktree, first, made)
  await desk.store.settle(leases.map((lease) => ({ ...lease, outcome: { kind: 'success' as const } })))
  return {}
}

const messages: Stage = async (desk) => {
  await verbsAt(() => desk.context).inbox.send('Is the deploy healthy?', { session: '0b7f-main' })
  return {}
}

const taken: Stage = async (desk) => {
  await messages(desk)
  const { message } = await verbsAt(() => desk.context).inbox.next({ session: '0b7f-main', project: '/srv/app' })
  return { lease: message?.id ?? '' }
}

/** The stages of agents, their terminals and worktrees, and the inbox of sessions. */
export const agentStages = {
  'agent list': nothing,
  'agent get': nothing,
  'agent check': nothing,
  'run screen': terminal,
  'run attach': terminal,
  'workspace list': worktree,
  'workspace prune': worktree,
  'inbox next': messages,
  'inbox ack': taken,
  'inbox renew': taken,
  'inbox done': taken,
  'inbox send': nothing,
  'inbox list': taken,
  'inbox sessions': taken,
} satisfies Record<string, Stage>
