import { describe, expect, it, onTestFinished } from 'vitest'
import { Belfry } from '../../../src/index.ts'
import { sdkModel } from '../../../src/parts/planner/models/sdk-model.ts'
import { answerOfAnthropic, modelServer, type Scripted } from './model-server.ts'

/** A worker whose planner is a model behind the API of OpenAI on loopback, and a schedule that has answered. */
async function looked(script: readonly Scripted[], more: object = {}) {
  const { url, asked } = await modelServer(script)
  const belfry = await answered({ provider: 'openai-compatible', model: 'stand-in', url, ...more })
  const { run } = await belfry.planner.look('depth')
  return { belfry, asked, run }
}

/** A worker with this planner, and a schedule that has answered. */
async function answered(planner: Parameters<Belfry['planner']['set']>[0]): Promise<Belfry> {
  const belfry = await Belfry.open({ store: 'memory:', log: false, network: { allowLoopback: true } })
  onTestFinished(() => belfry.close())
  await belfry.planner.set(planner)
  belfry.handle('queue', async () => ({ queue_depth: 300 }))
  await belfry.start()
  const depth = { name: 'depth', every: '1h', startNow: true, target: { handler: 'queue' }, autonomy: 'act' } as const
  await belfry.schedules.put(depth)
  await expect.poll(async () => (await belfry.schedules.history('depth'))[0]?.outcome).toBe('completed')
  return belfry
}

async function ended(script: readonly Scripted[], more: object = {}) {
  const { belfry, asked, run } = await looked(script, more)
  const { status } = await belfry.runs.wait(run)
  const [line] = await belfry.analyses.list()
  return { belfry, asked, status, analysis: await belfry.analyses.get(line?.id ?? '') }
}

const tighten = { calls: [['propose_interval', { intervalMs: 30_000, reason: 'grows' }]] } as const
const submit = { calls: [['submit_analysis', { reasoning: 'above 200', confidence: 'high' }]] } as const

