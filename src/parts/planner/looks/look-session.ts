import { reasonText } from '../../../core/reason-text.ts'
import type { SteeringEffect } from '../../../core/steering/steered.ts'
import { isoText } from '../../../operations/input/instant.ts'
import type { ActionAnswer } from './act-on-schedule.ts'
import type { LookFacts } from './look-facts.ts'
import { effectOf, finalTool, isTool, lookTools, queried, type ToolName, ttlRefusal } from './look-tools.ts'

/** A stored tool call. */
export interface ToolCall {
  readonly tool: string
  readonly arguments: unknown
  readonly result: unknown
  readonly isError?: true
}

export const warnings = [
  'output_truncated',
  'missing_final_tool',
  'missing_reasoning',
  'clamped',
  'superseded',
  'tokens_exceeded',
] as const
export type Warning = (typeof warnings)[number]

export interface Submitted {
  readonly reasoning: string
  readonly actions_taken?: readonly string[] | undefined
  readonly confidence?: 'high' | 'medium' | 'low' | undefined
  readonly next_analysis_in_ms?: number | undefined
}

/** Carries out the action of a tool. A replay and a test only record it. */
export type Hand = (effect: SteeringEffect, reason: string) => Promise<ActionAnswer>

const callsMax = 40
const keptLengthMax = 8_000
const queries: ReadonlySet<string> = new Set([
  'get_latest_response',
  'get_response_history',
  'get_sibling_latest_responses',
])

/**
 * One look: which tools were called, what they answered, and how the look ended. A model, a script and an agent over MCP use the same
 * session.
 */
export class LookSession {
  readonly facts: LookFacts
  readonly calls: ToolCall[] = []
  readonly warnings = new Set<Warning>()
  submitted: Submitted | null = null
  readonly #hand: Hand

  constructor(facts: LookFacts, hand: Hand) {
    this.facts = facts
    this.#hand = hand
  }

  /** Calls a tool. The model always gets an answer; problems with its arguments are in the answer. */
  async call(tool: string, given: unknown): Promise<{ readonly result: unknown; readonly isError: boolean }> {
    const answer = await this.#answered(tool, given)
    if (this.calls.length < callsMax) {
      const kept = { tool: reasonText(tool, 60), arguments: bounded(given), result: bounded(answer.result) }
      this.calls.push({ ...kept, ...(answer.isError && { isError: true as const }) })
    }
    return answer
  }

  async #answered(tool: string, given: unknown): Promise<{ result: unknown; isError: boolean }> {
    if (this.submitted !== null) return problem('The analysis has ended.')
    if (!isTool(tool))
      return problem(`There is no tool ${reasonText(tool, 60)}. There are ${Object.keys(lookTools).join(', ')}.`)
    if (this.calls.length >= callsMax && tool !== finalTool) return problem('Too many calls. Call submit_analysis.')
    const read = lookTools[tool].input.safeParse(given ?? {})
    if (!read.success) {
      const [issue] = read.error.issues
      return problem(`${issue?.path.join('.') ?? 'input'}: ${reasonText(issue?.message ?? 'is wrong', 200)}`)
    }
    const args = read.data as Readonly<Record<string, unknown>>
    if (queries.has(tool)) return { result: queried(tool, args, this.facts), isError: false }
    if (tool === finalTool) return this.#submit(args as unknown as Submitted)
    return this.#acted(tool, args)
  }

  #submit(given: Submitted): { result: unknown; isError: boolean } {
    if (given.reasoning.trim() === '') this.warnings.add('missing_reasoning')
    this.submitted = { ...given, reasoning: given.reasoning.toWellFormed().replaceAll('\0', '') }
    return { result: { status: 'analysis_complete', ...given }, isError: false }
  }

  async #acted(
    tool: ToolName,
    args: Readonly<Record<string, unknown>>,
  ): Promise<{ result: unknown; isError: boolean }> {
    const tooLong = ttlRefusal(args)
    if (tooLong !== null) return { result: { ok: false, code: 'not-allowed', why: tooLong }, isError: false }
    const effect = effectOf(tool, args)
    if (typeof effect === 'string') return problem(effect)
    const answer = await this.#hand(effect, reasonText(String(args.reason ?? '') || 'no reason given', 300))
    if (answer.answer === 'refused') {
      if (answer.code === 'superseded') this.warnings.add('superseded')
      const lifts = answer.liftsAt === undefined ? {} : { liftsAt: isoText(answer.liftsAt) }
      return { result: { ok: false, code: answer.code, why: answer.why, ...lifts }, isError: false }
    }
    if (answer.clamped !== null) this.warnings.add('clamped')
    const clamped = answer.clamped === null ? {} : { clamped: answer.clamped }
    if (answer.answer === 'proposed')
      return { result: { ok: true, proposed: answer.proposal, ...clamped }, isError: false }
    return { result: { ok: true, ...clamped, ...(answer.outranked && { outranked: true }) }, isError: false }
  }
}

/** A call with the whole result that the model was sent. A long result is stored cut, and follows again from the facts. */
export function asSent(call: ToolCall, facts: LookFacts): ToolCall {
  const { tool, arguments: given } = call
  const read = isTool(tool) && queries.has(tool) ? lookTools[tool].input.safeParse(given ?? {}) : undefined
  return read?.success === true ? { ...call, result: queried(tool as ToolName, read.data, facts) } : call
}

function problem(why: string): { result: unknown; isError: boolean } {
  return { result: { ok: false, why }, isError: true }
}

/** The value that a model sent, cut to the length that is kept. */
function bounded(value: unknown): unknown {
  const text = JSON.stringify(value) ?? 'null'
  if (text.length <= keptLengthMax && text.isWellFormed() && !text.includes('\\u0000')) return value ?? null
  return { cut: text.slice(0, 1_000).toWellFormed().replaceAll('\\u0000', '') }
}
