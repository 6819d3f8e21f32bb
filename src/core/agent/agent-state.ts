import { patternMatches } from '../json/pattern.ts'
import type { Transcript } from './transcript.ts'

/** What an agent is doing, for people who look at many of them. */
export const agentStates = ['working', 'waiting', 'question', 'done', 'error'] as const
export type AgentState = (typeof agentStates)[number]

export interface StateInput {
  readonly facts: Pick<Transcript, 'isDone' | 'proven'>
  /** The end of what it printed. */
  readonly tail: string
  /** How it shows that it waits, asks, has failed: patterns for the end of what it prints. */
  readonly states?: { readonly [State in AgentState]?: readonly string[] | undefined } | undefined
  /** Patterns of questions, which count as `states.question`. */
  readonly asks: readonly string[]
}

const tailLengthMax = 500
/** The first that matches counts: a question behind an error is a question. */
const judged = ['question', 'waiting', 'error', 'done', 'working'] as const

/** The state of an agent. What it proved by its final message stands above what its screen looks like. */
export function agentState({ facts, tail, states = {}, asks }: StateInput): AgentState {
  if (facts.isDone) return facts.proven.error === undefined ? 'done' : 'error'
  const end = tail.slice(-tailLengthMax)
  const patterns = { ...states, question: [...asks, ...(states.question ?? [])] }
  return judged.find((state) => patterns[state]?.some((pattern) => patternMatches(pattern, end))) ?? 'working'
}
