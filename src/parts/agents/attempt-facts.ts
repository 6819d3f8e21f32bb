import { z } from 'zod'
import { agentStates } from '../../core/agent/agent-state.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import { count, text } from '../../operations/schema/output-schema.ts'
import { type AgentAttempt, agentAttempts } from './attempt-rows.ts'
import { keptFor } from './workspace/worktree-rows.ts'

declare module '../../core/added.ts' {
  interface AddedToAttempt {
    readonly agent: AddedType<AgentFacts>
  }
}

const agentFacts = z.strictObject({
  profile: text('The profile of the agent.'),
  profileVersion: text('A hash of the profile as it was.'),
  promptHash: text('A hash of the prompt.').exactOptional(),
  sessionId: text('The session of the agent, which the next attempt may continue.').exactOptional(),
  resumed: z.literal(true).describe('It continued the session of an earlier attempt.').exactOptional(),
  state: z.enum(agentStates).describe('What it was doing when last heard of.').exactOptional(),
  terminal: z
    .strictObject({ machine: text('Where it is.'), session: text('Its name in tmux.') })
    .describe('The terminal that it runs in.')
    .exactOptional(),
  worktree: text('The worktree of the attempt, where it was kept.').exactOptional(),
  model: text('The model that the agent named.').exactOptional(),
  turns: count('The turns of the agent.').exactOptional(),
  tokensIn: count('Input tokens, without cached ones.').exactOptional(),
  tokensOut: count('Output tokens.').exactOptional(),
  tokensCached: count('Cached input tokens.').exactOptional(),
  money: z
    .strictObject({ amount: count('In millionths of the unit.'), currency: text('Such as USD.') })
    .describe('What it cost.')
    .exactOptional(),
})
export type AgentFacts = z.output<typeof agentFacts>

export const agentField = {
  input: agentFacts.describe('What is known of the agent.'),
  inWords: (facts: AgentFacts) => factsInWords(facts),
  /** An attempt without a stored state is working; a write for that would be wasted. */
  inList: ({ state }: AgentFacts) => state ?? 'working',
}

export async function attemptFacts({ store }: OperationContext, runId: string): Promise<ReadonlyMap<number, object>> {
  const [found, kept] = await Promise.all([store.look(agentAttempts, runId), store.look(keptFor, runId)])
  return new Map([...found].map(([fence, attempt]) => [fence, { agent: answerOf(attempt, kept.get(fence)) }]))
}

function answerOf({ profile, sessionId, facts: { terminal, ...facts } }: AgentAttempt, worktree?: string): AgentFacts {
  const named = terminal === undefined ? {} : { terminal: { machine: terminal.machine, session: terminal.session } }
  return {
    profile,
    ...(sessionId !== null && { sessionId }),
    ...facts,
    ...named,
    ...(worktree !== undefined && { worktree }),
  }
}

/** `claude (opus), session 3f9c…, 3 turns, 1,204 in, 380 out, 0.0312 USD`. */
export function factsInWords(facts: Omit<AgentFacts, 'profileVersion'>): string {
  const {
    profile,
    model,
    sessionId,
    resumed,
    turns,
    tokensIn,
    tokensOut,
    tokensCached,
    money,
    state,
    terminal,
    worktree,
  } = facts
  const counted = (count: number | undefined, what: string) =>
    count === undefined ? [] : [`${count.toLocaleString('en')} ${what}`]
  return [
    model === undefined ? profile : `${profile} (${model})`,
    ...(state === undefined || state === 'done' || state === 'working' ? [] : [`last heard of: ${state}`]),
    ...(terminal === undefined ? [] : [`terminal ${terminal.session} on ${terminal.machine}`]),
    ...(worktree === undefined ? [] : [`worktree ${worktree}`]),
    ...(sessionId === undefined ? [] : [`${resumed === true ? 'resumed session' : 'session'} ${sessionId}`]),
    ...counted(turns, turns === 1 ? 'turn' : 'turns'),
    ...counted(tokensIn, 'tokens in'),
    ...counted(tokensOut, 'out'),
    ...counted(tokensCached, 'cached'),
    ...(money === undefined ? [] : [`${(money.amount / 1_000_000).toFixed(4)} ${money.currency}`]),
  ].join(', ')
}
