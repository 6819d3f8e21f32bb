import type { ModelMessage, ToolSet } from 'ai'
import { reasonText } from '../../../core/reason-text.ts'
import type { Usage } from '../../../core/run/usage.ts'
import { retryAfterMs } from '../../../targets/http/retry-after.ts'
import { ModelFailure, type ModelStep, type PlannerModel, type StepInput, type Turn } from '../looks/converse.ts'
import { lookTools } from '../looks/look-tools.ts'
import type { PlannerSpec } from '../planner-row.ts'

export interface SdkInput {
  readonly spec: PlannerSpec
  readonly key: string | undefined
  readonly fetch: typeof globalThis.fetch
  readonly now: () => number
}

/** A model of a provider. Its packages are loaded only here. Each step is one request, because Belfry decides which tools run. */
export async function sdkModel({ spec, key, fetch, now }: SdkInput): Promise<PlannerModel> {
  const { generateText, streamText } = await import('ai')
  const meter = new UsageMeter()
  const model = await languageModel(spec, key, meter.metered(fetch))
  const tools = Object.fromEntries(
    Object.entries(lookTools).map(([name, { says, input }]) => [name, { description: says, inputSchema: input }]),
  ) as unknown as ToolSet
  return {
    provider: spec.provider,
    name: spec.model,
    async step({ prompt, turns, forced, tokensMax, signal }: StepInput): Promise<ModelStep> {
      const asked = {
        model,
        tools,
        toolChoice: forced === null ? ('required' as const) : { type: 'tool' as const, toolName: forced },
        system: prompt.system,
        messages: turns.map(messageOf),
        maxRetries: 0,
        maxOutputTokens: tokensMax,
        abortSignal: signal,
      }
      try {
        return spec.stream === true ? await streamed(streamText, asked) : stepOf(await generateText(asked))
      } catch (error) {
        throw failureOf(error, { now: now(), used: await usedBy(meter, signal), signal, hasBegun: meter.hasBegun })
      }
    },
  }
}

/**
 * The usage that the last answer reports. If a provider ignores the forced tool, the package throws, but the answer has cost tokens all the
 * same.
 */
class UsageMeter {
  #last: Promise<Usage> = Promise.resolve({})
  #hasBegun = false

