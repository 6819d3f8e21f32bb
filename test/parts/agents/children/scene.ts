import { bind } from '../../../../src/operations/bind.ts'
import type { OperationContext } from '../../../../src/operations/operation-context.ts'
import type { TokenCaller } from '../../../../src/operations/token/token-caller.ts'
import { planOperations } from '../../../../src/parts/agents/children/plan-verbs.ts'
import { keepRunToken, knowsRunToken, newRunToken } from '../../../../src/parts/agents/children/run-token.ts'
import { wakeOperations } from '../../../../src/parts/agents/children/wake-verbs.ts'
import { inboxOperations } from '../../../../src/parts/agents/inbox/inbox-verbs.ts'
import type { Lease } from '../../../../src/store/port.ts'
import { registerWorker } from '../../../../src/store/workers/register-worker.ts'
import { type Desk, verbsAt } from '../../../operations/desk.ts'

let claims = 0

/** Leases the waiting runs for agents, as a worker would. */
export async function leaseAgents({ store }: Desk, leaseMs = 3_600_000): Promise<Lease[]> {
  const can = { kinds: ['agent'] }
  const workerId = await store.do(registerWorker, { name: 'w', host: 'h', can, beatMs: 60_000 })
  const request = { queue: 'agents', workerId, claimId: `agents ${++claims}`, can, limit: 3, leaseMs }
  return (await store.lease(request)).leases
}

/** The token that a run gets when its agent starts. */
export async function tokenOf({ store }: Desk, lease: Lease, project = '/srv/app'): Promise<string> {
  const { token, hash } = newRunToken(lease)
  const { profile } = (lease.target as { agent: { profile: string } }).agent
  await store.do(keepRunToken, lease, { hash, project, profile })
  return token
}

/** The verbs that an agent has in its run. */
export function agentVerbs(context: OperationContext) {
  return {
    ...bind({ ...planOperations, ...wakeOperations }, () => context),
    inbox: bind(inboxOperations, () => context),
  }
}

export interface AtWork {
  /** The task of a person; a run of the task is at work. */
  readonly task: { readonly id: string; readonly name: string }
  readonly lease: Lease
  readonly token: string
  readonly agent: ReturnType<typeof agentVerbs>
  readonly end: (result?: unknown) => Promise<void>
}

export const looks = { every: '1h', startNow: true, prompt: 'Watch the deploy.' }

/** Starts a run of a person's task, whose agent may plan tasks. */
export async function atWork(desk: Desk, input: object = {}, mayUse = 'self'): Promise<AtWork> {
  const { tasks, config } = verbsAt(() => desk.context)
  await config.apply({ source: 'test', agents: { claude: { mayUse } } } as never)
  const { task } = await tasks.create({ ...looks, ...input })
  return { task, ...(await running(desk)) }
}

/** Starts the run that is due. */
export async function running(desk: Desk, project?: string): Promise<Omit<AtWork, 'task'>> {
  await desk.store.fireDue({ limit: 10 })
  const [lease] = await leaseAgents(desk)
  if (lease === undefined) throw new Error('No run of an agent is ready.')
  const token = await tokenOf(desk, lease, project)
  const { scope, ...actor } = (await knowsRunToken(desk.store, token)) as TokenCaller
  const agent = agentVerbs({ ...desk.context, actor: { ...actor, door: 'http' }, scope })
  const { runId, fence, scheduleId } = lease
  const end = async (result?: unknown) => {
    await desk.store.settle([{ runId, fence, scheduleId, outcome: { kind: 'success' }, result }])
  }
  return { lease, token, agent, end }
}
