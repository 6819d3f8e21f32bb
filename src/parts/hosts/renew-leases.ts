import { z } from 'zod'
import { type AgentState, agentStates } from '../../core/agent/agent-state.ts'
import type { BelfryError } from '../../core/error.ts'
import { type Holding, holdingsOf, overError } from '../../operations/lease/held-lease.ts'
import { leaseId, leaseIdOf, runOfLease } from '../../operations/lease/lease-id.ts'
import { everyDoor, operation } from '../../operations/operation.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import { type AnswerOf, flag, instantOutput, text } from '../../operations/schema/output-schema.ts'
import type { Renewal } from '../../store/port.ts'
import { clockNow } from '../../store/statement.ts'
import type { HeldRun } from '../../store/views.ts'
import { renewedColumns, showRenewed } from './show.ts'

const renewedSaid = z.strictObject({
  lease: text('The id of the lease.'),
  renewed: flag('Whether the lease was renewed. If not, stop the work: another worker may execute the run.'),
  expiresAt: instantOutput('When the lease now expires.').nullable(),
  cancelRequestedAt: instantOutput('When cancellation was requested: stop the work, and release the run.').nullable(),
  releaseRequestedAt: instantOutput('When release was requested: stop the work, and release the run.').nullable(),
  problem: text('Why the lease was not renewed, and what happened since.').nullable(),
})

export type Renewed = AnswerOf<typeof renewedSaid>

const leasesMax = 1_000
const example = 'r-15.1.7c2f9a3d5e8b41069d3f2a1b4c5d6e7f'

const renewing = {
  noun: 'sched',
  effect: 'write',
  scope: 'operate',
  doors: everyDoor,
} as const

const state = z
  .enum(agentStates)
  .describe('What the work is doing, for people who watch: `run list` shows it. Default: as before.')
  .optional()

export const renew = operation({
  ...renewing,
  verb: 'renew',
  says: 'Renew a lease for its whole length from now, and answer whether cancellation was requested.',
  request: 'a renewal',
  about: runOfLease,
  input: z.strictObject({ lease: leaseId, state }),
  takes: ['lease'],
  output: renewedSaid,
  errors: ['invalid', 'not-found', 'conflict'],
  show: showRenewed,
  examples: [{ lease: example }, { lease: example, state: 'question' }],
  async run(context, { lease, state: doing }) {
    const [holding] = (await holdingsOf(context, [lease], 'renew')) as [Holding]
    if ('error' in holding) throw holding.error
    const [answer] = (await renewHeld(context, [holding.held], doing)) as [Renewal]
    if (!answer.renewed) throw await overError(context, holding.parts)
    return renewedOf(lease, answer)
  },
})

export const renewMany = operation({
  ...renewing,
  verb: 'renewMany',
  says: 'Renew many leases at once; each has its own answer.',
  request: 'a renewal of leases',
  input: z.strictObject({
    state,
    leases: z.array(leaseId).min(1).max(leasesMax).readonly().describe('The ids of the leases.'),
  }),
  takes: [],
  output: z.array(renewedSaid).describe('The answers, in the order of the ids.'),
  errors: ['invalid'],
  show: { columns: renewedColumns },
  examples: [{ leases: [example, 'r-16.1.7c2f9a3d5e8b41069d3f2a1b4c5d6e7f'] }],
  async run(context, { leases, state: doing }) {
    const holdings = await holdingsOf(context, leases, 'renew')
    const held = holdings.flatMap((holding) => ('held' in holding ? [holding.held] : []))
    const answers = new Map((await renewHeld(context, held, doing)).map((answer) => [nameOf(answer), answer]))
    return Promise.all(
      holdings.map(async (holding) => {
        const id = leaseIdOf(holding.parts)
        if ('error' in holding) return notRenewed(id, holding.error)
        const answer = answers.get(nameOf(holding.held))
        return answer?.renewed === true
          ? renewedOf(id, answer)
          : notRenewed(id, await overError(context, holding.parts))
      }),
    )
  },
})

function nameOf({ runId, fence }: Pick<Renewal, 'runId' | 'fence'>): string {
  return `${runId} ${fence}`
}

/** Renews by the current policies, and records that the holders are alive. */
async function renewHeld(
  { store }: OperationContext,
  held: readonly HeldRun[],
  doing: AgentState | undefined,
): Promise<Renewal[]> {
  const leases = held.map(async ({ leaseTtlMs, ...run }) => ({
    ...run,
    leaseMs: leaseTtlMs ?? (await lengthLeft(store, run)),
    state: doing,
  }))
  const answers = held.length === 0 ? [] : await store.renew(await Promise.all(leases))
  if (held.length > 0) await store.beat([...new Set(held.map(({ workerId }) => workerId))])
  return answers
}

/** When the policy cannot be read, the lease is not extended; the rest of it stays. */
async function lengthLeft(
  store: OperationContext['store'],
  { expiresAt }: Pick<HeldRun, 'expiresAt'>,
): Promise<number> {
  return Math.max(1, expiresAt - (await store.look(clockNow)))
}

function renewedOf(lease: string, renewal: Renewal & { readonly renewed: true }): Renewed {
  const { expiresAt, cancelRequestedAt, releaseRequestedAt } = renewal
  return { lease, renewed: true, expiresAt, cancelRequestedAt, releaseRequestedAt, problem: null }
}

function notRenewed(lease: string, { message }: BelfryError): Renewed {
  return { lease, renewed: false, expiresAt: null, cancelRequestedAt: null, releaseRequestedAt: null, problem: message }
}
