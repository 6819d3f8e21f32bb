import { reasonText } from '../reason-text.ts'
import { type AnswerRules, type EndFacts, outcomeOf } from './expect.ts'

/** The answer of a guard: yes, no or failed, with the reason in a few words. */
export interface GuardAnswer {
  readonly says: 'yes' | 'no' | 'failed'
  readonly why: string
}

export interface GuardInput {
  readonly facts: EndFacts
  readonly expect?: AnswerRules | undefined
}

/**
 * Reads the end of a guard. Exit code 0, a 2xx status or `true` is a yes; so is every answer that the guard's own `expect`
 * accepts. Exit code 1, another answer or `false` is a no. Everything else is a failure of the guard, never an answer: taken for a
 * yes it would start work that the guard was to keep from starting, and taken for a no a broken guard would stop its work without
 * a word.
 */
export function guardAnswer({ facts, expect }: GuardInput): GuardAnswer {
  const outcome = outcomeOf({ facts, expect })
  const why = outcome.kind === 'failed' ? outcome.reason : answerIn(facts)
  if (facts.error !== undefined || isBroken(facts, outcome.kind === 'success')) return { says: 'failed', why }
  if (outcome.kind !== 'success') return { says: 'no', why }
  if (expect !== undefined || isOfProgramOrServer(facts)) return { says: 'yes', why }
  if (typeof facts.json === 'boolean') return { says: facts.json ? 'yes' : 'no', why }
  return { says: 'failed', why: `${why}, and its answer is neither true nor false` }
}

/** Statuses with which a server says that it could not answer now. */
const unansweredStatuses: ReadonlySet<number> = new Set([408, 425, 429])

/** Whether the guard ran but gave no answer. Whatever the guard's `expect` names is always an answer. */
function isBroken({ status, exitCode, signal }: EndFacts, isExpected: boolean): boolean {
  if (isExpected) return false
  if (status === null || exitCode === null || signal) return true
  if (typeof status === 'number') return status >= 500 || unansweredStatuses.has(status)
  return typeof exitCode === 'number' && exitCode > 1
}

function isOfProgramOrServer({ status, exitCode }: EndFacts): boolean {
  return typeof status === 'number' || typeof exitCode === 'number'
}

function answerIn({ status, exitCode, json }: EndFacts): string {
  if (typeof exitCode === 'number') return `exit code ${exitCode}`
  if (typeof status === 'number') return `status ${status}`
  return `it answered ${reasonText(JSON.stringify(json) ?? 'nothing', answerLengthMax)}`
}

const answerLengthMax = 60
