import { reasonText } from '../../../core/reason-text.ts'
import { type Usage, usageSum } from '../../../core/run/usage.ts'
import type { LookPrompt } from './look-prompt.ts'
import type { LookSession } from './look-session.ts'
import { finalTool } from './look-tools.ts'

/** A message of a conversation. */
export type Turn =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'model'; readonly text: string; readonly calls: readonly ModelCall[] }
  | { readonly role: 'tools'; readonly results: readonly (ModelCall & { readonly result: unknown })[] }

export interface ModelCall {
  readonly id: string
  readonly tool: string
  readonly args: unknown
}

export interface ModelStep {
  readonly text: string
  readonly calls: readonly ModelCall[]
  readonly usage: Usage
  /** The answer was cut by its length. */
  readonly isCut?: boolean | undefined
}

export interface StepInput {
  readonly prompt: LookPrompt
  readonly turns: readonly Turn[]
  /** The tool that it must call. */
  readonly forced: string | null
  readonly tokensMax: number
  readonly signal: AbortSignal
}

/** A model, or what stands in for one. */
export interface PlannerModel {
  readonly provider: string
  readonly name: string
  step(input: StepInput): Promise<ModelStep>
}

/** Why a model gave no answer. Its tokens count. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure'
  readonly kind: string
  readonly usage: Usage
  /** When a provider's limit opens again. */
  readonly resetAt: number | undefined

  constructor(kind: string, message: string, more: { usage?: Usage; resetAt?: number | undefined } = {}) {
    super(reasonText(message))
    this.kind = kind
    this.usage = more.usage ?? {}
    this.resetAt = more.resetAt
  }
}

const stepsMax = 15
const tokensMax = 20_000

export interface Conversation {
  readonly usage: Usage
  readonly failure: ModelFailure | null
}

/**
 * Lets a model look. It ends when the model submits its analysis, after 15 steps, of which the last forces that, or after 20,000 tokens. What
 * was used is added up step by step, and told at each: a look that fails half-way has cost what it has cost.
 */
export async function converse(
  model: PlannerModel,
  session: LookSession,
  around: { readonly prompt: LookPrompt; readonly signal: AbortSignal; readonly used: (usage: Usage) => void },
): Promise<Conversation> {
  const { prompt, signal, used } = around
  const turns: Turn[] = [{ role: 'user', text: prompt.user }]
  let usage: Usage = {}
  const count = (step: Usage) => {
    usage = usageSum(usage, step)
    used(step)
  }
  let silent = 0
  for (let step = 1; step <= stepsMax && session.submitted === null; step += 1) {
    const left = tokensMax - (usage.tokensIn ?? 0) - (usage.tokensOut ?? 0)
    if (left <= 0) {
      session.warnings.add('tokens_exceeded')
      break
    }
    const forced = step === stepsMax || silent > 0 || left < tokensMax / 5 ? finalTool : null
    let answer: ModelStep
    try {
      answer = await model.step({ prompt, turns, forced, tokensMax: Math.min(left, 4_096), signal })
    } catch (error) {
      const failure =
        error instanceof ModelFailure ? error : new ModelFailure('failed', String((error as Error)?.message ?? error))
      count(failure.usage)
      // A provider that ignores the forced tool is a failure of the package, not an answer.
      if (forced !== null) session.warnings.add('missing_final_tool')
      return { usage, failure }
    }
    count(answer.usage)
    if (answer.isCut === true) session.warnings.add('output_truncated')
    silent = answer.calls.length === 0 ? silent + 1 : 0
    if (silent > 1) break
    turns.push({ role: 'model', text: answer.text, calls: answer.calls })
    if (answer.calls.length === 0) turns.push({ role: 'user', text: 'Call submit_analysis to end.' })
    else turns.push({ role: 'tools', results: await answered(session, answer.calls) })
  }
  if (session.submitted === null) session.warnings.add('missing_final_tool')
  return { usage, failure: null }
}

async function answered(session: LookSession, calls: readonly ModelCall[]) {
  const results: (ModelCall & { result: unknown })[] = []
  for (const call of calls.slice(0, 20))
    results.push({ ...call, result: (await session.call(call.tool, call.args)).result })
  return results
}
