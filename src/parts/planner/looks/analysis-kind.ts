import { z } from 'zod'
import { formatMoney } from '../../../core/budget/money.ts'
import { formatId } from '../../../core/id.ts'
import { defaultPolicy, type Policy } from '../../../core/queue/policy.ts'
import type { Usage } from '../../../core/run/usage.ts'
import type { Attempt, Ended } from '../../../targets/attempt.ts'
import type { ExecutorHost, KindExecutor, TargetKind } from '../../../targets/kind.ts'
import { proposalMade } from '../planner-events.ts'
import { findPlanner, type PlannerSpec, type Provider } from '../planner-row.ts'
import { actOnSchedule } from './act-on-schedule.ts'
import { type AnalysisTold, analysisIds, beginLook, endLook, findAnalysis, keepLook } from './analysis-row.ts'
import { type Conversation, converse, ModelFailure } from './converse.ts'
import { type LookPrompt, lookPrompt } from './look-prompt.ts'
import { LookSession, type ToolCall } from './look-session.ts'

export const plannerQueue = 'planner'
export const plannerPolicy: Policy = Object.freeze({ ...defaultPolicy, maxConcurrent: 2, maxAttempts: 2 })
const lookTimeoutMs = 300_000

/** The target of a look: a schedule, or an earlier look to replay; and the provider whose worker takes it. */
export interface AnalysisTarget {
  readonly schedule: string
  readonly replay?: string | undefined
  readonly model?: string | undefined
  /** For a replay: a prompt in place of the current one. */
  readonly prompt?: string | undefined
  readonly provider: Provider
  readonly isAsked?: boolean | undefined
}

/** The looks of planners. Only Belfry enqueues them: a verb never calls a model. */
export const analysisKind: TargetKind = {
  name: 'analysis',
  called: 'a look of a planner',
  form: z.strictObject({}),
  problems: () => [],
  closed: 'is enqueued by Belfry; `belfry planner look NAME` asks for one',
  laneOf: (target) => (target.analysis as AnalysisTarget).provider,
  words: (target) => {
    const { schedule, replay } = target.analysis as AnalysisTarget
    return replay === undefined ? `looks at ${schedule}` : `replays ${replay}`
  },
  flags: [],
  queue: plannerQueue,
  timeoutMs: lookTimeoutMs,
  message: 'is a look of a planner, which takes no messages',
  serving: (name) => `A worker needs the packages and the key of ${name}: \`belfry doctor\` says what is missing.`,
  executor: analysisExecutor,
}

/** Announces the planner's provider if its packages and its key are here. */
async function analysisExecutor(host: ExecutorHost): Promise<KindExecutor> {
  const { installedFor } = await import('../models/provider-here.ts')
  const named = new Map<string, (attempt: Attempt) => Promise<Ended>>()
  const refresh = async () => {
    const spec = (await host.store.look(findPlanner))?.spec
    const isHere = spec !== undefined && (await installedFor(spec, host))
    // No await between these two lines: a run that was leased meanwhile must find its executor.
    named.clear()
    if (isHere) named.set(spec.provider, (attempt) => executed(attempt, host))
  }
  await refresh()
  return { named, refresh }
}

async function executed(attempt: Attempt, host: ExecutorHost): Promise<Ended> {
  const { replay, model, prompt } = attempt.target.analysis as AnalysisTarget
  const spec = (await host.store.look(findPlanner))?.spec
  if (spec === undefined) return { facts: {}, result: { skipped: 'no-model' } }
  if (replay === undefined) return looked(attempt, host, spec)
  const found = await host.store.look(findAnalysis, replay)
  if (found === null) return { facts: { error: `there is no analysis ${replay}`, retryable: false } }
  // A replay only records what the model would do, and changes nothing.
  const session = new LookSession(found.facts, async () => ({ answer: 'done', clamped: null, outranked: false }))
  const other = { ...spec, ...(model !== undefined && { model }) }
  const asked = lookPrompt(found.facts, prompt)
  // A replay leaves its result in its run alone.
  const keeps = async () => undefined
  const { conversation } = await lookedBy(other, host, { attempt, session, prompt: asked, keeps })
  const [before, after] = [decisionsOf(found.told.calls), decisionsOf(session.calls)]
  const isSame = JSON.stringify(before) === JSON.stringify(after)
  const failure =
    conversation.failure === null ? {} : { failure: `${conversation.failure.kind}: ${conversation.failure.message}` }
  const promptHash = asked.hash
  return { facts: {}, result: { replay, model: other.model, promptHash, isSame, before, after, ...failure } }
}

