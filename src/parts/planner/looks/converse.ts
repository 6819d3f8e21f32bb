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
  /** The answer was cut off at its maximum length. */
  readonly isCut?: boolean | undefined
}

export interface StepInput {
  readonly prompt: LookPrompt
  readonly turns: readonly Turn[]
  /** The tool that the model must call. */
  readonly forced: string | null
  readonly tokensMax: number
  readonly signal: AbortSignal
}

/** A model, or a substitute for one. */
export interface PlannerModel {
  readonly provider: string
  readonly name: string
  step(input: StepInput): Promise<ModelStep>
}

/** Why a model gave no answer. The failure carries the tokens that were used. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure'
  readonly kind: string
  readonly usage: Usage
  /** When the provider's limit resets. */
  readonly resetAt: number | undefined

  constructor(kind: string, message: string, more: { usage?: Usage; resetAt?: number | undefined } = {}) {
    super(reasonText(message))
    this.kind = kind
    this.usage = more.usage ?? {}
    this.resetAt = more.resetAt
  }
}

const stepsMax = 15
/** How many calls of one step are answered. */
const callsMax = 20
const tokensMax = 20_000

export interface Conversation {
  readonly usage: Usage
  readonly failure: ModelFailure | null
}

/**
 * Lets a model look. The conversation ends when the model submits its analysis, after 15 steps (the last one forces the submission), or
 * after 20,000 tokens (estimated where the provider does not report them). The usage is added up and reported at each step, because a look that fails half-way has also cost tokens.
 */
export async function converse(
  model: PlannerModel,
  session: LookSession,
  around: {
    readonly prompt: LookPrompt
    readonly signal: AbortSignal
    readonly used: (step: Usage) => void
    /** Stores what the look has done and used so far: a process that is killed must leave both. */
    readonly keeps: (sum: Usage) => Promise<void>
  },
): Promise<Conversation> {
  const { prompt, signal, used, keeps } = around
  const turns: Turn[] = [{ role: 'user', text: prompt.user }]
  let usage: Usage = {}
  let spent = 0
  const count = async (step: Usage) => {
    usage = usageSum(usage, step)
    used(step)
    await keeps(usage)
  }
  let silent = 0
  for (let step = 1; step <= stepsMax && session.submitted === null; step += 1) {
    const left = tokensMax - spent
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
      await count(failure.usage)
      // If a provider ignores the forced tool, the package throws: it sees a failure, not an answer.
      if (forced !== null) session.warnings.add('missing_final_tool')
      return { usage, failure }
    }
    await count(answer.usage)
    spent += tokensOf(answer, { prompt, turns })
    if (answer.isCut === true) session.warnings.add('output_truncated')
    silent = answer.calls.length === 0 ? silent + 1 : 0
    if (silent > 1) break
    // A call without a result would make providers refuse the next step.
    const calls = answer.calls.slice(0, callsMax)
    turns.push({ role: 'model', text: answer.text, calls })
    if (calls.length === 0) turns.push({ role: 'user', text: 'Call submit_analysis to end.' })
    else {
      turns.push({ role: 'tools', results: await answered(session, calls) })
      await keeps(usage)
    }
  }
  if (session.submitted === null) session.warnings.add('missing_final_tool')
  return { usage, failure: null }
}

/** A provider that reports no usage is no reason for a look without bound: about four characters are a token. */
function tokensOf({ usage: { tokensIn, tokensOut }, text, calls }: ModelStep, sent: object): number {
  if (tokensIn !== undefined || tokensOut !== undefined) return (tokensIn ?? 0) + (tokensOut ?? 0)
  return Math.ceil(JSON.stringify([sent, text, calls]).length / 4)
}

async function answered(session: LookSession, calls: readonly ModelCall[]) {
  const results: (ModelCall & { result: unknown })[] = []
  for (const call of calls) results.push({ ...call, result: (await session.call(call.tool, call.args)).result })
  return results
}