  /** Whether the last request got the beginning of an answer. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  metered(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
    return async (...given) => {
      this.#last = Promise.resolve({})
      this.#hasBegun = false
      const answer = await fetch(...given)
      this.#hasBegun = answer.ok
      if (/json/.test(answer.headers.get('content-type') ?? '')) this.#last = usageIn(answer.clone())
      return answer
    }
  }

  last(): Promise<Usage> {
    return this.#last
  }
}

/** An answer that was stopped may never end, so its usage is not waited for. */
async function usedBy(meter: UsageMeter, signal: AbortSignal): Promise<Usage> {
  return signal.aborted ? {} : meter.last()
}

async function usageIn(answer: Response): Promise<Usage> {
  try {
    const { usage = {} } = (await answer.json()) as { usage?: Record<string, number | undefined> }
    return usageOf({
      inputTokens: usage.prompt_tokens ?? usage.input_tokens,
      outputTokens: usage.completion_tokens ?? usage.output_tokens,
    })
  } catch {
    // An answer that is not JSON reports no usage, so its cost is unknown.
    return {}
  }
}

async function languageModel(
  { provider, url, model }: PlannerSpec,
  key: string | undefined,
  fetch: typeof globalThis.fetch,
) {
  if (provider === 'anthropic') {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    return createAnthropic({ apiKey: key ?? '', fetch, ...(url !== undefined && { baseURL: url }) })(model)
  }
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  const named = { name: 'belfry', baseURL: url ?? '', includeUsage: true, fetch }
  return createOpenAICompatible({ ...named, ...(key !== undefined && { apiKey: key }) })(model)
}

interface SdkAnswer {
  readonly text: string
  readonly toolCalls: readonly { readonly toolCallId: string; readonly toolName: string; readonly input: unknown }[]
  readonly usage: { readonly inputTokens?: number | undefined; readonly outputTokens?: number | undefined }
  readonly finishReason: string
}

// biome-ignore lint/suspicious/noExplicitAny: the package is loaded on demand, and its generic types with it.
async function streamed(streamText: any, asked: object): Promise<ModelStep> {
  let failed: unknown
  const onError = ({ error }: { error: unknown }) => {
    failed = error
  }
  const result = streamText({ ...asked, onError })
  try {
    const [text, toolCalls, usage, finishReason] = await Promise.all([
      result.text,
      result.toolCalls,
      result.usage,
      result.finishReason,
    ])
    if (failed !== undefined) throw failed
    return stepOf({ text, toolCalls, usage, finishReason })
  } catch (error) {
    throw failed ?? error
  }
}

function stepOf({ text, toolCalls, usage, finishReason }: SdkAnswer): ModelStep {
  const calls = toolCalls.map(({ toolCallId, toolName, input }) => ({ id: toolCallId, tool: toolName, args: input }))
  return { text: text.slice(0, 8_000), calls, usage: usageOf(usage), isCut: finishReason === 'length' }
}

function usageOf({ inputTokens, outputTokens }: SdkAnswer['usage']): Usage {
  const known = (count: number | undefined) =>
    count !== undefined && Number.isSafeInteger(count) && count >= 0 ? count : undefined
  const [tokensIn, tokensOut] = [known(inputTokens), known(outputTokens)]
  return { ...(tokensIn !== undefined && { tokensIn }), ...(tokensOut !== undefined && { tokensOut }) }
}

function messageOf(turn: Turn): ModelMessage {
  switch (turn.role) {
    case 'user':
      return { role: 'user', content: turn.text }
    case 'model': {
      const calls = turn.calls.map(({ id, tool, args }) => ({
        type: 'tool-call' as const,
        toolCallId: id,
        toolName: tool,
        input: args,
      }))
      const said = turn.text === '' ? [] : [{ type: 'text' as const, text: turn.text }]
      return { role: 'assistant', content: [...said, ...calls] }
    }
    case 'tools':
      return {
        role: 'tool',
        content: turn.results.map(({ id, tool, result }) => ({
          type: 'tool-result' as const,
          toolCallId: id,
          toolName: tool,
          output: { type: 'json' as const, value: result as never },
        })),
      }
  }
}

interface Failing {
  readonly now: number
  readonly used: Usage
  readonly signal: AbortSignal
  readonly hasBegun: boolean
}

/** A stop comes first: the packages report it by errors of many names, or by none. */
function stoppedBy({ reason }: AbortSignal, used: Usage): ModelFailure {
  const isTimeout = reason === 'timeout' || (reason as { name?: unknown } | undefined)?.name === 'TimeoutError'
  if (isTimeout)
    return new ModelFailure('timeout', 'the model did not answer before the deadline of the look', { usage: used })
  return new ModelFailure('stopped', `the look was stopped (${String(reason)})`, { usage: used })
}

/** The class of a failure, by the provider's response. The text of the response is not trusted, so it is shortened. */
function failureOf(error: unknown, { now, used, signal, hasBegun }: Failing): ModelFailure {
  if (signal.aborted) return stoppedBy(signal, used)
  const {
    name = '',
    message = String(error),
    statusCode,
    responseHeaders,
    cause,
  } = (error ?? {}) as {
    name?: string
    message?: string
    statusCode?: number
    responseHeaders?: Record<string, string>
    cause?: unknown
  }
  const said = reasonText(message, 200)
  const more = { usage: used }
  if (statusCode === 429)
    return new ModelFailure('rate-limit', said, { ...more, resetAt: resetOf(responseHeaders, now) })
  if (statusCode !== undefined && statusCode >= 500)
    return new ModelFailure('server-error', `HTTP ${statusCode}: ${said}`, more)
  if (statusCode === 401 || statusCode === 403)
    return new ModelFailure('no-access', `HTTP ${statusCode}: ${said}`, more)
  if (statusCode !== undefined && statusCode >= 400)
    return new ModelFailure('refused', `HTTP ${statusCode}: ${said}`, more)
  const inner = `${name} ${(cause as Error | undefined)?.name ?? ''} ${said} ${reasonText(String((cause as Error | undefined)?.message ?? ''), 200)}`
  if (/AnswerTooLong/.test(inner)) return new ModelFailure('too-long', said, more)
  if (/Abort|Timeout/i.test(name)) return new ModelFailure('timeout', said, more)
  if (/not allowed/.test(inner)) return new ModelFailure('not-allowed', reasonText(inner, 200), more)
  if (/ECONN|fetch failed|socket|terminated|other side closed|premature|Cannot connect/i.test(inner))
    return new ModelFailure(hasBegun ? 'interrupted' : 'unreachable', said, more)
  return new ModelFailure('garbage', said, more)
}

const resetMsMax = 24 * 3_600_000

function resetOf(headers: Record<string, string> = {}, now: number): number | undefined {
  const waitMs = retryAfterMs(headers['retry-after'] ?? '', now) ?? 0
  return waitMs > 0 ? now + Math.min(waitMs, resetMsMax) : undefined
}