async function looked(attempt: Attempt, host: ExecutorHost, spec: PlannerSpec): Promise<Ended> {
  const { schedule, isAsked } = attempt.target.analysis as AnalysisTarget
  const { store } = host
  const author = `${spec.provider} ${spec.model}`
  const begun = await store.do(beginLook, { schedule, run: attempt.runId, author, isAsked })
  if (begun.answer === 'skipped') return { facts: {}, result: { skipped: begun.why } }
  const { analysisId, facts } = begun
  const startedMs = attempt.clock.monotonic()
  const session = new LookSession(facts, async (effect, reason) => {
    const { version, epoch } = facts
    const by = { kind: 'planner', name: spec.model } as const
    const wanted = { schedule, version, epoch, analysisId, author: by, effect, reason }
    const answer = await store.do(actOnSchedule, wanted)
    if (answer.answer !== 'proposed') return answer
    const { proposal, expiresAt, wants } = answer
    const made = { proposal, schedule, analysis: formatId(analysisIds, analysisId), author: by.name, reason, expiresAt }
    host.tell(proposalMade, { ...made, wants })
    return answer
  })
  const prompt = lookPrompt(facts)
  const tellOf = (conversation: Conversation) =>
    toldOf({ spec, session, prompt, conversation, durationMs: attempt.clock.monotonic() - startedMs })
  const keeps = (usage: Usage) => store.do(keepLook, { analysisId, told: tellOf({ usage, failure: null }) })
  const { conversation } = await lookedBy(spec, host, { attempt, session, prompt, keeps })
  const { failure } = conversation
  const told = tellOf(conversation)
  const state = failure !== null || session.submitted === null ? 'failed' : 'completed'
  const ended = failure === null && session.submitted === null ? missing : failure
  const { nextLookAt } = await store.do(endLook, { analysisId, state, told: { ...told, failure: keptFailure(ended) } })
  const result = { analysis: formatId(analysisIds, analysisId), state, warnings: told.warnings, nextLookAt }
  if (failure === null) return { facts: {}, result }
  // Only a rate limit of the provider defers the run. After any other failure the next look is soon enough: a second attempt would ask the
  // same at once.
  const resets =
    failure.resetAt === undefined
      ? {}
      : { rateLimited: { resetAt: failure.resetAt, hasBegun: false, defersAlways: true } }
  return { facts: { error: `${failure.kind}: ${failure.message}`, retryable: false, ...resets }, result }
}

const actions: ReadonlySet<string> = new Set(['propose_interval', 'propose_next_time', 'pause_until', 'clear_hints'])

/** The actions that a look decided on. */
export function decisionsOf(calls: readonly ToolCall[]): readonly { tool: string; arguments: unknown }[] {
  return calls
    .filter(({ tool, isError }) => actions.has(tool) && isError !== true)
    .map(({ tool, arguments: args }) => ({ tool, arguments: args }))
}

const missing = new ModelFailure('missing_final_tool', 'the model did not submit its analysis')

function keptFailure(failure: ModelFailure | null): AnalysisTold['failure'] {
  return failure === null ? null : { kind: failure.kind, message: failure.message }
}

interface Looking {
  readonly attempt: Pick<Attempt, 'signal' | 'clock' | 'usage'>
  readonly session: LookSession
  readonly prompt: LookPrompt
  /** Called after each step of the model and after its calls were answered, with what the look has used so far. */
  readonly keeps: (usage: Usage) => Promise<void>
}

/** Asks the model. This function never throws: an error becomes the end of the conversation. */
export async function lookedBy(
  spec: PlannerSpec,
  host: Pick<ExecutorHost, 'secrets' | 'network'>,
  { attempt, session, prompt, keeps }: Looking,
): Promise<{ conversation: Conversation }> {
  try {
    const { openModel } = await import('../models/open-model.ts')
    const { model, close } = await openModel(spec, host, () => attempt.clock.now())
    try {
      const used = (step: Usage) => attempt.usage(priced(step, spec))
      const { signal } = attempt
      return { conversation: await converse(model, session, { prompt, signal, used, keeps }) }
    } finally {
      await close()
    }
  } catch (error) {
    const failure = error instanceof ModelFailure ? error : new ModelFailure('failed', String((error as Error).message))
    return { conversation: { usage: {}, failure } }
  }
}

/** The usage, with its price if the prices are known. */
function priced(usage: Usage, { prices }: PlannerSpec): Usage {
  if (prices === undefined || (usage.tokensIn === undefined && usage.tokensOut === undefined)) return usage
  const amount = Math.round(((usage.tokensIn ?? 0) * prices.in + (usage.tokensOut ?? 0) * prices.out) / 1_000_000)
  return { ...usage, money: { amount, currency: prices.currency } }
}

interface ToldInput {
  readonly spec: PlannerSpec
  readonly session: LookSession
  readonly prompt: LookPrompt | null
  readonly conversation: Conversation
  readonly durationMs: number
}

export function toldOf({ spec, session, prompt, conversation: { usage }, durationMs }: ToldInput): AnalysisTold {
  return {
    provider: spec.provider,
    model: spec.model,
    promptHash: prompt?.hash ?? null,
    prompt: prompt === null ? null : { system: prompt.system, user: prompt.user },
    calls: session.calls,
    submitted: session.submitted,
    usage,
    money: priced(usage, spec).money ?? null,
    durationMs: Math.round(durationMs),
    warnings: [...session.warnings],
    nextLookAt: null,
    failure: null,
  }
}

export function moneyWords(money: AnalysisTold['money']): string {
  return money === null ? 'unknown' : formatMoney(money)
}
