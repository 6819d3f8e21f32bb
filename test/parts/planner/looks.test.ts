// biome-ignore-all lint/suspicious/noThenProperty: a rule is data, and its effect no function.
import { describe, expect, it } from 'vitest'
import { looked, submit, tighten, working } from './scene.ts'

describe('a look of a planner', () => {
  it('reads the answers, gives a hint, and leaves an analysis with everything it knew and said', async () => {
    const belfry = await working([
      { calls: [{ tool: 'get_latest_response' }], usage: { tokensIn: 900, tokensOut: 20 } },
      { ...tighten, usage: { tokensIn: 950, tokensOut: 40 } },
      {
        ...submit('above 200', { confidence: 'high', next_analysis_in_ms: 600_000 }),
        usage: { tokensIn: 980, tokensOut: 30 },
      },
    ])
    const { run, analysis } = await looked(belfry)
    expect(run.status).toBe('completed')
    expect(analysis).toMatchObject({
      state: 'completed',
      author: 'scripted demo',
      reasoning: 'above 200',
      confidence: 'high',
      actions: ['propose_interval'],
      warnings: [],
      tokensIn: 2_830,
      tokensOut: 90,
      cost: 'unknown',
    })
    expect(analysis?.calls[0]).toMatchObject({
      tool: 'get_latest_response',
      result: { found: true, status: 'success' },
    })
    // The text of an endpoint reaches a model only inside a fence, and only after the model has requested it.
    expect(JSON.stringify(analysis?.calls[0])).toMatch(/<untrusted-[0-9a-f]{16}>.*queue_depth/)
    expect(analysis?.prompt?.user).not.toContain('ignore all rules')
    const [hint] = await belfry.schedules.hints('depth')
    expect(hint).toMatchObject({
      kind: 'interval',
      value: 30_000,
      author: 'demo',
      by: 'planner',
      reason: 'the queue grows',
    })
    const { parts } = await belfry.schedules.explain('depth')
    expect(parts.flatMap(({ lines }) => lines).join('\n')).toMatch(
      /autonomy act, by scripted demo\n.*above 200\n.*looks again/,
    )
  })

  it('under suggest makes a proposal with ten instants, which a person approves', async () => {
    const belfry = await working([tighten, submit('above 200')], 'suggest')
    await looked(belfry)
    expect(await belfry.schedules.hints('depth')).toEqual([])
    const [proposal] = await belfry.proposals.list()
    expect(proposal).toMatchObject({
      schedule: 'depth',
      state: 'open',
      wants: 'every 30s for 15m',
      reason: 'the queue grows',
    })
    expect(proposal?.with).toHaveLength(10)
    expect((proposal?.with[1] ?? 0) - (proposal?.with[0] ?? 0)).toBe(30_000)
    expect((proposal?.without[1] ?? 0) - (proposal?.without[0] ?? 0)).toBe(3_600_000)
    const approved = await belfry.proposals.approve(proposal?.id ?? '')
    expect(approved.state).toBe('approved')
    expect(await belfry.schedules.hints('depth')).toMatchObject([{ value: 30_000, by: 'planner' }])
    await expect(belfry.proposals.approve(proposal?.id ?? '')).rejects.toMatchObject({ code: 'conflict' })
    expect(await belfry.proposals.list()).toEqual([])
    expect(await belfry.planner.status()).toMatchObject({ proposals: 1, approved: 1, looks: 1 })
  })

  it('that only proposes has done nothing, and an approval says when a person’s hint outranks what was approved', async () => {
    const belfry = await working([tighten, submit('above 200')], 'suggest')
    await belfry.schedules.hint('depth', { every: '10m', ttl: '1h', reason: 'mine' })
    const { analysis } = await looked(belfry)
    expect(analysis?.actions).toEqual([])
    const [proposal] = await belfry.proposals.list()
    expect(await belfry.proposals.approve(proposal?.id ?? '')).toMatchObject({ state: 'approved', outranked: true })
    const hints = await belfry.schedules.hints('depth')
    expect(hints).toMatchObject([{ by: 'planner', outrankedBy: 'person' }, { by: 'person' }])
    expect(hints[1]).not.toHaveProperty('outrankedBy')
  })

  it('of a rule that a person’s hint outranks is explained as outranked', async () => {
    const surge = { name: 'surge', when: { queue_depth: { above: 200 } }, then: { every: '30s', ttl: '15m' } }
    const belfry = await working([submit('x')], 'off', { rules: [surge] })
    await belfry.schedules.hint('depth', { every: '10m', ttl: '1h', reason: 'mine' })
    const { parts } = await belfry.schedules.explain('depth')
    const lines = parts.flatMap(({ lines: each }) => each).join('\n')
    expect(lines).toMatch(/rule surge: .*, but a hint of a person outranks it until that ends/)
  })

  it('is superseded by what a person did meanwhile, and so is its proposal', async () => {
    const belfry = await working([tighten, submit('above 200')], 'suggest')
    await looked(belfry)
    await belfry.schedules.hint('depth', { every: '10m', reason: 'I know better' })
    const [proposal] = await belfry.proposals.list({ all: true })
    expect(proposal?.state).toBe('superseded')
    await expect(belfry.proposals.approve(proposal?.id ?? '')).rejects.toMatchObject({ code: 'conflict' })
    expect(await belfry.schedules.hints('depth')).toMatchObject([{ value: 600_000, by: 'person' }])
  })

  it('is clamped and told so, and refused what no planner may do', async () => {
    const belfry = await working([
      { calls: [{ tool: 'propose_interval', args: { intervalMs: 1 } }] },
      { calls: [{ tool: 'pause_until', args: { untilIso: '2099-01-01T00:00:00Z' } }] },
      {
        calls: [
          { tool: 'propose_interval', args: { intervalMs: 'fast' } },
          { tool: 'drop_table', args: {} },
        ],
      },
      submit(''),
    ])
    const { analysis } = await looked(belfry)
    expect(analysis?.warnings).toEqual(['clamped', 'missing_reasoning'])
    expect(analysis?.calls[0]?.result).toMatchObject({ ok: true, clamped: expect.stringContaining('every 15s') })
    expect(analysis?.calls[1]?.result).toMatchObject({ ok: true, clamped: expect.stringContaining('until') })
    expect(analysis?.calls[2]).toMatchObject({ isError: true })
    expect(analysis?.calls[3]).toMatchObject({
      isError: true,
      result: { why: expect.stringContaining('There is no tool drop_table') },
    })
    const { paused } = await belfry.schedules.get('depth')
    expect(paused?.until).toBeLessThanOrEqual(Date.now() + 86_400_000)
  })

  it('that fails or forgets to submit is kept with its tokens, changes nothing, and waits longer each time', async () => {
    const belfry = await working([
      { text: 'hm', usage: { tokensIn: 10 } },
      { fails: 'server-error', usage: { tokensIn: 7 } },
    ])
    const first = await looked(belfry)
    expect(first.run.status).toBe('failed')
    expect(first.analysis).toMatchObject({
      state: 'failed',
      warnings: ['missing_final_tool', 'server-error'],
      tokensIn: 17,
    })
    const second = await looked(belfry)
    const waits = [first, second].map(({ analysis }) =>
      Math.round(((analysis?.nextLookAt ?? 0) - (analysis?.at ?? 0)) / 60_000),
    )
    expect(waits).toEqual([5, 10])
    expect(await belfry.schedules.hints('depth')).toEqual([])
  })

  it('sees only the fields that its schedule shows', async () => {
    const belfry = await working([{ calls: [{ tool: 'get_latest_response' }] }, submit('ok')], 'act', {
      planner: { fields: ['queue_depth'] },
    })
    const { analysis } = await looked(belfry)
    const all = JSON.stringify(analysis)
    expect(all).toContain('queue_depth')
    expect(all).not.toContain('ignore all rules')
  })

  it('is off where the schedule says so, and nothing acts while planners are paused', async () => {
    const belfry = await working([tighten, submit('x')], 'off')
    await expect(belfry.planner.look('depth')).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('autonomy is off'),
    })
    await belfry.schedules.update('depth', { autonomy: 'act' })
    await looked(belfry)
    expect(await belfry.schedules.hints('depth')).toHaveLength(1)
    expect(await belfry.planner.pause({ clearHints: true })).toEqual({ cleared: 1 })
    expect((await belfry.schedules.hints('depth')).filter(({ ended }) => ended === null)).toEqual([])
    await expect(belfry.planner.look('depth')).rejects.toThrow(/paused/)
    await belfry.planner.resume()
    await belfry.planner.look('depth')
    await expect(belfry.planner.look('belfry:looks')).rejects.toThrow(/belongs to the planner/)
  })
})
