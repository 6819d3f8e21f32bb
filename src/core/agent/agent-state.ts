import { patternMatches } from '../json/pattern.ts'
import type { Transcript } from './transcript.ts'

/** What an agent is doing, shown where people watch many agents. */
export const agentStates = ['working', 'waiting', 'question', 'done', 'error'] as const
export type AgentState = (typeof agentStates)[number]

export interface StateInput {
  readonly facts: Pick<Transcript, 'isDone' | 'proven'>
  /** The last part of the agent's output. */
  readonly tail: string
  /** Patterns for the end of the output that show whether the agent waits, asks or has failed. */
  readonly states?: { readonly [State in AgentState]?: readonly string[] | undefined } | undefined
  /** Patterns of questions; a match counts as `states.question`. */
  readonly asks: readonly string[]
}

const tailLengthMax = 500
/** The first pattern that matches counts: a question after an error is a question. */
const judged = ['question', 'waiting', 'error', 'done', 'working'] as const

/** The state of an agent. A final message decides before the look of the screen does. */
export function agentState({ facts, tail, states = {}, asks }: StateInput): AgentState {
  if (facts.isDone) return facts.proven.error === undefined ? 'done' : 'error'
  const end = tail.slice(-tailLengthMax)
  const patterns = { ...states, question: [...asks, ...(states.question ?? [])] }
  return judged.find((state) => patterns[state]?.some((pattern) => patternMatches(pattern, end))) ?? 'working'
}