describe('a model behind the API of OpenAI', () => {
  it.each([false, true])('drives a whole look; streamed: %s', async (stream) => {
    const script = [{ calls: [['get_latest_response', {}]] }, tighten, submit] as const
    const { belfry, asked, status, analysis } = await ended(script, { stream })
    expect(status).toBe('completed')
    expect(analysis).toMatchObject({
      state: 'completed',
      reasoning: 'above 200',
      tokensIn: 300,
      tokensOut: 30,
      warnings: [],
    })
    expect(await belfry.schedules.hints('depth')).toMatchObject([{ value: 30_000, author: 'stand-in', by: 'planner' }])
    expect(asked.map(({ stream: isStreamed }) => isStreamed === true)).toEqual([stream, stream, stream])
    expect(asked[0]?.messages.map(({ role }) => role)).toEqual(['system', 'user'])
    expect(asked[1]?.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool'])
    expect(JSON.stringify(asked[1]?.messages[3])).toMatch(/untrusted-.*queue_depth/)
    expect(asked[0]?.tool_choice).toBe('required')
  })

  it('whose answer is cut at its greatest length is warned of, and what is whole of it counts', async () => {
    const { analysis } = await ended([{ ...tighten, finish: 'length' }, submit])
    expect(analysis).toMatchObject({ state: 'completed', warnings: ['output_truncated'] })
  })

  it('with wrong types, unknown tools and broken arguments is answered, and goes on', async () => {
    const wrong = {
      calls: [
        ['propose_interval', { intervalMs: 'soon' }],
        ['format_disk', {}],
        ['pause_until', '{"unti'],
      ],
    } as const
    const { belfry, analysis } = await ended([wrong, submit])
    expect(analysis.state).toBe('completed')
    expect(analysis.calls.slice(0, 3).every(({ isError }) => isError === true)).toBe(true)
    expect(await belfry.schedules.hints('depth')).toEqual([])
  })

  it.each([false, true])(
    'that never submits is forced to at last, and else fails with its tokens; streamed: %s',
    async (stream) => {
      const again = Array.from({ length: 20 }, () => ({ calls: [['get_latest_response', {}]] }) as const)
      const { asked, analysis } = await ended(again, { stream })
      expect(asked).toHaveLength(15)
      expect(asked.at(-1)?.tool_choice).toEqual({ type: 'function', function: { name: 'submit_analysis' } })
      expect(analysis).toMatchObject({
        state: 'failed',
        tokensIn: 1_500,
        warnings: ['missing_final_tool', ...(stream ? [] : ['garbage'])],
      })
    },
  )

  it.each<[string, Scripted, string]>([
    ['garbage', 'garbage', 'garbage'],
    ['10 MB', 'endless', 'too-long|garbage|unreachable'],
    ['500', { status: 500 }, 'server-error'],
    ['401', { status: 401 }, 'no-access'],
    ['an answer that is cut off', 'cut', 'unreachable|interrupted'],
  ])('that answers %s fails with its class, and the baseline is untouched', async (_, step, kind) => {
    const { belfry, status, analysis } = await ended([{ calls: [['get_latest_response', {}]] }, step])
    expect(status).toBe('failed')
    expect(analysis).toMatchObject({ state: 'failed', tokensIn: 100 })
    expect(analysis.warnings.at(-1)).toMatch(new RegExp(`^(${kind})$`))
    expect(await belfry.schedules.hints('depth')).toEqual([])
    expect((await belfry.schedules.get('depth')).nextRunAt).not.toBeNull()
  })

  it.each([false, true])('that is killed half-way fails as interrupted; streamed: %s', async (stream) => {
    const { belfry, analysis } = await ended([{ calls: [['get_latest_response', {}]] }, 'killed'], { stream })
    expect(analysis).toMatchObject({ state: 'failed', tokensIn: 100 })
    expect(analysis.warnings.at(-1)).toBe('interrupted')
    expect(await belfry.schedules.hints('depth')).toEqual([])
  })

  it.each<[Scripted, boolean]>([
    ['nothing', false],
    ['nothing', true],
    ['slow', false],
    ['slow', true],
  ])(
    'that is too slow (%s, streamed: %s) fails as timeout, and one whose look is stopped as stopped',
    async (step, stream) => {
      const { url, asked } = await modelServer([step, step])
      const spec = { provider: 'openai-compatible', model: 'stand-in', url, stream } as const
      const model = await sdkModel({ spec, key: undefined, fetch: globalThis.fetch, now: () => 0 })
      for (const [reason, kind] of [
        ['timeout', 'timeout'],
        ['shutdown', 'stopped'],
      ] as const) {
        const deadline = new AbortController()
        const before = asked.length
        const prompt = { system: 'rules', user: 'facts', hash: '' }
        const turns = [{ role: 'user', text: 'facts' }] as const
        const stepped = model.step({ prompt, turns, forced: null, tokensMax: 100, signal: deadline.signal })
        const failure = expect(stepped).rejects.toMatchObject({ kind })
        await expect.poll(() => asked.length).toBe(before + 1)
        deadline.abort(reason)
        await failure
      }
    },
  )

  it.each([
    ['seconds', () => '600'],
    ['a date', () => new Date(Date.now() + 600_000).toUTCString()],
  ])('that refuses by its limit is asked again when the limit opens, told as %s', async (_, after) => {
    const enqueuedBefore = Date.now()
    const { belfry, run } = await looked([{ status: 429, headers: { 'retry-after': after() } }])
    await expect.poll(async () => (await belfry.analyses.list())[0]?.state).toBe('failed')
    await expect.poll(async () => (await belfry.runs.get(run)).status).not.toBe('leased')
    expect((await belfry.runs.explain(run)).sentence).toMatch(/deferred|limit/)
    const { waiting, attempts } = await belfry.runs.get(run)
    expect(attempts).toBe(0)
    expect(waiting?.until).toBeGreaterThan(enqueuedBefore + 500_000)
    const [line] = await belfry.analyses.list()
    expect(line).toMatchObject({ state: 'failed', warnings: ['rate-limit'] })
  })

  it('at an address that is not allowed is not called', async () => {
    const { asked, analysis } = await ended([], { url: 'http://169.254.169.254/v1' })
    expect(asked).toEqual([])
    expect(analysis).toMatchObject({ state: 'failed' })
  })

  it('that is not there leaves everything on its baseline', async () => {
    const { belfry, analysis } = await ended([], { url: 'http://127.0.0.1:9/v1' })
    expect(analysis).toMatchObject({ state: 'failed', tokensIn: null, cost: 'unknown' })
    expect((await belfry.schedules.get('depth')).nextDecision?.source).toBe('baseline-interval')
  })
})

describe('a model behind the API of Anthropic', () => {
  const script = [{ calls: [['get_latest_response', {}]] }, tighten, submit] as const

  async function asked(steps: readonly Scripted[], more: object = {}) {
    process.env.BELFRY_SECRET_CLAUDE = 'k3y-of-claude'
    onTestFinished(() => void delete process.env.BELFRY_SECRET_CLAUDE)
    const server = await modelServer(steps, answerOfAnthropic)
    const belfry = await answered({ provider: 'anthropic', model: 'stand-in', key: 'CLAUDE', url: server.url, ...more })
    const { status } = await belfry.runs.wait((await belfry.planner.look('depth')).run)
    const [line] = await belfry.analyses.list()
    return { belfry, asked: server.asked, status, analysis: await belfry.analyses.get(line?.id ?? '') }
  }

  it.each([false, true])('drives a whole look with its key; streamed: %s', async (stream) => {
    const { belfry, asked: requests, status, analysis } = await asked(script, { stream })
    expect(status).toBe('completed')
    expect(analysis).toMatchObject({ state: 'completed', author: 'anthropic stand-in', tokensIn: 300, tokensOut: 30 })
    expect(await belfry.schedules.hints('depth')).toMatchObject([{ value: 30_000, author: 'stand-in', by: 'planner' }])
    expect(requests).toHaveLength(3)
    expect(requests.map(({ headers }) => headers['x-api-key'])).toEqual(Array(3).fill('k3y-of-claude'))
    expect(requests[0]?.tool_choice).toMatchObject({ type: 'any' })
    expect(JSON.stringify(requests[1]?.messages)).toMatch(/tool_result.*untrusted-.*queue_depth/)
  })

  it.each<[string, Scripted, string]>([
    ['overloaded', { status: 529 }, 'server-error'],
    ['that its key is wrong', { status: 401 }, 'no-access'],
    ['garbage', 'garbage', 'garbage'],
  ])('that answers %s fails with its class and the tokens of the steps before', async (_, step, kind) => {
    const { belfry, status, analysis } = await asked([{ calls: [['get_latest_response', {}]] }, step])
    expect(status).toBe('failed')
    expect(analysis).toMatchObject({ state: 'failed', tokensIn: 100, tokensOut: 10 })
    expect(analysis.warnings.at(-1)).toBe(kind)
    expect(await belfry.schedules.hints('depth')).toEqual([])
  })
})
