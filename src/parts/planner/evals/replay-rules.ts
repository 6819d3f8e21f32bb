import type { Rule } from '../../../core/rule-form.ts'
import { judgeRules, type RuleMemory } from '../../../core/rules.ts'
import type { LookFacts } from '../looks/look-facts.ts'
import { effectInWords } from '../steer.ts'

/** The action of a rule on an answer that a look knew. */
export interface RuleAct {
  /** When the answer came. */
  readonly at: number
  readonly rule: string
  readonly wants: string
  readonly reason: string
}

/** Judges the answers that a look knew by rules, oldest first. The bodies are shortened, as the planner saw them. Nothing is written. */
export function replayRules({ responses }: Pick<LookFacts, 'responses'>, rules: readonly Rule[]): RuleAct[] {
  const acts: RuleAct[] = []
  let memory: RuleMemory = {}
  let failures = 0
  for (const { responseBody, timestamp, status, httpStatus, durationMs } of responses.toReversed()) {
    failures = status === 'failure' ? failures + 1 : 0
    const now = Date.parse(timestamp)
    const answer = {
      sibling: null,
      body: parsed(responseBody),
      status: httpStatus ?? undefined,
      failures,
      durationMs: durationMs ?? undefined,
    }
    const judged = judgeRules({ now, rules, memory, answer })
    memory = judged.memory
    const { won } = judged
    if (won !== null) acts.push({ at: now, rule: won.rule, wants: effectInWords(won.effect), reason: won.reason })
  }
  return acts
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
