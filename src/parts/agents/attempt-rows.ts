import type { AgentState } from '../../core/agent/agent-state.ts'
import type { EarlierAttempt } from '../../core/agent/interrupted-session.ts'
import { runIdOf } from '../../store/leases/settle.ts'
import { removeOf } from '../../store/prune/sweep.ts'
import { all, both, one, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'
import type { TerminalFacts } from './terminal/start-in-terminal.ts'

/** The facts kept of an attempt besides its profile and session. */
export interface KeptFacts {
  /** A hash of the profile at the time of the attempt. */
  readonly profileVersion: string
  /** A hash of the prompt as the agent received it, without the line of origin. */
  readonly promptHash?: string
  readonly resumed?: true
  /** The last known state of the agent. */
  readonly state?: AgentState
  readonly terminal?: TerminalFacts & { readonly machine: string }
  readonly model?: string
  readonly turns?: number
  readonly tokensIn?: number
  readonly tokensOut?: number
  readonly tokensCached?: number
  readonly money?: { readonly amount: number; readonly currency: string }
}

export interface AgentAttempt {
  readonly profile: string
  readonly sessionId: string | null
  readonly facts: KeptFacts
}

/** Written only under the lease of the attempt: a worker that has lost the lease must not write. */
const keep = both(
  'agents keep attempt',
  `insert into belfry.agent_attempt (run_id, fence, ns, profile, session_id, facts)
    select run_id, fence, ns, $4, $5, $6 from belfry.lease where run_id = $1 and fence = $2 and ns = $3
    on conflict (run_id, fence) do update set session_id = excluded.session_id, facts = excluded.facts
    returning run_id`,
)
const findEarlier = both(
  'agents find earlier attempts',
  `select a.outcome, g.profile, g.session_id from belfry.attempt a
    left join belfry.agent_attempt g on g.run_id = a.run_id and g.fence = a.fence
    where a.run_id = $1 and a.ns = $2 and a.fence < $3 and a.fence > 0 order by a.fence desc limit 20`,
)
const findOfRun = both(
  'agents find attempts of run',
  `select fence, profile, session_id, facts from belfry.agent_attempt where run_id = $1 and ns = $2 order by fence desc limit 1000`,
)
export const removeAttempts = removeOf('agent_attempt', 'run_id')

interface LeasedName {
  readonly runId: string
  readonly fence: number
}

export function* keepAttempt(
  { ns }: StoreContext,
  { runId, fence }: LeasedName,
  { profile, sessionId, facts }: AgentAttempt,
): Step<'written' | 'lease-lost'> {
  const row = yield* one(keep, runIdOf({ runId }), fence, ns, profile, sessionId, JSON.stringify(facts))
  return row === undefined ? 'lease-lost' : 'written'
}

/** The earlier attempts of a run, newest first. */
export function* earlierAttempts({ ns }: StoreContext, { runId, fence }: LeasedName): Step<EarlierAttempt[]> {
  const rows = yield* all<{ outcome: string; profile: string | null; session_id: string | null }>(
    findEarlier,
    runIdOf({ runId }),
    ns,
    fence,
  )
  return rows.map(({ outcome, profile, session_id: sessionId }) => ({ outcome, profile, sessionId }))
}

export function* agentAttempts({ ns }: StoreContext, runId: string): Step<Map<number, AgentAttempt>> {
  const rows = yield* all<{ fence: number; profile: string; session_id: string | null; facts: string }>(
    findOfRun,
    runIdOf({ runId }),
    ns,
  )
  return new Map(
    rows.map(({ fence, profile, session_id: sessionId, facts }) => [
      fence,
      { profile, sessionId, facts: JSON.parse(facts) as KeptFacts },
    ]),
  )
}
