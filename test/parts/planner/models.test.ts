import { describe, expect, it, onTestFinished } from 'vitest'
import { Belfry } from '../../../src/index.ts'
import { modelServer, type Scripted } from './model-server.ts'

/** A worker whose planner is a model behind the API of OpenAI on loopback, and a schedule that has answered. */
async function looked(script: readonly Scripted[], more: object = {}) {
  const { url, asked } = await modelServer(script)
  const belfry = await Belfry.open({ store: 'memory:', log: false, network: { allowLoopback: true } })
  onTestFinished(() => belfry.close())
  await belfry.planner.set({ provider: 'openai-compatible', model: 'stand-in', url, ...more })
  belfry.handle('queue', async () => ({ queue_depth: 300 }))
  await belfry.start()
  const depth = { name: 'depth', every: '1h', startNow: true, target: { handler: 'queue' }, autonomy: 'act' } as const
  await belfry.schedules.put(depth)
  await expect.poll(async () => (await belfry.schedules.history('depth'))[0]?.outcome).toBe('completed')
  const { run } = await belfry.planner.look('depth')
  return { belfry, asked, run }
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

  it('that never submits is forced to at last, and else fails with its tokens', async () => {
    const again = Array.from({ length: 20 }, () => ({ calls: [['get_latest_response', {}]] }) as const)
    const { asked, analysis } = await ended(again)
    expect(asked).toHaveLength(15)
    expect(asked.at(-1)?.tool_choice).toEqual({ type: 'function', function: { name: 'submit_analysis' } })
    expect(analysis).toMatchObject({
      state: 'failed',
      tokensIn: 1_500,
      warnings: ['missing_final_tool', 'garbage'],
    })
  })

  it.each<[string, Scripted, string]>([
    ['garbage', 'garbage', 'garbage'],
    ['10 MB', 'endless', 'too-long|garbage|unreachable'],
    ['500', { status: 500 }, 'server-error'],
    ['401', { status: 401 }, 'no-access'],
    ['an answer that is cut off', 'cut', 'unreachable|garbage'],
  ])('that answers %s fails with its class, and the baseline is untouched', async (_, step, kind) => {
    const { belfry, status, analysis } = await ended([{ calls: [['get_latest_response', {}]] }, step])
    expect(status).toBe('failed')
    expect(analysis).toMatchObject({ state: 'failed', tokensIn: 100 })
    expect(analysis.warnings.at(-1)).toMatch(new RegExp(`^(${kind})$`))
    expect(await belfry.schedules.hints('depth')).toEqual([])
    expect((await belfry.schedules.get('depth')).nextRunAt).not.toBeNull()
  })

  it('that refuses by its limit is asked again when the limit opens', async () => {
    const { belfry, run } = await looked([{ status: 429, headers: { 'retry-after': '600' } }])
    await expect.poll(async () => (await belfry.analyses.list())[0]?.state).toBe('failed')
    await expect.poll(async () => (await belfry.runs.get(run)).status).not.toBe('leased')
    expect((await belfry.runs.explain(run)).sentence).toMatch(/deferred|limit/)
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
